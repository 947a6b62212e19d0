package io.ghidr.adapter.ghidra;

import ghidra.app.decompiler.ClangBreak;
import ghidra.app.decompiler.ClangCommentToken;
import ghidra.app.decompiler.ClangNode;
import ghidra.app.decompiler.ClangToken;
import java.util.ArrayList;
import java.util.List;

/**
 * Collects the decompiler's warnings. They are comments of the C markup only: the error message of
 * a decompilation is empty for them.
 */
final class MarkupWarnings {
  private MarkupWarnings() {}

  /** Texts of all warning comments below {@code markup}, in order, each once. */
  static List<String> of(ClangNode markup) {
    if (markup == null) {
      return List.of();
    }
    List<ClangNode> tokens = new ArrayList<>();
    markup.flatten(tokens);
    CommentScanner scanner = new CommentScanner();
    for (ClangNode node : tokens) {
      if (node instanceof ClangCommentToken comment) {
        scanner.comment(comment.getText());
      } else if (node instanceof ClangBreak) {
        scanner.space();
      } else if (node instanceof ClangToken token) {
        scanner.other(token.getText());
      }
    }
    return scanner.warnings();
  }
}
