package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.JsonPart;

/** What an operation answers. */
public final class Outcome {
  private final JsonPart complete;

  private Outcome(JsonPart complete) {
    this.complete = complete;
  }

  /** The operation failed as a whole. */
  public static Outcome failed(WorkerException error) {
    return new Outcome(failure(error));
  }

  /** The engine was probed. */
  public static Outcome probed(JsonPart probe) {
    return new Outcome(
        out ->
            out.beginObject()
                .name("status")
                .value("probed")
                .name("probe")
                .value(probe)
                .endObject());
  }

  /** An Analysis was made; {@code answers} describes the answers to its Queries, or is null. */
  public static Outcome analyzed(JsonPart analysis, JsonPart answers) {
    return new Outcome(
        out ->
            out.beginObject()
                .name("status")
                .value("analyzed")
                .name("analysis")
                .value(analysis)
                .name("answers")
                .value(answers)
                .endObject());
  }

  /** A stored Analysis was queried; {@code answers} describes the answers. */
  public static Outcome queried(JsonPart answers) {
    return new Outcome(
        out ->
            out.beginObject()
                .name("status")
                .value("queried")
                .name("answers")
                .value(answers)
                .endObject());
  }

  /** The complete outcome. */
  public JsonPart complete() {
    return complete;
  }

  /** A failed outcome, of an operation or of a Query. */
  public static JsonPart failure(WorkerException error) {
    return out ->
        out.beginObject().name("status").value("failed").name("error").value(error).endObject();
  }
}
