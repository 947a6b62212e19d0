package io.ghidr.adapter.ghidra;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExtensionPointNamesTest {
  @TempDir Path directory;

  @Test
  void aJarOfNamesHoldsAnEmptyEntryForEachClassAndIsTheSameEachTime() throws IOException {
    Path one = directory.resolve("one.jar");
    Path two = directory.resolve("two.jar");
    ExtensionPointNames.write(one, new TreeSet<>(List.of("b.SecondAnalyzer", "a.FirstLoader")));
    ExtensionPointNames.write(two, new TreeSet<>(List.of("a.FirstLoader", "b.SecondAnalyzer")));
    assertArrayEquals(Files.readAllBytes(one), Files.readAllBytes(two));
    try (JarFile jar = new JarFile(one.toFile())) {
      List<JarEntry> entries = jar.stream().toList();
      List<String> names = entries.stream().map(JarEntry::getName).toList();
      assertEquals(List.of("a/FirstLoader.class", "b/SecondAnalyzer.class"), names);
      assertEquals(0, entries.stream().mapToLong(JarEntry::getSize).sum());
    }
  }
}
