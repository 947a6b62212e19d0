package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.Fields;
import io.ghidr.adapter.json.JsonException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The Queries of one request, in the order in which they are answered. The one kind that needs the
 * engine is: decompile a function.
 *
 * @param selectors the functions, at least one
 * @param answers file that receives one line for each answer
 * @param stopAtFailure whether the first failure is the last answer
 * @param timeoutSeconds time after which no further Query is begun, or null for no limit
 * @param maxAnswersBytes size after which no further answer is written
 * @param maxAnswerBytes size limit of each answer
 * @param decompileTimeoutSeconds decompiler time-out of each Query
 */
public record Queries(
    List<Selector> selectors,
    Path answers,
    boolean stopAtFailure,
    Integer timeoutSeconds,
    long maxAnswersBytes,
    long maxAnswerBytes,
    int decompileTimeoutSeconds) {

  /** Takes the queries object; the request's limits must carry a decompiler time-out. */
  public static Queries from(Fields fields, GrantedPaths paths, Limits limits)
      throws JsonException {
    List<Selector> selectors = new ArrayList<>();
    for (Fields item : fields.objects("items")) {
      selectors.add(selector(item));
    }
    if (selectors.isEmpty() || selectors.size() > Protocol.MAX_QUERIES) {
      throw new JsonException(
          fields.pathOf("items"), "not between 1 and " + Protocol.MAX_QUERIES + " queries");
    }
    Path answers = paths.take(fields, "answers_path", GrantedPaths.Access.WRITE);
    boolean stop = fields.bool("stop_at_failure");
    Long timeout = fields.integerOrNull("timeout_seconds", 1, Integer.MAX_VALUE);
    long most = fields.integer("max_answers_bytes", 1, Long.MAX_VALUE);
    fields.end();
    if (limits.decompileTimeoutSeconds() == null) {
      throw new JsonException("limits.decompile_timeout_seconds", "needed by the queries");
    }
    return new Queries(
        List.copyOf(selectors),
        answers,
        stop,
        timeout == null ? null : timeout.intValue(),
        most,
        limits.maxResponseBytes(),
        limits.decompileTimeoutSeconds());
  }

  private static Selector selector(Fields item) throws JsonException {
    if (!"decompile".equals(item.string("kind"))) {
      throw new JsonException(item.pathOf("kind"), "unknown query");
    }
    Selector selector = Selector.from(item.object("selector"));
    item.end();
    return selector;
  }
}
