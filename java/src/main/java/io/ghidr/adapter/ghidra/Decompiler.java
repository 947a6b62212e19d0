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
import io.ghidr.adapter.protocol.Phases;
import io.ghidr.adapter.protocol.Queries;
import io.ghidr.adapter.protocol.Selector;
import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Decompiles functions of an open program, one after another, with one native process.
 *
 * <p>The text is Ghidra's, with line ends normalised to LF and nothing else changed. A time-out or
 * a failure never gives text. What the native process remembers of one function is gone before the
 * next, and a process that died is replaced, so that no answer depends on the ones before it. The
 * native process is ended with this.
 */
public final class Decompiler implements AutoCloseable {
  private final Program program;
  private final FunctionSelection functions;
  private final int timeoutSeconds;
  private final Phases phases;
  private DecompInterface process;

  /** For the functions of {@code program} that {@code queries} ask for. */
  public Decompiler(Program program, Queries queries, Phases phases) {
    this.phases = phases;
    this.program = program;
    functions = new FunctionSelection(program, queries.selectors());
    timeoutSeconds = queries.decompileTimeoutSeconds();
  }

  /** The decompilation of one function, with the engine's faults on the way. */
  public JsonPart decompile(Selector selector, FaultLog faults) throws WorkerException {
    Function function = functions.resolve(selector);
    AddressValue entry = Addresses.value(function.getEntryPoint());
    if (!FunctionTable.decompilable(function)) {
      String reason = function.isExternal() ? "external" : "no_instructions";
      throw WorkerErrors.functionNotDecompilable(entry, reason);
    }
    try {
      if (process == null) {
        process = start(entry);
      }
      return decompile(function, entry, faults);
    } catch (RuntimeException | StackOverflowError | LinkageError e) {
      // Markup of a hostile function can be deeper than any stack; it is that function's failure.
      e.printStackTrace(System.err);
      close();
      process = null;
      throw WorkerErrors.decompileFailed(entry, faults.scrub(e.toString()));
    }
  }

  @Override
  public void close() {
    if (process != null) {
      process.dispose();
    }
  }

  private DecompInterface start(AddressValue entry) throws WorkerException {
    DecompInterface started = new DecompInterface();
    DecompileOptions options = new DecompileOptions();
    options.grabFromProgram(program);
    started.setOptions(options);
    if (!started.openProgram(program)) {
      String message = started.getLastMessage();
      started.dispose();
      EngineParts.requireNativeDecompiler();
      throw WorkerErrors.decompileFailed(entry, message);
    }
    return started;
  }

  private JsonPart decompile(Function function, AddressValue entry, FaultLog faults)
      throws WorkerException {
    long started = System.nanoTime();
    DecompileResults results;
    NativeDeadline deadline = NativeDeadline.after(timeoutSeconds);
    try {
      results = process.decompileFunction(function, timeoutSeconds, TaskMonitor.DUMMY);
    } finally {
      deadline.stop();
      phases.countApart("decompiler", System.nanoTime() - started);
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
    // What is logged from now on belongs to nobody: a part is written more than once, and each time
    // the same.
    FaultLog seen = faults.continued();
    return out -> {
      out.beginObject();
      out.name("function").value(identity);
      out.name("text").value(withLineFeeds);
      out.name("warnings").strings(warnings);
      out.name("faults").value(seen);
      out.endObject();
    };
  }
}
