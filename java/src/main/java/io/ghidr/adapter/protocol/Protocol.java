package io.ghidr.adapter.protocol;

/** Constants that both sides of the protocol must agree on. */
public final class Protocol {
  /** Version of the request, the response and the facts. */
  public static final int VERSION = 1;

  /** Version of the facts files. */
  public static final int FACTS_VERSION = 1;

  /** Largest request that is parsed. */
  public static final int MAX_REQUEST_BYTES = 1 << 20;

  /** Largest response that a request may allow. */
  public static final long MAX_RESPONSE_BYTES = 256L << 20;

  /** Most Queries of one request. */
  public static final int MAX_QUERIES = 10_000;

  /** Largest line of the functions file. */
  public static final int MAX_FACTS_LINE_BYTES = 1 << 20;

  /** Longest progress line, its line feed included. */
  public static final int MAX_PROGRESS_BYTES = 512;

  /** Most candidates, members or loaders that an error lists. */
  public static final int MAX_LISTED_ITEMS = 20;

  /** Most faults that a response lists. */
  public static final int MAX_LISTED_FAULTS = 64;

  /** Most warnings about one decompiled text. */
  public static final int MAX_LISTED_WARNINGS = 10_000;

  /** Longest message of a fault, in UTF-16 units. */
  public static final int MAX_FAULT_MESSAGE_CHARS = 1024;

  /** Longest text of a response but for the decompiled one, in UTF-16 units. */
  public static final int MAX_TEXT_CHARS = 4096;

  /** Name of the Ghidra project that holds an Analysis. */
  public static final String PROJECT_NAME = "analysis";

  /** Name of the program inside that project. */
  public static final String PROGRAM_NAME = "sample";

  /** Name of the program facts file. */
  public static final String PROGRAM_FACTS_FILE = "program.json";

  /** Name of the functions facts file. */
  public static final String FUNCTION_FACTS_FILE = "functions.jsonl";

  private Protocol() {}

  /**
   * Cuts {@code text} to {@code maxChars} without splitting a surrogate pair; null becomes empty.
   */
  public static String bounded(String text, int maxChars) {
    if (text == null) {
      return "";
    }
    if (text.length() <= maxChars) {
      return text;
    }
    int end = Character.isHighSurrogate(text.charAt(maxChars - 1)) ? maxChars - 1 : maxChars;
    return text.substring(0, end);
  }
}
