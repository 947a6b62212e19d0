package io.ghidr.adapter.json;

import java.util.Set;

/**
 * Refuses text that Gson's reader forgives although RFC 8259 does not: control characters inside
 * strings, unknown escapes, literals in another case, and white space other than the four allowed.
 *
 * <p>It looks at characters only; nesting and punctuation are the reader's business.
 */
final class JsonGrammar {
  private static final Set<String> LITERALS = Set.of("true", "false", "null");

  private final String text;
  private int position;

  private JsonGrammar(String text) {
    this.text = text;
  }

  /** Throws unless every character is one that strict JSON allows at its place. */
  static void check(String text) throws JsonException {
    new JsonGrammar(text).scan();
  }

  private void scan() throws JsonException {
    while (position < text.length()) {
      char c = text.charAt(position);
      if (c == '"') {
        string();
      } else if (isLetter(c)) {
        literal();
      } else if (c == '-' || isDigit(c)) {
        integer();
      } else if ("{}[]:, \t\r\n".indexOf(c) >= 0) {
        position++;
      } else {
        throw new JsonException("", "character that JSON does not allow");
      }
    }
  }

  private void string() throws JsonException {
    position++;
    while (position < text.length()) {
      char c = text.charAt(position++);
      if (c == '"') {
        return;
      }
      if (c < 0x20) {
        throw new JsonException("", "control character inside a string");
      }
      if (c == '\\') {
        escape();
      }
    }
    throw new JsonException("", "string without an end");
  }

  private void escape() throws JsonException {
    char c = position < text.length() ? text.charAt(position++) : '\0';
    if (c == 'u') {
      for (int i = 0; i < 4; i++, position++) {
        if (position >= text.length() || Character.digit(text.charAt(position), 16) < 0) {
          throw new JsonException("", "escape that JSON does not know");
        }
      }
    } else if ("\"\\/bfnrt".indexOf(c) < 0) {
      throw new JsonException("", "escape that JSON does not know");
    }
  }

  private void literal() throws JsonException {
    int start = position;
    while (position < text.length() && isLetter(text.charAt(position))) {
      position++;
    }
    if (!LITERALS.contains(text.substring(start, position))) {
      throw new JsonException("", "word that JSON does not know");
    }
  }

  private void integer() throws JsonException {
    int start = position++;
    while (position < text.length() && isDigit(text.charAt(position))) {
      position++;
    }
    String digits = text.substring(text.charAt(start) == '-' ? start + 1 : start, position);
    boolean more = position < text.length() && "+-.eE".indexOf(text.charAt(position)) >= 0;
    if (more || digits.isEmpty() || digits.length() > 1 && digits.startsWith("0")) {
      throw new JsonException("", "number that is not an integer");
    }
  }

  private static boolean isLetter(char c) {
    return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
