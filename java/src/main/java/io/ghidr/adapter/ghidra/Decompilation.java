package io.ghidr.adapter.ghidra;

import ghidra.app.decompiler.DecompInterface;
import ghidra.app.decompiler.DecompileOptions;
import ghidra.app.decompiler.DecompileResults;
import ghidra.app.decompiler.DecompiledFunction;
import ghidra.program.model.listing.Function;
import ghidra.program.model.listing.Program;
import ghidra.util.task.TaskMonitor;
import io.ghidr.adapter.json.JsonPart;
import io.ghidr.adapter.protocol.AddressValue;
import io.ghidr.adapter.protocol.FaultLog;
import io.ghidr.adapter.protocol.QueryRequest;
import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Decompiles one function of an open program.
 *
 * <p>The text is Ghidra's, with line ends normalised to LF and nothing else changed. A time-out or
 * a failure never gives text. The native process is ended in every case.
 */
public final class Decompilation {
  private Decompilation() {}

  /** The outcome of a Query: the decompilation and the engine's faults on the way, or the error. */
  public static JsonPart of(Program program, QueryRequest request, FaultLog faults)
      throws WorkerException {
    Function function = FunctionSelection.resolve(program, request.selector());
    AddressValue entry = Addresses.value(function.getEntryPoint());
    if (!FunctionTable.decompilable(function)) {
      String reason = function.isExternal() ? "external" : "no_instructions";
      throw WorkerErrors.functionNotDecompilable(entry, reason);
    }
    DecompInterface decompiler = new DecompInterface();
    try {
      DecompileOptions options = new DecompileOptions();
      options.grabFromProgram(program);
      decompiler.setOptions(options);
      if (!decompiler.openProgram(program)) {
        EngineParts.requireNativeDecompiler();
        throw WorkerErrors.decompileFailed(entry, decompiler.getLastMessage());
      }
      return decompile(decompiler, function, entry, request.timeoutSeconds(), faults);
    } finally {
      decompiler.dispose();
    }
  }

  private static JsonPart decompile(
      DecompInterface decompiler,
      Function function,
      AddressValue entry,
      int timeoutSeconds,
      FaultLog faults)
      throws WorkerException {
    long started = System.nanoTime();
    DecompileResults results;
    NativeDeadline deadline = NativeDeadline.after(timeoutSeconds);
    try {
      results = decompiler.decompileFunction(function, timeoutSeconds, TaskMonitor.DUMMY);
    } finally {
      deadline.stop();
    }
    if (results == null) {
      throw WorkerErrors.decompileFailed(entry, "the decompiler gave no result");
    }
    boolean expired = System.nanoTime() - started >= TimeUnit.SECONDS.toNanos(timeoutSeconds);
    // Ghidra 10.3 never says that a result timed out, and 12.1.2 may say "cancelled" instead while
    // its timer is still at work. A function without a result after that time is a time-out.
    if (results.isTimedOut() || (expired && !results.decompileCompleted())) {
      throw WorkerErrors.decompileTimeout(timeoutSeconds, entry);
    }
    DecompiledFunction decompiled = results.getDecompiledFunction();
    String text = decompiled == null ? null : decompiled.getC();
    if (!results.decompileCompleted() || text == null || text.isEmpty()) {
      throw WorkerErrors.decompileFailed(entry, results.getErrorMessage());
    }
    String withLineFeeds = LineEnds.toLineFeeds(text);
    List<String> warnings = MarkupWarnings.of(results.getCCodeMarkup());
    JsonPart identity = FunctionTable.row(function).identity();
    return out -> {
      out.beginObject().name("status").value("decompiled");
      out.name("decompilation").beginObject();
      out.name("function").value(identity);
      out.name("text").value(withLineFeeds);
      out.name("warnings").strings(warnings);
      out.name("faults").value(faults);
      out.endObject().endObject();
    };
  }
}
