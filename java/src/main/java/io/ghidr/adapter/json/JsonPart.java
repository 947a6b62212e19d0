package io.ghidr.adapter.json;

import java.io.IOException;

/** One JSON value that knows how to write itself. */
@FunctionalInterface
public interface JsonPart {
  /**
   * Writes exactly one JSON value.
   *
   * @throws SizeLimitException when the document outgrows its limit
   */
  void writeTo(BoundedWriter out) throws IOException;
}
