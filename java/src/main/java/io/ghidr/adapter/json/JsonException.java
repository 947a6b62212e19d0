package io.ghidr.adapter.json;

/** A document that the adapter refuses, with the field it failed at (empty for the document). */
public final class JsonException extends Exception {
  private static final long serialVersionUID = 1L;

  private final String field;

  /** Refuses {@code field} because of {@code reason}. */
  public JsonException(String field, String reason) {
    super(reason);
    this.field = field;
  }

  /** Dotted path of the offending field. */
  public String field() {
    return field;
  }
}
