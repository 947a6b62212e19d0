package io.ghidr.adapter.ghidra;

import generic.jar.ResourceFile;
import ghidra.GhidraApplicationLayout;
import ghidra.framework.GModule;
import java.io.File;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * An installation directory without what its user added to it. Extensions bring languages, data and
 * analyzers that change results, while version and build of the engine stay the same; their code is
 * not on the class path either.
 */
final class InstallationLayout extends GhidraApplicationLayout {
  private static final String EXTENSIONS = "Extensions";

  InstallationLayout(File directory) throws IOException {
    super(directory);
  }

  @Override
  protected List<ResourceFile> findExtensionInstallationDirectories() {
    return List.of();
  }

  // Called by the constructor of the superclass, so it must not use fields of this class.
  // Extensions
  // below the application's own directory are found like any other module.
  @Override
  protected Map<String, GModule> findGhidraModules() throws IOException {
    Map<String, GModule> own = new TreeMap<>(super.findGhidraModules());
    own.values().removeIf(m -> m.getModuleRoot().getParentFile().getName().equals(EXTENSIONS));
    return Collections.unmodifiableMap(own);
  }
}
