package io.ghidr.adapter.ghidra;

import ghidra.base.project.GhidraProject;
import ghidra.program.model.listing.Program;
import io.ghidr.adapter.protocol.Protocol;
import java.io.IOException;
import java.nio.file.Path;

/** The program of a finished project, opened for reading. Nothing is ever saved through it. */
public final class SavedProgram implements AutoCloseable {
  private final GhidraProject project;
  private final Program program;

  private SavedProgram(GhidraProject project, Program program) {
    this.project = project;
    this.program = program;
  }

  /** Opens the program of the project below {@code directory}. */
  public static SavedProgram open(Path directory) throws IOException {
    GhidraProject project = openProject(directory);
    try {
      Program program = project.openProgram("/", Protocol.PROGRAM_NAME, true);
      if (program == null) {
        throw new IOException("the project holds no program of the expected name");
      }
      return new SavedProgram(project, program);
    } catch (IOException | RuntimeException e) {
      project.close();
      throw e;
    }
  }

  /** The opened program. */
  public Program program() {
    return program;
  }

  @Override
  public void close() {
    project.close(program);
    project.close();
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
