package io.ghidr.adapter.ghidra;

import io.ghidr.adapter.protocol.Phases;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/**
 * Boots the engine of an installation directory, whose search for extension points is made cheap.
 *
 * <p>The engine finds them by name: it matches every entry of every jar of its class path with a
 * regular expression, and only later loads, through the class path, what it asks for. So a jar that
 * has nothing but empty entries of the matching names gives the same result. An observed boot
 * writes that jar, and later boots search it instead of the class path. It can only be too old,
 * which the caller rules out; a class that it does not name would be missing from the analysis.
 */
final class ExtensionPointNames extends EngineConfiguration {
  /** Property with the jar to search; absent, the engine searches all of its class path. */
  private static final String SEARCHED = "ghidr.extension.points";

  /** Property with the jar to write; absent, none is written. */
  private static final String RECORDED = "ghidr.extension.points.record";

  private static final String CLASS_PATH = "java.class.path";

  ExtensionPointNames(Phases phases) {
    super(phases);
  }

  @Override
  protected void initializeApplication() {
    super.initializeApplication();
    String recorded = System.getProperty(RECORDED);
    if (recorded != null) {
      record(Path.of(recorded));
    }
  }

  @Override
  protected void search() {
    String searched = System.getProperty(SEARCHED);
    if (searched == null) {
      super.search();
      return;
    }
    String classPath = System.getProperty(CLASS_PATH);
    System.setProperty(CLASS_PATH, searched);
    try {
      super.search();
    } finally {
      System.setProperty(CLASS_PATH, classPath);
    }
  }

  private static void record(Path jar) {
    try {
      NamesJar.write(jar, VersionDifferences.extensionPointNames());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the extension points cannot be listed", e);
    }
  }
}
