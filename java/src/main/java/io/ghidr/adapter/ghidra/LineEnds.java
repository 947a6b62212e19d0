package io.ghidr.adapter.ghidra;

/** Line ends of decompiled text: a line feed each, whatever Ghidra's options or version wrote. */
final class LineEnds {
  private LineEnds() {}

  /** The text with each CR LF, and each CR alone, as one LF; nothing else changes. */
  static String toLineFeeds(String text) {
    return text.replace("\r\n", "\n").replace('\r', '\n');
  }
}
