package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.JsonPart;

/** What an operation answers: a complete form, and a smaller one for when that is too large. */
public final class Outcome {
  private final JsonPart complete;
  private final JsonPart kept;
  private final boolean query;

  private Outcome(JsonPart complete, JsonPart kept, boolean query) {
    this.complete = complete;
    this.kept = kept;
    this.query = query;
  }

  /** The operation failed as a whole. */
  public static Outcome failed(WorkerException error) {
    return new Outcome(failure(error), null, false);
  }

  /** The engine was probed. */
  public static Outcome probed(JsonPart probe) {
    return new Outcome(
        out ->
            out.beginObject().name("status").value("probed").name("probe").value(probe).endObject(),
        null,
        false);
  }

  /** An Analysis was made; {@code query} is the outcome of its Query, or null. */
  public static Outcome analyzed(JsonPart analysis, JsonPart query) {
    return new Outcome(analysisWith(analysis, query), analysis, query != null);
  }

  /** A stored Analysis was queried. */
  public static Outcome queried(JsonPart query) {
    return new Outcome(queryWith(query), null, true);
  }

  /** The complete outcome. */
  public JsonPart complete() {
    return complete;
  }

  /** The same outcome with {@code error} in the place of the part that grew too large. */
  public JsonPart reduced(WorkerException error) {
    if (kept != null && query) {
      return analysisWith(kept, failure(error));
    }
    return query ? queryWith(failure(error)) : failure(error);
  }

  /** A failed outcome, whole or of a Query. */
  public static JsonPart failure(WorkerException error) {
    return out ->
        out.beginObject().name("status").value("failed").name("error").value(error).endObject();
  }

  private static JsonPart analysisWith(JsonPart analysis, JsonPart query) {
    return out ->
        out.beginObject()
            .name("status")
            .value("analyzed")
            .name("analysis")
            .value(analysis)
            .name("query")
            .value(query)
            .endObject();
  }

  private static JsonPart queryWith(JsonPart query) {
    return out ->
        out.beginObject().name("status").value("queried").name("query").value(query).endObject();
  }
}
