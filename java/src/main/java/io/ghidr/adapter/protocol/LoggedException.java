package io.ghidr.adapter.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An exception of which only the printed stack trace is left.
 *
 * @param type class name of the exception
 * @param message its message, empty without one
 * @param classes classes of the stack frames, innermost first
 */
public record LoggedException(String type, String message, List<String> classes) {
  private static final Pattern HEAD =
      Pattern.compile(
          "(?:\\w+> )?((?:[\\w$]+\\.)+[\\w$]*(?:Exception|Error)[\\w$]*)(?::\\s?(.*))?");
  private static final Pattern FRAME = Pattern.compile("\\s+at ([\\w.$/@]+)\\.[\\w$<>]+\\(.*");

  /** Finds every exception whose first line is followed by a stack frame. */
  public static List<LoggedException> parse(String text) {
    List<LoggedException> found = new ArrayList<>();
    String[] lines = text.split("\n");
    for (int i = 0; i + 1 < lines.length; i++) {
      Matcher head = HEAD.matcher(lines[i]);
      if (head.matches() && FRAME.matcher(lines[i + 1]).matches()) {
        String message = head.group(2) == null ? "" : head.group(2);
        found.add(new LoggedException(head.group(1), message, frames(lines, i + 1)));
      }
    }
    return found;
  }

  private static List<String> frames(String[] lines, int first) {
    List<String> classes = new ArrayList<>();
    for (int i = first; i < lines.length; i++) {
      Matcher frame = FRAME.matcher(lines[i]);
      if (!frame.matches()) {
        break;
      }
      classes.add(frame.group(1));
    }
    return List.copyOf(classes);
  }
}
