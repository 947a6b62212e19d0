package io.ghidr.adapter.ops;

import io.ghidr.adapter.Operation;
import io.ghidr.adapter.ghidra.EngineSession;
import io.ghidr.adapter.ghidra.SavedProgram;
import io.ghidr.adapter.json.Fields;
import io.ghidr.adapter.json.JsonException;
import io.ghidr.adapter.json.JsonPart;
import io.ghidr.adapter.protocol.GrantedPaths;
import io.ghidr.adapter.protocol.Outcome;
import io.ghidr.adapter.protocol.Phases;
import io.ghidr.adapter.protocol.Queries;
import io.ghidr.adapter.protocol.Request;
import io.ghidr.adapter.protocol.WorkerException;
import java.io.IOException;
import java.nio.file.Path;

/** {@code query}: answers Queries from a finished project, without changing it. */
public final class QueryOperation implements Operation {
  @Override
  public Outcome run(Request request, Phases phases, Interim interim)
      throws JsonException, WorkerException {
    Fields arguments = request.arguments();
    Path project = request.paths().take(arguments, "project_directory", GrantedPaths.Access.WRITE);
    Queries queries = Queries.from(arguments.object("queries"), request.paths(), request.limits());
    arguments.end();
    try (EngineSession session = EngineSession.start(request, phases)) {
      session.faults().hide(project.toString(), "<project>");
      return Outcome.queried(answers(session, project, queries));
    }
  }

  private static JsonPart answers(EngineSession session, Path project, Queries queries)
      throws WorkerException {
    session.phases().begin("open");
    SavedProgram saved;
    try {
      saved = SavedProgram.open(session, project);
    } catch (IOException | RuntimeException | LinkageError | StackOverflowError e) {
      return ProjectQueries.refuse(session, e, queries);
    }
    try (saved) {
      return ProjectQueries.answer(session, saved, queries);
    }
  }
}
