package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.Fields;
import io.ghidr.adapter.json.JsonException;

/**
 * The one Query that needs the engine: decompile a function.
 *
 * @param selector the function
 * @param timeoutSeconds decompiler time-out
 */
public record QueryRequest(Selector selector, int timeoutSeconds) {

  /** Takes a query object; {@code limits} must carry a decompiler time-out. */
  public static QueryRequest from(Fields fields, Limits limits) throws JsonException {
    if (!"decompile".equals(fields.string("kind"))) {
      throw new JsonException(fields.pathOf("kind"), "unknown query");
    }
    Selector selector = Selector.from(fields.object("selector"));
    fields.end();
    if (limits.decompileTimeoutSeconds() == null) {
      throw new JsonException("limits.decompile_timeout_seconds", "needed by the query");
    }
    return new QueryRequest(selector, limits.decompileTimeoutSeconds());
  }
}
