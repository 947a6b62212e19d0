package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.Fields;
import io.ghidr.adapter.json.JsonException;

/**
 * The limits of one invocation; every one is positive.
 *
 * @param analysisTimeoutSeconds native analysis time-out
 * @param decompileTimeoutSeconds decompiler time-out, null without a decompilation
 * @param maxCpu processor cores that the analysis may use
 * @param maxResponseBytes size limit of the response
 * @param maxFactsBytes size limit of each facts file
 */
public record Limits(
    int analysisTimeoutSeconds,
    Integer decompileTimeoutSeconds,
    int maxCpu,
    long maxResponseBytes,
    long maxFactsBytes) {

  static Limits from(Fields fields) throws JsonException {
    int analysis = (int) fields.integer("analysis_timeout_seconds", 1, Integer.MAX_VALUE);
    Long decompile = fields.integerOrNull("decompile_timeout_seconds", 1, Integer.MAX_VALUE);
    int cpu = (int) fields.integer("max_cpu", 1, Integer.MAX_VALUE);
    long response = fields.integer("max_response_bytes", 1, Protocol.MAX_RESPONSE_BYTES);
    long facts = fields.integer("max_facts_bytes", 1, Long.MAX_VALUE);
    fields.end();
    return new Limits(
        analysis, decompile == null ? null : decompile.intValue(), cpu, response, facts);
  }
}
