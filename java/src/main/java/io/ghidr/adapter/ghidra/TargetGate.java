package io.ghidr.adapter.ghidra;

import ghidra.app.util.Option;
import ghidra.app.util.bin.ByteProvider;
import ghidra.app.util.bin.FileByteProvider;
import ghidra.app.util.opinion.BinaryLoader;
import ghidra.app.util.opinion.LoadSpec;
import ghidra.app.util.opinion.Loader;
import ghidra.app.util.opinion.LoaderMap;
import ghidra.app.util.opinion.LoaderService;
import ghidra.formats.gfilesystem.FSRL;
import ghidra.formats.gfilesystem.FileSystemService;
import ghidra.framework.store.local.ItemSerializer;
import io.ghidr.adapter.protocol.Listing;
import io.ghidr.adapter.protocol.OptionValue;
import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import io.ghidr.adapter.sample.ContainerMagic;
import java.io.File;
import java.io.IOException;
import java.nio.file.AccessMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Decides before the import what a Sample is, and refuses what must not be imported.
 *
 * <p>Only loaders of an allow-list may load: formats that carry Ghidra's own state, or that
 * describe another program, are refused. The best loader must prefer exactly one target; the
 * engine's own choice (the first preferred target of the best loader) is then the same one.
 */
public final class TargetGate {
  private static final String PACKAGE = "ghidra.app.util.opinion.";
  private static final Set<String> ALLOWED_LOADERS =
      Set.of(
          "CDexLoader",
          "CoffLoader",
          "DexLoader",
          "ElfLoader",
          "IntelHexLoader",
          "JavaLoader",
          "MSCoffLoader",
          "MachoLoader",
          "MotorolaHexLoader",
          "MzLoader",
          "NeLoader",
          "Omf51Loader",
          "OmfLoader",
          "PeLoader",
          "PefLoader",
          "SomLoader",
          "UnixAoutLoader");

  private TargetGate() {}

  /** The unique target of {@code sample}. */
  public static ResolvedTarget resolve(Path sample) throws WorkerException {
    File file = sample.toFile();
    if (isPacked(file)) {
      throw WorkerErrors.unsupportedTarget(List.of("Ghidra Packed File (GZF, GDT)"));
    }
    FSRL location = FileSystemService.getInstance().getLocalFSRL(file);
    try (FileByteProvider provider = new FileByteProvider(file, location, AccessMode.READ)) {
      byte[] start = provider.readBytes(0, Math.min(provider.length(), ContainerMagic.BYTES));
      String container = ContainerMagic.formatOf(start);
      if (container != null) {
        throw ContainerListing.refuse(location, container);
      }
      return choose(provider, location);
    } catch (IOException e) {
      throw WorkerErrors.importFailed("the sample cannot be read: " + e.getClass().getName());
    }
  }

  /** The engine's own loaders go by the file name, which says nothing here. */
  private static boolean isPacked(File file) {
    try {
      return ItemSerializer.isPackedFile(file);
    } catch (IOException e) {
      // Too short for the mark of a packed file.
      return false;
    }
  }

  private static ResolvedTarget choose(ByteProvider provider, FSRL location)
      throws WorkerException {
    LoaderMap map = LoaderService.getSupportedLoadSpecs(provider, loader -> true);
    List<String> refused = new ArrayList<>();
    for (Map.Entry<Loader, Collection<LoadSpec>> entry : map.entrySet()) {
      Loader loader = entry.getKey();
      if (refused.isEmpty() && allowed(loader)) {
        return chooseSpec(provider, loader, entry.getValue());
      }
      if (!allowed(loader) && !(loader instanceof BinaryLoader)) {
        refused.add(loader.getName());
      }
    }
    if (refused.isEmpty()) {
      ContainerListing.refuseIfContainer(location);
      refused.add(BinaryLoader.BINARY_NAME);
    }
    throw WorkerErrors.unsupportedTarget(refused);
  }

  private static boolean allowed(Loader loader) {
    Class<?> type = loader.getClass();
    return type.getName().equals(PACKAGE + type.getSimpleName())
        && ALLOWED_LOADERS.contains(type.getSimpleName());
  }

  private static ResolvedTarget chooseSpec(
      ByteProvider provider, Loader loader, Collection<LoadSpec> specs) throws WorkerException {
    List<LoadSpec> preferred = specs.stream().filter(LoadSpec::isPreferred).toList();
    List<LoadSpec> offered =
        (preferred.isEmpty() ? specs : preferred)
            .stream().filter(spec -> TargetCandidate.of(spec).namesLanguage()).toList();
    List<TargetCandidate> candidates =
        offered.stream().map(TargetCandidate::of).distinct().sorted().toList();
    if (candidates.isEmpty()) {
      throw WorkerErrors.unsupportedProcessor(loader.getName());
    }
    if (candidates.size() > 1) {
      throw WorkerErrors.ambiguousTarget(Listing.of(candidates));
    }
    LoadSpec spec = offered.get(0);
    return new ResolvedTarget(TargetCandidate.of(spec), loaderOptions(provider, loader, spec));
  }

  private static List<OptionValue> loaderOptions(
      ByteProvider provider, Loader loader, LoadSpec spec) throws WorkerException {
    try {
      List<OptionValue> values = new ArrayList<>();
      for (Option option : VersionDifferences.defaultLoaderOptions(loader, provider, spec)) {
        values.add(OptionValue.of(option.getName(), option.getValue()));
      }
      return OptionValue.sorted(values);
    } catch (ReflectiveOperationException e) {
      throw WorkerErrors.engineUnusable("loader_options", e.toString());
    }
  }
}
