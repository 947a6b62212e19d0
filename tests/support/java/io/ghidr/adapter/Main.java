package io.ghidr.adapter;

import java.nio.file.Files;
import java.nio.file.Path;

/** A stand-in for the adapter: does what the request's function selector says. */
public final class Main {
  private Main() {}

  /** The worker's entry point; the last string is how long the virtual machine took to start. */
  public static int run(String request, String response, String startNanos) throws Exception {
    if (Long.parseLong(startNanos) <= 0) {
      throw new IllegalArgumentException(startNanos);
    }
    String text = Files.readString(Path.of(request));
    if (text.contains("\"value\":\"hang\"")) {
      System.out.println("ready");
      Thread.sleep(600_000);
    }
    if (text.contains("\"value\":\"throw\"")) {
      throw new IllegalStateException("as told");
    }
    if (text.contains("\"value\":\"heap\"")) {
      long[][] blocks = new long[100_000][];
      for (int at = 0; at < blocks.length; at++) {
        blocks[at] = new long[1 << 20];
      }
    }
    if (text.contains("\"value\":\"exit\"")) {
      System.exit(9);
    }
    if (text.contains("\"value\":\"three\"")) {
      return 3;
    }
    Files.writeString(Path.of(response), System.getProperty("java.home") + " as " + ProcessHandle.current().pid());
    return 0;
  }
}
