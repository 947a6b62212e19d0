package io.ghidr.adapter.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PublicationTest {
  @TempDir Path directory;

  @Test
  void publishesWithDigestAndPrivateMode() throws IOException {
    Path file = directory.resolve("response.json");
    Publication.Published published = Publication.publish(file, 10, out -> out.value("abc"));
    assertEquals("\"abc\"", Files.readString(file));
    assertEquals(5, published.bytes());
    assertEquals(
        "6cc43f858fbb763301637b5af970e2a46b46f461f27e5a0f41e009c59b827b25", published.sha256());
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    assertEquals(1, entries());
  }

  @Test
  void anOverflowLeavesNothing() throws IOException {
    Path file = directory.resolve("response.json");
    assertThrows(
        SizeLimitException.class,
        () -> Publication.publish(file, 100, out -> out.value("x".repeat(200_000))));
    assertFalse(Files.exists(file));
    assertEquals(0, entries());
  }

  @Test
  void aStaleTemporaryIsReplaced() throws IOException {
    Path file = directory.resolve("response.json");
    Files.writeString(directory.resolve("response.json.tmp"), "half");
    Publication.publish(file, 100, out -> out.value(1));
    assertEquals("1", Files.readString(file));
    assertEquals(1, entries());
  }

  private long entries() throws IOException {
    try (Stream<Path> list = Files.list(directory)) {
      return list.count();
    }
  }
}
