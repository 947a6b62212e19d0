package io.ghidr.adapter.ghidra;

import ghidra.app.plugin.core.analysis.AutoAnalysisManager;
import ghidra.app.plugin.core.analysis.AutoAnalysisManagerListener;
import ghidra.app.util.Option;
import ghidra.app.util.bin.ByteProvider;
import ghidra.app.util.opinion.LoadSpec;
import ghidra.app.util.opinion.Loader;
import ghidra.util.classfinder.ClassSearcher;
import ghidra.util.classfinder.ExtensionPoint;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/** The only class that knows where supported Ghidra versions differ in what the adapter calls. */
final class VersionDifferences {
  /** The members that are called by reflection, because their signatures differ. */
  static final List<String> REFLECTED =
      List.of(
          "ghidra/app/util/opinion/Loader.getDefaultOptions",
          "ghidra/util/classfinder/ClassSearcher.getExtensionPointInfo",
          "ghidra/app/plugin/core/analysis/AutoAnalysisManagerListener.analysisEnded");

  private VersionDifferences() {}

  /**
   * The options with which a headless import loads {@code spec}. Later versions take one more flag
   * (mirror the file system layout, off by default).
   */
  static List<Option> defaultLoaderOptions(Loader loader, ByteProvider provider, LoadSpec spec)
      throws ReflectiveOperationException {
    for (Method method : Loader.class.getMethods()) {
      if (method.getName().equals("getDefaultOptions")) {
        Object options =
            switch (method.getParameterCount()) {
              case 4 -> method.invoke(loader, provider, spec, null, false);
              case 5 -> method.invoke(loader, provider, spec, null, false, false);
              default -> null;
            };
        if (options instanceof List<?> list) {
          List<Option> typed = new ArrayList<>();
          list.forEach(option -> typed.add((Option) option));
          return typed;
        }
      }
    }
    throw new NoSuchMethodException("Loader.getDefaultOptions");
  }

  /**
   * Runs {@code action} when an analysis ends, before its messages are cleared. Later versions give
   * the listener one more argument.
   */
  static void onAnalysisEnd(AutoAnalysisManager manager, Runnable action) {
    Class<AutoAnalysisManagerListener> type = AutoAnalysisManagerListener.class;
    Object listener =
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "equals" -> proxy == arguments[0];
                  case "hashCode" -> System.identityHashCode(proxy);
                  case "toString" -> "ghidr analysis listener";
                  default -> {
                    action.run();
                    yield null;
                  }
                });
    manager.addListener(type.cast(listener));
  }

  /**
   * The names of the classes among which the engine's search for extension points chooses. Later
   * versions list them and load them when asked for; earlier ones have loaded and chosen at once.
   */
  static SortedSet<String> extensionPointNames() throws ReflectiveOperationException {
    SortedSet<String> names = new TreeSet<>();
    for (Method method : ClassSearcher.class.getMethods()) {
      if (method.getName().equals("getExtensionPointInfo")) {
        for (Object info : (Iterable<?>) method.invoke(null)) {
          names.add((String) info.getClass().getMethod("name").invoke(info));
        }
        return names;
      }
    }
    ClassSearcher.getClasses(ExtensionPoint.class).forEach(type -> names.add(type.getName()));
    return names;
  }
}
