package io.ghidr.adapter.ghidra;

import ghidra.app.plugin.core.analysis.AutoAnalysisManager;
import ghidra.framework.cmd.Command;
import ghidra.program.model.listing.Program;
import java.lang.reflect.Field;
import java.util.List;

/**
 * Knows which analyzer is running.
 *
 * <p>Ghidra tells nobody, so the two private fields that hold the task are read; they are the same
 * in every supported version. When they cannot be read, no analyzer is named and faults count as
 * faults of the engine.
 */
public final class RunningAnalyzer {
  /** The private members that are read by reflection. */
  public static final List<String> REFLECTED =
      List.of(
          "ghidra/app/plugin/core/analysis/AutoAnalysisManager.activeTask",
          "ghidra/app/plugin/core/analysis/AutoAnalysisManager$AnalysisTaskWrapper.task");

  /** What Ghidra appends to the name of an analyzer that is scheduled for one run. */
  private static final String ONE_TIME_SUFFIX = " - One Time";

  private volatile AutoAnalysisManager manager;
  private volatile String lastTask;

  /** Starts watching the analysis of {@code program}. */
  public void watch(Program program) {
    manager = AutoAnalysisManager.getAnalysisManager(program);
  }

  /** Stops watching. */
  public void unwatch() {
    manager = null;
  }

  /** Name of the running analyzer, or null when another task is running, or none. */
  public String analyzer() {
    AutoAnalysisManager watched = manager;
    String task = task();
    return watched == null || task == null || watched.getAnalyzer(task) == null ? null : task;
  }

  /** Name of the running task, which is an analyzer or a command scheduled by one; or null. */
  public String task() {
    AutoAnalysisManager watched = manager;
    if (watched == null) {
      return null;
    }
    try {
      Object active = read(AutoAnalysisManager.class, watched, "activeTask");
      if (active == null) {
        return null;
      }
      Object task = read(active.getClass(), active, "task");
      if (task instanceof Command command) {
        lastTask = baseName(command.getName());
        return lastTask;
      }
      return null;
    } catch (ReflectiveOperationException | RuntimeException e) {
      return null;
    }
  }

  /** The last task that {@link #task} saw running, or null. */
  public String lastTask() {
    return lastTask;
  }

  /** The analyzer behind a task name. */
  static String baseName(String task) {
    return task.endsWith(ONE_TIME_SUFFIX)
        ? task.substring(0, task.length() - ONE_TIME_SUFFIX.length())
        : task;
  }

  private static Object read(Class<?> type, Object owner, String field)
      throws ReflectiveOperationException {
    Field member = type.getDeclaredField(field);
    member.setAccessible(true);
    return member.get(owner);
  }
}
