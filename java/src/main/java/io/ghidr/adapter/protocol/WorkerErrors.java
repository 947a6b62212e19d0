package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.JsonException;
import io.ghidr.adapter.json.JsonPart;
import io.ghidr.adapter.json.SizeLimitException;
import java.util.List;

/** Every error that the adapter can report, with its details. The set is closed. */
public final class WorkerErrors {
  private static final JsonPart NO_DETAILS = out -> out.beginObject().endObject();

  private WorkerErrors() {}

  /** The request is not one that the adapter accepts. */
  public static WorkerException requestRejected(JsonException cause) {
    return new WorkerException(
        "request_rejected",
        "the request was refused",
        out ->
            out.beginObject()
                .name("field")
                .value(Protocol.bounded(cause.field(), Protocol.MAX_TEXT_CHARS))
                .name("reason")
                .value(cause.getMessage())
                .endObject());
  }

  /** A component of the engine cannot be used. */
  public static WorkerException engineUnusable(String component, String reason) {
    return new WorkerException(
        "engine_unusable",
        "the engine cannot be used: " + component,
        out ->
            out.beginObject()
                .name("component")
                .value(component)
                .name("reason")
                .value(name(reason))
                .endObject());
  }

  /** A loader recognised the Sample but produced no program. */
  public static WorkerException importFailed(String reason) {
    return reasoned("import_failed", "the sample could not be imported", reason);
  }

  /** No loader that the adapter trusts recognises the Sample. */
  public static WorkerException unsupportedTarget(List<String> loaders) {
    return unsupportedTarget("no supported loader recognises the sample", loaders, null);
  }

  /** A trusted loader recognises the Sample, and no processor language fits it. */
  public static WorkerException unsupportedProcessor(String format) {
    return unsupportedTarget("no processor language fits the sample", List.of(), name(format));
  }

  private static WorkerException unsupportedTarget(
      String message, List<String> loaders, String recognisedFormat) {
    return new WorkerException(
        "unsupported_target",
        message,
        out ->
            out.beginObject()
                .name("loaders")
                .strings(loaders.subList(0, Math.min(loaders.size(), Protocol.MAX_LISTED_ITEMS)))
                .name("recognised_format")
                .value(recognisedFormat)
                .endObject());
  }

  /** The best loader offers several targets and prefers none, or more than one. */
  public static WorkerException ambiguousTarget(Listing<? extends JsonPart> candidates) {
    return new WorkerException(
        "ambiguous_target",
        "the sample matches more than one target",
        out -> out.beginObject().name("candidates").value(candidates).endObject());
  }

  /** The Sample is an archive of other files. */
  public static WorkerException containerSample(String format, Listing<JsonPart> members) {
    return new WorkerException(
        "container_sample",
        "the sample is a container of other files",
        out ->
            out.beginObject()
                .name("format")
                .value(name(format))
                .name("members")
                .value(members)
                .endObject());
  }

  /** The native analysis time-out expired. */
  public static WorkerException analysisTimeout(int timeoutSeconds, String analyzer) {
    return new WorkerException(
        "analysis_timeout",
        "the analysis exceeded its time-out",
        out ->
            out.beginObject()
                .name("timeout_seconds")
                .value(timeoutSeconds)
                .name("analyzer")
                .value(analyzer)
                .endObject());
  }

  /** The analysis ended with an exception. */
  public static WorkerException analysisFailed(String exceptionClass, String reason) {
    return new WorkerException(
        "analysis_failed",
        "the analysis failed",
        out ->
            out.beginObject()
                .name("exception_class")
                .value(exceptionClass)
                .name("reason")
                .value(name(reason))
                .endObject());
  }

  /** The analysed program could not be read back from the project. */
  public static WorkerException saveFailed(String reason) {
    return reasoned("save_failed", "the analysis could not be saved", reason);
  }

  /** The project of a Query cannot be opened. */
  public static WorkerException projectUnusable(String reason) {
    return reasoned("project_unusable", "the stored project cannot be opened", reason);
  }

  /** No function matches the selector. */
  public static WorkerException functionNotFound() {
    return new WorkerException("function_not_found", "no function matches", NO_DETAILS);
  }

  /** Several functions match the selector. */
  public static WorkerException functionSelectorAmbiguous(Listing<? extends JsonPart> candidates) {
    return new WorkerException(
        "function_selector_ambiguous",
        "more than one function matches",
        out -> out.beginObject().name("candidates").value(candidates).endObject());
  }

  /** The address is not the entry of a function. */
  public static WorkerException functionEntryRequired(AddressValue containingEntry) {
    return new WorkerException(
        "function_entry_required",
        "the address is not the entry of a function",
        out -> out.beginObject().name("containing_entry").value(containingEntry).endObject());
  }

  /** The program has no address space of that name. */
  public static WorkerException addressSpaceNotFound(Listing<? extends JsonPart> spaces) {
    return new WorkerException(
        "address_space_not_found",
        "no such address space",
        out -> out.beginObject().name("spaces").value(spaces).endObject());
  }

  /** The function has no code that could be decompiled. */
  public static WorkerException functionNotDecompilable(AddressValue entry, String reason) {
    return atEntry("function_not_decompilable", "the function cannot be decompiled", entry, reason);
  }

  /** The decompiler time-out expired. */
  public static WorkerException decompileTimeout(int timeoutSeconds, AddressValue entry) {
    return new WorkerException(
        "decompile_timeout",
        "the decompilation exceeded its time-out",
        out ->
            out.beginObject()
                .name("timeout_seconds")
                .value(timeoutSeconds)
                .name("entry")
                .value(entry)
                .endObject());
  }

  /** The decompiler gave no text. */
  public static WorkerException decompileFailed(AddressValue entry, String reason) {
    return atEntry("decompile_failed", "the decompilation failed", entry, reason);
  }

  /** A facts file would exceed its limit. */
  public static WorkerException factsTooLarge(long limitBytes) {
    return new WorkerException(
        "facts_too_large",
        "the facts exceed their size limit",
        out -> out.beginObject().name("limit_bytes").value(limitBytes).endObject());
  }

  /** The response would exceed its limit. */
  public static WorkerException resultTooLarge(SizeLimitException cause) {
    return new WorkerException(
        "result_too_large",
        "the result exceeds its size limit",
        out ->
            out.beginObject()
                .name("limit_bytes")
                .value(cause.limitBytes())
                .name("observed_at_least_bytes")
                .value(cause.observedAtLeastBytes())
                .endObject());
  }

  private static WorkerException reasoned(String code, String message, String reason) {
    return new WorkerException(
        code, message, out -> out.beginObject().name("reason").value(name(reason)).endObject());
  }

  private static WorkerException atEntry(
      String code, String message, AddressValue entry, String reason) {
    return new WorkerException(
        code,
        message,
        out ->
            out.beginObject()
                .name("entry")
                .value(entry)
                .name("reason")
                .value(name(reason))
                .endObject());
  }

  private static String name(String text) {
    return Protocol.bounded(text, Protocol.MAX_TEXT_CHARS);
  }
}
