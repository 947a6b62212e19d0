package io.ghidr.adapter.ghidra;

import ghidra.app.util.opinion.LoaderService;
import ghidra.util.ErrorLogger;
import ghidra.util.classfinder.ClassSearcher;
import io.ghidr.adapter.protocol.FaultLog;
import java.io.PrintStream;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Receives everything that Ghidra logs through its own logger.
 *
 * <p>Any throwable is a fault, at any level, also where one is passed as the message, unless it is
 * only the engine's way to find out what fits. The text goes to the diagnostics stream; it decides
 * nothing.
 */
final class EngineErrorLogger implements ErrorLogger {
  /**
   * What the engine tries things in, and says below the level of information that one did not fit.
   */
  private static final Set<String> TRYING =
      Set.of(LoaderService.class.getName(), ClassSearcher.class.getName());

  private final Supplier<FaultLog> faults;
  private final Supplier<String> runningAnalyzer;
  private final PrintStream diagnostics;

  EngineErrorLogger(
      Supplier<FaultLog> faults, Supplier<String> runningAnalyzer, PrintStream diagnostics) {
    this.faults = faults;
    this.runningAnalyzer = runningAnalyzer;
    this.diagnostics = diagnostics;
  }

  @Override
  public void trace(Object originator, Object message) {
    trace(originator, message, null);
  }

  @Override
  public void trace(Object originator, Object message, Throwable throwable) {
    log(null, originator, message, throwable);
  }

  @Override
  public void debug(Object originator, Object message) {
    debug(originator, message, null);
  }

  @Override
  public void debug(Object originator, Object message, Throwable throwable) {
    log(null, originator, message, throwable);
  }

  @Override
  public void info(Object originator, Object message) {
    info(originator, message, null);
  }

  @Override
  public void info(Object originator, Object message, Throwable throwable) {
    log("INFO", originator, message, throwable);
  }

  @Override
  public void warn(Object originator, Object message) {
    warn(originator, message, null);
  }

  @Override
  public void warn(Object originator, Object message, Throwable throwable) {
    log("WARN", originator, message, throwable);
  }

  @Override
  public void error(Object originator, Object message) {
    error(originator, message, null);
  }

  @Override
  public void error(Object originator, Object message, Throwable throwable) {
    log("ERROR", originator, message, throwable);
  }

  private void log(String level, Object originator, Object message, Throwable throwable) {
    Throwable fault = throwable == null && message instanceof Throwable t ? t : throwable;
    if (fault != null && level == null && engineTriesWhatMayNotFit()) {
      return;
    }
    if (fault != null) {
      faults.get().record(runningAnalyzer.get(), component(originator), fault);
    }
    if (fault == null && "ERROR".equals(level)) {
      faults.get().noteError(String.valueOf(message));
    }
    if (level != null || fault != null) {
      diagnostics.println((level == null ? "DEBUG" : level) + " " + message);
    }
    if (fault != null) {
      fault.printStackTrace(diagnostics);
    }
  }

  /**
   * Every loader is asked about every file, and every class with the name of an extension point is
   * loaded to see whether it is one, also those of libraries whose own libraries are not there. The
   * names that set-up prepares lack those, and a single jar never tries them.
   */
  private static boolean engineTriesWhatMayNotFit() {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(frame -> TRYING.contains(frame.getClassName())));
  }

  private static String component(Object originator) {
    if (originator instanceof Class<?> type) {
      return type.getName();
    }
    if (originator instanceof CharSequence) {
      return "unnamed";
    }
    return originator == null ? "unnamed" : originator.getClass().getName();
  }
}
