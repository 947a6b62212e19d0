package io.ghidr.adapter.ghidra;

import io.ghidr.adapter.protocol.FaultLog;
import java.io.PrintStream;
import java.util.List;
import java.util.function.Supplier;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;

/** Sees the throwables of engine code that bypasses Ghidra's logger and uses log4j directly. */
final class LogFaults extends AbstractAppender {
  private final Supplier<FaultLog> faults;
  private final Supplier<String> runningAnalyzer;
  private final PrintStream diagnostics;

  private LogFaults(
      Supplier<FaultLog> faults, Supplier<String> runningAnalyzer, PrintStream diagnostics) {
    super("ghidr", null, null, true, Property.EMPTY_ARRAY);
    this.faults = faults;
    this.runningAnalyzer = runningAnalyzer;
    this.diagnostics = diagnostics;
  }

  /** Replaces the appenders of the root logger, which by default print to standard output. */
  static void install(
      Supplier<FaultLog> faults, Supplier<String> runningAnalyzer, PrintStream diagnostics) {
    if (LogManager.getContext(false) instanceof LoggerContext context) {
      LoggerConfig root = context.getConfiguration().getRootLogger();
      for (String name : List.copyOf(root.getAppenders().keySet())) {
        root.removeAppender(name);
      }
      LogFaults appender = new LogFaults(faults, runningAnalyzer, diagnostics);
      appender.start();
      root.addAppender(appender, Level.WARN, null);
      root.setLevel(Level.WARN);
      context.updateLoggers();
    }
  }

  @Override
  public void append(LogEvent event) {
    Throwable fault = event.getThrown();
    diagnostics.println(event.getLevel() + " " + event.getMessage().getFormattedMessage());
    if (fault != null) {
      faults.get().record(runningAnalyzer.get(), event.getLoggerName(), fault);
      fault.printStackTrace(diagnostics);
    }
  }
}
