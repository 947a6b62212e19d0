package io.ghidr.adapter.ghidra;

import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.ZipFile;

/**
 * Verifies the files that a single-jar engine has copied out of its jar.
 *
 * <p>The engine takes any file of the right name for a complete copy, and only logs a copy that
 * failed, for instance because the home is too small: the analysis would silently be a poorer one.
 */
final class UnpackedFiles {
  /** Directory below the engine's settings in which the copies are. */
  static final String DIRECTORY = "jar.resource.copied.files";

  private UnpackedFiles() {}

  /** Throws when a copy in {@code directory} differs in size from every original in {@code jar}. */
  static void verify(Path jar, File directory) throws WorkerException {
    File[] copies = directory.listFiles();
    if (copies == null || copies.length == 0) {
      return;
    }
    Set<String> damaged = new TreeSet<>();
    Arrays.stream(copies).map(copy -> key(copy.getName(), copy.length())).forEach(damaged::add);
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      zip.stream()
          .filter(entry -> !entry.isDirectory())
          .forEach(
              entry -> {
                String name = entry.getName();
                String base = name.substring(name.lastIndexOf('/') + 1);
                damaged.remove(key(base, entry.getSize()));
              });
    } catch (IOException e) {
      throw WorkerErrors.engineUnusable("engine_cache", "the engine cannot be read again");
    }
    if (!damaged.isEmpty()) {
      throw WorkerErrors.engineUnusable(
          "engine_cache", "incomplete copies of engine files: " + String.join(", ", damaged));
    }
  }

  private static String key(String name, long bytes) {
    return name + " (" + bytes + " bytes)";
  }
}
