package io.ghidr.adapter.ghidra;

import ghidra.base.project.GhidraProject;
import ghidra.framework.model.DomainFile;
import ghidra.program.model.listing.Program;
import ghidra.util.exception.CancelledException;
import ghidra.util.exception.VersionException;
import ghidra.util.task.TaskMonitor;
import io.ghidr.adapter.protocol.FaultLog;
import io.ghidr.adapter.protocol.Protocol;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The program of a finished project, opened for reading. Nothing is ever saved through it.
 *
 * <p>The project's own way to open a program also makes every analyzer ready to work on it, which
 * takes longer than all the rest of opening and which no reader needs.
 */
public final class SavedProgram implements AutoCloseable {
  private final GhidraProject project;
  private final Program program;
  private final FaultLog faults;

  private SavedProgram(GhidraProject project, Program program, FaultLog faults) {
    this.project = project;
    this.program = program;
    this.faults = faults;
  }

  /** Opens the program of the project below {@code directory}, and begins a log of faults. */
  public static SavedProgram open(EngineSession session, Path directory) throws IOException {
    FaultLog faults = session.record(session.faults().successor());
    long started = System.nanoTime();
    GhidraProject project = openProject(directory);
    session.phases().countApart("project", System.nanoTime() - started);
    try {
      DomainFile file = project.getProjectData().getFile("/" + Protocol.PROGRAM_NAME);
      if (file == null) {
        throw new IOException("the project holds no program of the expected name");
      }
      return new SavedProgram(project, read(file, project), faults);
    } catch (IOException | RuntimeException e) {
      project.close();
      throw e;
    }
  }

  /** The opened program. */
  public Program program() {
    return program;
  }

  /** Faults of the engine while it was opened. */
  public FaultLog faults() {
    return faults;
  }

  /** Nothing is lost by a project that cannot be closed, and so it fails nothing. */
  @Override
  public void close() {
    try {
      program.release(project);
      project.close();
    } catch (RuntimeException e) {
      e.printStackTrace(System.err);
    }
  }

  private static Program read(DomainFile file, Object consumer) throws IOException {
    try {
      return (Program)
          file.getReadOnlyDomainObject(consumer, DomainFile.DEFAULT_VERSION, TaskMonitor.DUMMY);
    } catch (VersionException | CancelledException | ClassCastException e) {
      throw new IOException(e.toString(), e);
    }
  }

  /** Later versions declare more checked exceptions than the one that this is compiled against. */
  private static GhidraProject openProject(Path directory) throws IOException {
    try {
      return GhidraProject.openProject(directory.toString(), Protocol.PROJECT_NAME, true);
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException(e.toString(), e);
    }
  }
}
