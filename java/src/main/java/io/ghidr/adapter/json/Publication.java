package io.ghidr.adapter.json;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;

/**
 * Publishes a bounded file: a temporary file beside it, flushed and synchronised, then renamed.
 *
 * <p>A failure leaves neither the file nor its temporary behind; a crash may leave the temporary.
 */
public final class Publication {
  private Publication() {}

  /** What writes the content. */
  @FunctionalInterface
  public interface Content {
    /** Writes all of the file. */
    void writeTo(BoundedWriter out) throws IOException;
  }

  /**
   * What was published.
   *
   * @param bytes size of the file
   * @param sha256 lower-case hexadecimal digest of the file
   */
  public record Published(long bytes, String sha256) {}

  /** Writes {@code file} (mode 0600) with at most {@code limitBytes} bytes. */
  public static Published publish(Path file, long limitBytes, Content content) throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + ".tmp");
    Files.deleteIfExists(temporary);
    MessageDigest digest = sha256();
    long bytes;
    try (FileChannel channel =
        FileChannel.open(
            temporary,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      OutputStream stream = new DigestOutputStream(Channels.newOutputStream(channel), digest);
      BoundedWriter writer = new BoundedWriter(stream, limitBytes);
      content.writeTo(writer);
      writer.flush();
      channel.force(true);
      bytes = writer.writtenBytes();
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(temporary);
      throw e;
    }
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    return new Published(bytes, HexFormat.of().formatHex(digest.digest()));
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
