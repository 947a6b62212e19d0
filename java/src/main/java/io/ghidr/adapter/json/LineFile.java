package io.ghidr.adapter.json;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Set;

/**
 * A new file of JSON Lines (mode 0600) that is of use before it is finished: a line is with the
 * kernel once {@link #append} returns, so whoever reads the file after this process was killed
 * loses the line that was being written, and no other.
 */
public final class LineFile implements Closeable {
  private final FileChannel channel;
  private final MessageDigest digest = Publication.sha256();
  private final OutputStream stream;
  private long bytes;
  private int count;

  /** Creates the file, which must not exist. */
  public LineFile(Path file) throws IOException {
    channel =
        FileChannel.open(
            file,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    stream = new DigestOutputStream(Channels.newOutputStream(channel), digest);
  }

  /** Size of the file in bytes. */
  public long bytes() {
    return bytes;
  }

  /** Number of lines. */
  public int count() {
    return count;
  }

  /** Lower-case hexadecimal digest of the file so far. */
  public String sha256() {
    try {
      return HexFormat.of().formatHex(((MessageDigest) digest.clone()).digest());
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Appends one value, which is {@code size} bytes long, and its line feed. */
  public void append(JsonPart value, long size) throws IOException {
    BoundedWriter writer = new BoundedWriter(stream, size + 1);
    writer.value(value).newline().flush();
    bytes += writer.writtenBytes();
    count++;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
