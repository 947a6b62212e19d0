package io.ghidr.adapter.sample;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Random access to a Sample in which every read beyond the end is an ordinary answer. */
public final class SampleBytes implements AutoCloseable {
  private final FileChannel channel;
  private final long length;
  private ByteOrder order = ByteOrder.LITTLE_ENDIAN;

  /** Opens {@code path} for reading. */
  public SampleBytes(Path path) throws IOException {
    channel = FileChannel.open(path, StandardOpenOption.READ);
    length = channel.size();
  }

  /** Size of the Sample. */
  public long length() {
    return length;
  }

  /** Sets the byte order of the numbers that follow. */
  public void order(ByteOrder byteOrder) {
    order = byteOrder;
  }

  /** Whether {@code size} bytes at {@code offset} (both unsigned) end at or before the end. */
  public boolean contains(long offset, long size) {
    return Long.compareUnsigned(offset, length) <= 0
        && Long.compareUnsigned(size, length - offset) <= 0;
  }

  /** Reads an unsigned number of 1, 2, 4 or 8 bytes; the caller has checked {@link #contains}. */
  public long number(long offset, int size) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(size).order(order);
    if (!contains(offset, size) || channel.read(buffer, offset) != size) {
      throw new IOException("read beyond the end of the sample");
    }
    return switch (size) {
      case 1 -> buffer.get(0) & 0xFFL;
      case 2 -> buffer.getShort(0) & 0xFFFFL;
      case 4 -> buffer.getInt(0) & 0xFFFFFFFFL;
      default -> buffer.getLong(0);
    };
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
