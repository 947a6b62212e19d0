package io.ghidr.adapter.ghidra;

import ghidra.framework.HeadlessGhidraApplicationConfiguration;
import ghidra.util.Msg;
import ghidra.util.classfinder.ClassSearcher;
import ghidra.util.exception.CancelledException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedSet;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Boots the engine of an installation directory, whose search for extension points is made cheap.
 *
 * <p>The engine finds them by name: it matches every entry of every jar of its class path with a
 * regular expression, and only later loads, through the class path, what it asks for. So a jar that
 * has nothing but empty entries of the matching names gives the same result. An observed boot
 * writes that jar, and later boots search it instead of the class path. It can only be too old,
 * which the caller rules out; a class that it does not name would be missing from the analysis.
 */
final class ExtensionPointNames extends HeadlessGhidraApplicationConfiguration {
  /** Property with the jar to search; absent, the engine searches all of its class path. */
  private static final String SEARCHED = "ghidr.extension.points";

  /** Property with the jar to write; absent, none is written. */
  private static final String RECORDED = "ghidr.extension.points.record";

  private static final String CLASS_PATH = "java.class.path";

  /** The earliest time that every zip reader understands, so that equal names make equal jars. */
  private static final long FIXED_TIME_MILLIS = 315_619_200_000L;

  @Override
  protected void initializeApplication() {
    String searched = System.getProperty(SEARCHED);
    if (searched != null) {
      searchOnly(searched);
    }
    super.initializeApplication();
    String recorded = System.getProperty(RECORDED);
    if (recorded != null) {
      record(Path.of(recorded));
    }
  }

  /** The search is made once per process: the one that follows finds it done. */
  private void searchOnly(String jar) {
    String classPath = System.getProperty(CLASS_PATH);
    System.setProperty(CLASS_PATH, jar);
    try {
      ClassSearcher.search(monitor);
    } catch (CancelledException e) {
      Msg.debug(this, "the class search was cancelled");
    } finally {
      System.setProperty(CLASS_PATH, classPath);
    }
  }

  private static void record(Path jar) {
    try {
      write(jar, VersionDifferences.extensionPointNames());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the extension points cannot be listed", e);
    }
  }

  /** Writes a jar with an empty entry for each class, the same bytes for the same names. */
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
