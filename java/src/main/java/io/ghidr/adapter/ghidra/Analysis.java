package io.ghidr.adapter.ghidra;

import ghidra.app.util.headless.HeadlessAnalyzer;
import ghidra.app.util.headless.HeadlessOptions;
import io.ghidr.adapter.protocol.Protocol;
import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import java.io.IOException;
import java.util.List;

/** Imports, analyses and saves one Sample through Ghidra's headless analyzer, and reads it back. */
public final class Analysis {
  private static final String SCRIPTS = "io.ghidr.adapter.scripts.";

  private Analysis() {}

  /** Does all of it, or throws; a project directory left behind by a failure must not be used. */
  public static AnalysisReport create(EngineSession session, AnalysisRequest request)
      throws WorkerException {
    EngineParts.require();
    session.faults().hide(request.sample().toString(), "<sample>");
    session.faults().hide(request.projectDirectory().toString(), "<project>");
    session.faults().hide(request.factsDirectory().toString(), "<facts>");
    session.phases().begin("import");
    session.faults().ignore(true);
    ResolvedTarget target = TargetGate.resolve(request.sample());
    session.faults().ignore(false);
    AnalysisRun run = new AnalysisRun(session, target, request);
    ScriptHooks.listen(run);
    try {
      HeadlessAnalyzer analyzer = HeadlessAnalyzer.getInstance();
      configure(analyzer.getOptions(), request);
      analyzer.processLocal(
          request.projectDirectory().toString(),
          Protocol.PROJECT_NAME,
          "/",
          List.of(request.sample().toFile()));
    } catch (IOException | RuntimeException e) {
      e.printStackTrace(System.err);
      throw WorkerErrors.analysisFailed(
          e.getClass().getName(), session.faults().scrub(e.getMessage()));
    }
    AnalysisReport report = run.report();
    session.requireCompleteEngine();
    return report;
  }

  private static void configure(HeadlessOptions options, AnalysisRequest request) {
    options.enableAnalysis(true);
    options.enableOverwriteOnConflict(false);
    options.enableRecursiveProcessing(false);
    options.setMaxCpu(request.maxCpu());
    options.setPerFileAnalysisTimeout(request.timeoutSeconds());
    options.setPreScripts(List.of(SCRIPTS + "BeforeAnalysis.class"));
    options.setPostScripts(List.of(SCRIPTS + "AfterAnalysis.class"));
  }

  /**
   * Opens what was saved: the engine reports a failed save as information only. Faults on the way
   * are the Analysis's too.
   */
  public static SavedProgram reopen(
      EngineSession session, AnalysisRequest request, AnalysisReport report)
      throws WorkerException {
    SavedProgram saved;
    try {
      saved = SavedProgram.open(session, request.projectDirectory());
    } catch (IOException e) {
      throw WorkerErrors.saveFailed(session.faults().scrub(e.getMessage()));
    }
    session.record(report.faults()).include(saved.faults());
    long functions = report.counts().functions();
    long found = FunctionTable.count(saved.program());
    if (found != functions) {
      saved.close();
      throw WorkerErrors.saveFailed(
          "the saved program has " + found + " functions instead of " + functions);
    }
    return saved;
  }
}
