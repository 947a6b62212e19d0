package io.ghidr.adapter.ghidra;

import ghidra.app.plugin.core.analysis.AutoAnalysisManager;
import ghidra.app.plugin.core.analysis.StoredAnalyzerTimes;
import ghidra.app.services.Analyzer;
import ghidra.app.util.importer.MessageLog;
import ghidra.framework.options.OptionType;
import ghidra.framework.options.Options;
import ghidra.program.model.listing.Program;
import io.ghidr.adapter.protocol.AnalyzerRun;
import io.ghidr.adapter.protocol.FaultLog;
import io.ghidr.adapter.protocol.LoggedException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Follows the analyzers of one analysis: which are enabled, which ran for how long, which failed.
 *
 * <p>Also turns exceptions that analyzers only leave in the analysis message log, which nobody
 * prints in a headless run, into faults.
 */
final class AnalyzerRuns {
  private final Program program;
  private final FaultLog faults;
  private final AutoAnalysisManager manager;
  private final Map<String, Boolean> enabled = new TreeMap<>();
  private final Map<String, String> nameOfClass = new HashMap<>();

  /** Begins before the analysis of {@code program}. */
  AnalyzerRuns(Program program, FaultLog faults) {
    this.program = program;
    this.faults = faults;
    manager = AutoAnalysisManager.getAnalysisManager(program);
    Options options = program.getOptions(Program.ANALYSIS_PROPERTIES);
    for (String name : options.getOptionNames()) {
      Analyzer analyzer =
          options.getType(name) == OptionType.BOOLEAN_TYPE ? manager.getAnalyzer(name) : null;
      if (analyzer != null) {
        enabled.put(name, options.getBoolean(name, false));
        nameOfClass.put(analyzer.getClass().getName(), name);
      }
    }
    VersionDifferences.onAnalysisEnd(manager, this::readMessages);
  }

  /** What became of every analyzer, sorted. */
  List<AnalyzerRun> result() {
    Map<String, Long> times = times();
    Set<String> failed = faults.failedAnalyzers();
    List<AnalyzerRun> runs = new ArrayList<>();
    enabled.forEach(
        (name, isEnabled) -> {
          Long time = times.get(name);
          String status = failed.contains(name) ? "failed" : time == null ? "not_run" : "completed";
          runs.add(new AnalyzerRun(name, isEnabled, status, time == null ? 0 : time));
        });
    runs.sort(null);
    return runs;
  }

  private Map<String, Long> times() {
    StoredAnalyzerTimes stored = StoredAnalyzerTimes.getStoredAnalyzerTimes(program);
    Map<String, Long> times = new HashMap<>();
    for (String task : stored.getTaskNames()) {
      times.merge(RunningAnalyzer.baseName(task), stored.getTime(task), Long::sum);
    }
    return times;
  }

  private void readMessages() {
    MessageLog log = manager.getMessageLog();
    for (LoggedException exception : LoggedException.parse(log.toString())) {
      String analyzer =
          exception.classes().stream()
              .map(nameOfClass::get)
              .filter(name -> name != null)
              .findFirst()
              .orElse(null);
      faults.record(analyzer, "analysis message log", exception.type(), exception.message());
    }
  }
}
