package io.ghidr.adapter.ghidra;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class LineEndsTest {
  private static void becomes(String expected, String text) {
    assertEquals(expected, LineEnds.toLineFeeds(text));
  }

  @Test
  void everyLineEndBecomesOneLineFeed() {
    becomes("", "");
    becomes("a\nb\n", "a\r\nb\r\n");
    becomes("a\nb\n", "a\rb\r");
    becomes("a\n\nb\n\n", "a\r\r\nb\n\r");
    becomes("\n", "\r");
  }

  @Test
  void nothingElseChanges() {
    String verbatim = "\n int x;\t // é \u2028 \u0085 \\r\\n \f \n\n";
    becomes(verbatim, verbatim);
  }
}
