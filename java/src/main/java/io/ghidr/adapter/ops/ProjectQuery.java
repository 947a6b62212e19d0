package io.ghidr.adapter.ops;

import io.ghidr.adapter.ghidra.Decompilation;
import io.ghidr.adapter.ghidra.EngineSession;
import io.ghidr.adapter.ghidra.SavedProgram;
import io.ghidr.adapter.json.JsonPart;
import io.ghidr.adapter.protocol.FaultLog;
import io.ghidr.adapter.protocol.Outcome;
import io.ghidr.adapter.protocol.Phases;
import io.ghidr.adapter.protocol.QueryRequest;
import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Opens a project and answers one Query from its program; every failure is an answer. Faults of the
 * engine on the way are the answer's own, whoever made the Analysis.
 */
final class ProjectQuery {
  private ProjectQuery() {}

  static JsonPart answer(
      EngineSession session, Path projectDirectory, QueryRequest query, Phases phases) {
    FaultLog faults = session.beginFaults();
    phases.begin("open");
    try (SavedProgram saved = SavedProgram.open(projectDirectory)) {
      phases.begin("query");
      return Decompilation.of(saved.program(), query, faults);
    } catch (WorkerException e) {
      return Outcome.failure(e);
    } catch (IOException | RuntimeException e) {
      e.printStackTrace(System.err);
      String reason = String.valueOf(e.getMessage());
      return Outcome.failure(
          WorkerErrors.projectUnusable(reason.replace(projectDirectory.toString(), "<project>")));
    }
  }
}
