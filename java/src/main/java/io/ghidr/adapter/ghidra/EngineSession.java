package io.ghidr.adapter.ghidra;

import ghidra.GhidraApplicationLayout;
import ghidra.GhidraJarApplicationLayout;
import ghidra.framework.Application;
import ghidra.util.Msg;
import io.ghidr.adapter.protocol.EngineLocation;
import io.ghidr.adapter.protocol.FaultLog;
import io.ghidr.adapter.protocol.Phases;
import io.ghidr.adapter.protocol.ProgressFile;
import io.ghidr.adapter.protocol.Request;
import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;

/**
 * The booted engine of this process, with its fault log and progress. A worker has one. Ghidra's
 * application is a singleton that is never torn down, so a process with several sessions, one after
 * another, boots the engine with the first.
 */
public final class EngineSession implements AutoCloseable {
  private volatile FaultLog faults = new FaultLog();
  private final RunningAnalyzer runningAnalyzer = new RunningAnalyzer();
  private volatile String shown;
  private final EngineLocation engine;
  private final ProgressFile progress;
  private final Phases phases;

  private EngineSession(Request request, Phases phases) {
    this.phases = phases;
    engine = request.engine();
    progress = new ProgressFile(request.progressPath(), phases::current, this::step);
  }

  /**
   * Boots the engine. The number of processors is fixed first, because Ghidra sizes its thread
   * pools when their classes are loaded, and an upper limit alone would depend on the host.
   */
  public static EngineSession start(Request request, Phases phases) throws WorkerException {
    phases.begin("application");
    System.setProperty("cpu.core.override", Integer.toString(request.limits().maxCpu()));
    EngineSession session = new EngineSession(request, phases);
    session.hideDirectories(request);
    session.boot();
    return session;
  }

  /** Which engine this is. */
  public EngineIdentity identity() {
    return EngineIdentity.current();
  }

  /** What this process spends its time on. */
  public Phases phases() {
    return phases;
  }

  /** Lets faults from here on be recorded in {@code log}, and in no other. */
  public FaultLog record(FaultLog log) {
    faults = log;
    return log;
  }

  /** What the progress says besides the phase, until it is told something else. */
  public void show(String step) {
    shown = step;
  }

  /** The log in which faults of the engine are recorded. */
  public FaultLog faults() {
    return faults;
  }

  /** The analyzer that is running. */
  public RunningAnalyzer runningAnalyzer() {
    return runningAnalyzer;
  }

  /** Throws when files that the engine copied out of its jar are not what they were in the jar. */
  void requireCompleteEngine() throws WorkerException {
    if (engine.singleJar()) {
      File settings = Application.getUserSettingsDirectory();
      UnpackedFiles.verify(engine.path(), new File(settings, UnpackedFiles.DIRECTORY));
    }
  }

  @Override
  public void close() {
    progress.close();
  }

  private String step() {
    String step = shown;
    return step == null ? runningAnalyzer.task() : step;
  }

  private void hideDirectories(Request request) {
    faults.hide(request.engine().path().toString(), "<engine>");
    faults.hide(System.getProperty("user.home"), "<home>");
    faults.hide(System.getProperty("java.io.tmpdir"), "<temp>");
  }

  private void boot() throws WorkerException {
    PrintStream diagnostics = System.err;
    Msg.setErrorLogger(new EngineErrorLogger(this::faults, runningAnalyzer::analyzer, diagnostics));
    LogFaults.install(this::faults, runningAnalyzer::analyzer, diagnostics);
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, throwable) ->
            Msg.error(EngineSession.class, "uncaught in " + thread.getName(), throwable));
    if (!Application.isInitialized()) {
      initialize(diagnostics);
    }
    Msg.setErrorDisplay(new EngineErrorDisplay());
  }

  private void initialize(PrintStream diagnostics) throws WorkerException {
    try {
      GhidraApplicationLayout layout =
          engine.singleJar()
              ? new GhidraJarApplicationLayout()
              : new InstallationLayout(engine.path().toFile());
      EngineConfiguration configuration =
          engine.singleJar() ? new EngineConfiguration(phases) : new ExtensionPointNames(phases);
      Application.initializeApplication(layout, configuration);
    } catch (IOException | RuntimeException | LinkageError e) {
      e.printStackTrace(diagnostics);
      throw WorkerErrors.engineUnusable("application", faults.scrub(e.toString()));
    }
  }
}
