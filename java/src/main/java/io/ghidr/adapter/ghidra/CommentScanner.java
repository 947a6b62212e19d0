package io.ghidr.adapter.ghidra;

import io.ghidr.adapter.protocol.Protocol;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Puts the words of comments together again and keeps those that are warnings. A comment arrives in
 * pieces, word by word, with white space and line breaks between them.
 */
final class CommentScanner {
  private static final String MARK = "WARNING";

  private final Set<String> warnings = new LinkedHashSet<>();
  private final StringBuilder comment = new StringBuilder();

  /** A piece of a comment. */
  void comment(String text) {
    String piece = text == null ? "" : text;
    if (piece.startsWith("/*") || piece.startsWith("//")) {
      end();
    }
    comment.append(piece);
    if (piece.endsWith("*/")) {
      end();
    }
  }

  /** A line break. */
  void space() {
    if (!comment.isEmpty()) {
      comment.append(' ');
    }
  }

  /** A piece of code: white space continues a comment, anything else ends it. */
  void other(String text) {
    if (text == null || text.isBlank()) {
      space();
    } else {
      end();
    }
  }

  /** All warnings, in order, each once. */
  List<String> warnings() {
    end();
    return new ArrayList<>(warnings);
  }

  private void end() {
    String text = comment.toString().strip();
    comment.setLength(0);
    if (text.startsWith("/*") || text.startsWith("//")) {
      text = text.substring(2);
    }
    if (text.endsWith("*/")) {
      text = text.substring(0, text.length() - 2);
    }
    text = text.replaceAll("\\s+", " ").strip();
    if (text.startsWith(MARK) && warnings.size() < Protocol.MAX_LISTED_WARNINGS) {
      warnings.add(Protocol.bounded(text, Protocol.MAX_TEXT_CHARS));
    }
  }
}
