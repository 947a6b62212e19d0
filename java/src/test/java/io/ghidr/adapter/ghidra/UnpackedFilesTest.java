package io.ghidr.adapter.ghidra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.ghidr.adapter.protocol.WorkerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnpackedFilesTest {
  @TempDir Path directory;
  private Path jar;
  private Path copies;

  @BeforeEach
  void engine() throws IOException {
    jar = directory.resolve("engine.jar");
    copies = Files.createDirectory(directory.resolve("copies"));
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(jar))) {
      zip.putNextEntry(new ZipEntry("a/linux/tool"));
      zip.write(new byte[10]);
      zip.putNextEntry(new ZipEntry("a/mac/tool"));
      zip.write(new byte[20]);
    }
  }

  @Test
  void acceptsCompleteCopies() throws Exception {
    Files.write(copies.resolve("tool"), new byte[10]);
    UnpackedFiles.verify(jar, copies.toFile());
  }

  @Test
  void acceptsAnEngineThatCopiedNothing() throws Exception {
    UnpackedFiles.verify(jar, copies.toFile());
    UnpackedFiles.verify(jar, directory.resolve("missing").toFile());
  }

  @Test
  void refusesAShortCopy() throws Exception {
    Files.write(copies.resolve("tool"), new byte[9]);
    WorkerException e =
        assertThrows(WorkerException.class, () -> UnpackedFiles.verify(jar, copies.toFile()));
    assertEquals("engine_unusable", e.code());
  }

  @Test
  void refusesAFileThatTheEngineDoesNotHave() throws Exception {
    Files.write(copies.resolve("other"), new byte[10]);
    assertThrows(WorkerException.class, () -> UnpackedFiles.verify(jar, copies.toFile()));
  }
}
