package io.ghidr.adapter.ghidra;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class CommentScannerTest {
  private final CommentScanner scanner = new CommentScanner();

  private void words(String... words) {
    for (String word : words) {
      scanner.comment(word);
      scanner.other(" ");
    }
  }

  @Test
  void joinsTheWordsOfAComment() {
    words("/*", "WARNING:", "Could");
    scanner.space();
    words("not", "recover", "*/");
    assertEquals(List.of("WARNING: Could not recover"), scanner.warnings());
  }

  @Test
  void takesAWholeCommentToo() {
    scanner.comment("/* WARNING: Subroutine does not return */");
    scanner.comment("/* WARNING: Subroutine does not return */");
    scanner.comment("// WARNING: line");
    scanner.other("return");
    assertEquals(
        List.of("WARNING: Subroutine does not return", "WARNING: line"), scanner.warnings());
  }

  @Test
  void boundsNumberAndLength() {
    scanner.comment("/* WARNING: " + "x".repeat(5_000) + " */");
    for (int i = 0; i < 10_001; i++) {
      scanner.comment("/* WARNING: " + i + " */");
    }
    assertEquals(10_000, scanner.warnings().size());
    assertEquals(4_096, scanner.warnings().get(0).length());
  }

  @Test
  void ignoresOtherCommentsAndCode() {
    scanner.comment("/* a WARNING in passing */");
    scanner.other("WARNING");
    scanner.comment("/* note */");
    scanner.comment(null);
    assertEquals(List.of(), scanner.warnings());
  }
}
