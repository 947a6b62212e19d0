package io.ghidr.adapter.ops;

import io.ghidr.adapter.ghidra.Decompiler;
import io.ghidr.adapter.ghidra.EngineSession;
import io.ghidr.adapter.ghidra.SavedProgram;
import io.ghidr.adapter.json.JsonPart;
import io.ghidr.adapter.protocol.AnswerFile;
import io.ghidr.adapter.protocol.FaultLog;
import io.ghidr.adapter.protocol.Queries;
import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import java.io.IOException;

/**
 * Answers Queries from an opened program, in their order; every failure is an answer. Faults of the
 * engine on the way are the answer's own, whoever made the Analysis: those of the opening belong to
 * every answer, those of one Query to no other.
 */
final class ProjectQueries {
  private final EngineSession session;
  private final FaultLog opening;
  private final Queries queries;
  private final AnswerFile answers;

  private ProjectQueries(
      EngineSession session, FaultLog opening, Queries queries, AnswerFile answers) {
    this.session = session;
    this.opening = opening;
    this.queries = queries;
    this.answers = answers;
  }

  /** Writes the answers and says what the response says about them. */
  static JsonPart answer(EngineSession session, SavedProgram saved, Queries queries)
      throws WorkerException {
    session.phases().begin("query");
    return writing(
        session,
        queries,
        answers -> new ProjectQueries(session, saved.faults(), queries, answers).answerAll(saved));
  }

  /** Writes that no answer can be given, because the project could not be opened. */
  static JsonPart refuse(EngineSession session, Throwable reason, Queries queries)
      throws WorkerException {
    WorkerException error = unusable(session, reason);
    return writing(
        session,
        queries,
        answers -> {
          while (answers.wantsMore()) {
            answers.fail(error);
          }
        });
  }

  private interface Writing {
    void to(AnswerFile answers) throws IOException;
  }

  private static JsonPart writing(EngineSession session, Queries queries, Writing writing)
      throws WorkerException {
    try (AnswerFile answers = new AnswerFile(queries)) {
      writing.to(answers);
      return answers.summary();
    } catch (IOException e) {
      e.printStackTrace(System.err);
      throw WorkerErrors.engineUnusable("answers", session.faults().scrub(e.toString()));
    }
  }

  private void answerAll(SavedProgram saved) throws IOException {
    try (Decompiler decompiler = new Decompiler(saved.program(), queries, session.phases())) {
      while (answers.wantsMore()) {
        answerNext(decompiler, session.record(opening.continued()));
      }
    } catch (RuntimeException e) {
      // Every answer is written; a decompiler that cannot be ended takes none of them back.
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
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      answers.fail(unusable(session, e));
      return;
    }
    answers.succeed(decompilation);
  }

  private static WorkerException unusable(EngineSession session, Throwable e) {
    e.printStackTrace(System.err);
    return WorkerErrors.projectUnusable(session.faults().scrub(String.valueOf(e.getMessage())));
  }
}
