package io.ghidr.adapter.protocol;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Supplier;

/**
 * Keeps one line, {@code phase TAB analyzer LF}, in a file that the harness polls.
 *
 * <p>The line is overwritten in place by one write. Progress is a courtesy: when it cannot be
 * written, the invocation goes on without it.
 */
public final class ProgressFile implements AutoCloseable {
  private static final long INTERVAL_MILLISECONDS = 200;

  private final Path path;
  private final Supplier<String> phase;
  private final Supplier<String> analyzer;
  private final Thread thread;
  private String last = "";

  /** Starts a daemon thread that writes what the suppliers say. */
  public ProgressFile(Path path, Supplier<String> phase, Supplier<String> analyzer) {
    this.path = path;
    this.phase = phase;
    this.analyzer = analyzer;
    thread = new Thread(this::poll, "ghidr-progress");
    thread.setDaemon(true);
    thread.start();
  }

  /** The line for a phase and an analyzer (null for none), cut to what the protocol allows. */
  public static byte[] line(String phase, String analyzer) {
    String text = analyzer == null ? "" : analyzer.replaceAll("\\p{Cntrl}", " ");
    byte[] line;
    do {
      line = (phase + "\t" + text + "\n").getBytes(StandardCharsets.UTF_8);
      text = text.substring(0, Math.max(0, text.length() - 16));
    } while (line.length > Protocol.MAX_PROGRESS_BYTES);
    return line;
  }

  @Override
  public void close() {
    thread.interrupt();
  }

  private void poll() {
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      while (!thread.isInterrupted()) {
        write(channel);
        Thread.sleep(INTERVAL_MILLISECONDS);
      }
    } catch (IOException | InterruptedException e) {
      thread.interrupt();
    }
  }

  private void write(FileChannel channel) throws IOException {
    byte[] line = line(phase.get(), analyzer.get());
    String text = new String(line, StandardCharsets.UTF_8);
    if (!text.equals(last)) {
      channel.write(ByteBuffer.wrap(line), 0);
      channel.truncate(line.length);
      last = text;
    }
  }
}
