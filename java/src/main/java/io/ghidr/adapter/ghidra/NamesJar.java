package io.ghidr.adapter.ghidra;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedSet;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** A jar that names classes and holds none. */
final class NamesJar {
  /** The earliest time that every zip reader understands, so that equal names make equal jars. */
  private static final long FIXED_TIME_MILLIS = 315_619_200_000L;

  private NamesJar() {}

  /** Writes an empty entry for each class, the same bytes for the same names. */
  static void write(Path jar, SortedSet<String> classNames) throws IOException {
    try (OutputStream file = Files.newOutputStream(jar);
        ZipOutputStream zip = new ZipOutputStream(file)) {
      for (String name : classNames) {
        ZipEntry entry = new ZipEntry(name.replace('.', '/') + ".class");
        entry.setTime(FIXED_TIME_MILLIS);
        zip.putNextEntry(entry);
        zip.closeEntry();
      }
    }
  }
}
