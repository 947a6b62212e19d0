package io.ghidr.adapter.ghidra;

import ghidra.program.model.listing.Program;
import ghidra.program.model.mem.MemoryBlock;
import io.ghidr.adapter.protocol.AnalyzerRun;
import io.ghidr.adapter.protocol.OptionValue;
import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import io.ghidr.adapter.sample.HeaderExtents;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One import and analysis, seen from the two script hooks.
 *
 * <p>The engine reports failures to its log only. Success is what this class saw: both hooks were
 * called, in order, without a time-out and without a failure of their own.
 */
final class AnalysisRun implements ScriptHooks.Listener {
  /** What the engine puts in front of what it wants to be noticed. */
  private static final String REPORT = "^REPORT: (Error: )?";

  private final EngineSession session;
  private final ResolvedTarget target;
  private final AnalysisRequest request;
  private AnalyzerRuns runs;
  private List<OptionValue> analyzerOptions;
  private AnalysisReport report;
  private WorkerException failure;

  AnalysisRun(EngineSession session, ResolvedTarget target, AnalysisRequest request) {
    this.session = session;
    this.target = target;
    this.request = request;
  }

  @Override
  public boolean beforeAnalysis(Program program) {
    return guarded(
        () -> {
          requireTarget(program);
          runs = new AnalyzerRuns(program, session.faults());
          analyzerOptions = AnalyzerOptions.of(program);
          session.runningAnalyzer().watch(program);
          session.phases().begin("analysis");
        });
  }

  @Override
  public boolean afterAnalysis(Program program, boolean timedOut) {
    session.runningAnalyzer().unwatch();
    return guarded(
        () -> {
          if (timedOut) {
            throw WorkerErrors.analysisTimeout(
                request.timeoutSeconds(), session.runningAnalyzer().lastTask());
          }
          session.phases().begin("facts");
          report = reportOn(program);
          session.phases().begin("save");
        });
  }

  /** The report, once the engine has returned; throws what went wrong instead. */
  AnalysisReport report() throws WorkerException {
    if (failure != null) {
      throw failure;
    }
    String fault = session.faults().summary();
    if (runs == null) {
      throw WorkerErrors.importFailed(fault == null ? loggedReason() : fault);
    }
    if (report == null) {
      throw WorkerErrors.analysisFailed(
          "", fault == null ? "the engine ended the analysis early" : fault);
    }
    return report;
  }

  /** The engine drops the exception of a loader that gives up, and logs why in its own words. */
  private String loggedReason() {
    String logged = session.faults().firstError();
    return logged == null ? "the loader produced no program" : logged.replaceFirst(REPORT, "");
  }

  private AnalysisReport reportOn(Program program) throws WorkerException, IOException {
    FunctionTable table = new FunctionTable(program);
    ProgramFacts facts =
        ProgramFacts.publish(program, table, request.factsDirectory(), request.maxFactsBytes());
    List<AnalyzerRun> analyzers = runs.result();
    return new AnalysisReport(
        target,
        program.getExecutableFormat(),
        analyzerOptions,
        analyzers,
        session.faults(),
        suspicions(program, table.memorySize()),
        ProgramCounts.of(program, table),
        facts);
  }

  private List<String> suspicions(Program program, long memoryFunctions) throws IOException {
    List<String> suspicions = new ArrayList<>();
    if (HeaderExtents.pastEndOfFile(request.sample())) {
      suspicions.add("headers_past_end_of_file");
    }
    boolean executable =
        Arrays.stream(program.getMemory().getBlocks()).anyMatch(MemoryBlock::isExecute);
    if (executable && memoryFunctions == 0) {
      suspicions.add("no_function_in_executable_program");
    }
    return suspicions;
  }

  /** The engine chose its target by itself; it must be the one that was checked. */
  private void requireTarget(Program program) throws WorkerException {
    String language = program.getLanguageID().getIdAsString();
    String compiler = program.getCompilerSpec().getCompilerSpecID().getIdAsString();
    if (!language.equals(target.language()) || !compiler.equals(target.compiler())) {
      throw WorkerErrors.importFailed(
          "the engine loaded " + language + ":" + compiler + " instead of the target it offered");
    }
  }

  private interface Step {
    void run() throws WorkerException, IOException;
  }

  private boolean guarded(Step step) {
    try {
      step.run();
      return true;
    } catch (WorkerException e) {
      failure = e;
    } catch (IOException | RuntimeException | LinkageError e) {
      e.printStackTrace(System.err);
      String reason = session.faults().scrub(e.getMessage());
      failure = WorkerErrors.analysisFailed(e.getClass().getName(), reason);
    }
    return false;
  }
}
