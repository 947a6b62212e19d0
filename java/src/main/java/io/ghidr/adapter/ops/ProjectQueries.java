package io.ghidr.adapter.ops;

import io.ghidr.adapter.ghidra.Decompiler;
import io.ghidr.adapter.ghidra.EngineSession;
import io.ghidr.adapter.ghidra.SavedProgram;
import io.ghidr.adapter.json.JsonPart;
import io.ghidr.adapter.protocol.AnswerFile;
import io.ghidr.adapter.protocol.FaultLog;
import io.ghidr.adapter.protocol.Phases;
import io.ghidr.adapter.protocol.Queries;
import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Opens a project once and answers Queries from its program, in their order; every failure is an
 * answer. Faults of the engine on the way are the answer's own, whoever made the Analysis: those of
 * the opening belong to every answer, those of one Query to no other.
 */
final class ProjectQueries {
  private final EngineSession session;
  private final Path projectDirectory;
  private final Queries queries;
  private final AnswerFile answers;

  private ProjectQueries(
      EngineSession session, Path projectDirectory, Queries queries, AnswerFile answers) {
    this.session = session;
    this.projectDirectory = projectDirectory;
    this.queries = queries;
    this.answers = answers;
  }

  /** Writes the answers and says what the response says about them. */
  static JsonPart answer(
      EngineSession session, Path projectDirectory, Queries queries, Phases phases)
      throws WorkerException {
    try (AnswerFile answers = new AnswerFile(queries)) {
      new ProjectQueries(session, projectDirectory, queries, answers).answerAll(phases);
      return answers.summary();
    } catch (IOException e) {
      e.printStackTrace(System.err);
      throw WorkerErrors.engineUnusable("answers", session.faults().scrub(e.toString()));
    }
  }

  private void answerAll(Phases phases) throws IOException {
    FaultLog opening = session.beginFaults();
    phases.begin("open");
    SavedProgram saved;
    try {
      saved = SavedProgram.open(projectDirectory);
    } catch (IOException | RuntimeException e) {
      WorkerException error = unusable(e);
      while (answers.wantsMore()) {
        answers.fail(error);
      }
      return;
    }
    phases.begin("query");
    try (saved;
        Decompiler decompiler =
            new Decompiler(saved.program(), queries.decompileTimeoutSeconds())) {
      while (answers.wantsMore()) {
        answerNext(decompiler, session.continueFaults(opening));
      }
    } catch (RuntimeException e) {
      // Every answer is written; a project that cannot be closed takes none of them back.
      e.printStackTrace(System.err);
    }
  }

  private void answerNext(Decompiler decompiler, FaultLog faults) throws IOException {
    int index = answers.count();
    int total = queries.selectors().size();
    if (total > 1) {
      session.show("decompiling " + (index + 1) + " of " + total);
    }
    JsonPart decompilation;
    try {
      decompilation = decompiler.decompile(queries.selectors().get(index), faults);
    } catch (WorkerException e) {
      answers.fail(e);
      return;
    } catch (RuntimeException e) {
      answers.fail(unusable(e));
      return;
    }
    answers.succeed(decompilation);
  }

  private WorkerException unusable(Exception e) {
    e.printStackTrace(System.err);
    String reason = String.valueOf(e.getMessage());
    return WorkerErrors.projectUnusable(reason.replace(projectDirectory.toString(), "<project>"));
  }
}
