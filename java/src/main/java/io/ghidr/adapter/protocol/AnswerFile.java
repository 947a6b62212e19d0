package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import io.ghidr.adapter.json.LineFile;
import io.ghidr.adapter.json.SizeLimitException;
import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * The answers to the Queries of one request: one line each, in order, complete as soon as it is
 * there.
 *
 * <p>An answer that is too large is a failure in its place. Why the file ends early, if it does, is
 * part of what the response says about it.
 */
public final class AnswerFile implements Closeable {
  private final Queries queries;
  private final LineFile lines;
  private final long startedNanos = System.nanoTime();
  private long failed;
  private String stopped;

  /** Creates the file. */
  public AnswerFile(Queries queries) throws IOException {
    this.queries = queries;
    lines = new LineFile(queries.answers());
  }

  /** Number of answers so far: the index of the next Query. */
  public int count() {
    return lines.count();
  }

  /** Whether another Query is to be answered. */
  public boolean wantsMore() {
    boolean isOneLeft = stopped == null && count() < queries.selectors().size();
    if (isOneLeft && count() > 0 && isTimeOver()) {
      stopped = "time";
      return false;
    }
    return isOneLeft;
  }

  private boolean isTimeOver() {
    Integer limit = queries.timeoutSeconds();
    return limit != null && System.nanoTime() - startedNanos >= TimeUnit.SECONDS.toNanos(limit);
  }

  /** Appends the answer to the next Query. */
  public void succeed(JsonPart decompilation) throws IOException {
    JsonPart outcome =
        out ->
            out.beginObject()
                .name("status")
                .value("decompiled")
                .name("decompilation")
                .value(decompilation)
                .endObject();
    try {
      append(outcome);
    } catch (SizeLimitException e) {
      fail(WorkerErrors.resultTooLarge(e));
    }
  }

  /** Appends the failure of the next Query. */
  public void fail(WorkerException error) throws IOException {
    boolean isThere;
    try {
      isThere = append(Outcome.failure(error));
    } catch (SizeLimitException e) {
      isThere = append(Outcome.failure(WorkerErrors.resultTooLarge(e)));
    }
    if (isThere) {
      countFailure();
    }
  }

  /** What the response says about the finished file. */
  public JsonPart summary() {
    return out -> {
      out.beginObject();
      out.name("bytes").value(lines.bytes()).name("sha256").value(lines.sha256());
      out.name("count").value(lines.count()).name("failed").value(failed);
      out.name("stopped").value(stopped).endObject();
    };
  }

  @Override
  public void close() throws IOException {
    lines.close();
  }

  private void countFailure() {
    failed++;
    if (queries.stopAtFailure() && count() < queries.selectors().size()) {
      stopped = "failure";
    }
  }

  /** Appends a line, unless it would be one too many bytes and is not the first. */
  private boolean append(JsonPart outcome) throws IOException {
    long index = count();
    JsonPart line =
        out ->
            out.beginObject().name("index").value(index).name("outcome").value(outcome).endObject();
    long bytes = BoundedWriter.measure(line, queries.maxAnswerBytes());
    if (index > 0 && lines.bytes() + bytes + 1 > queries.maxAnswersBytes()) {
      stopped = "size";
      return false;
    }
    lines.append(line, bytes);
    return true;
  }
}
