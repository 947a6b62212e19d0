package io.ghidr.adapter.ops;

import io.ghidr.adapter.Operation;
import io.ghidr.adapter.ghidra.Analysis;
import io.ghidr.adapter.ghidra.AnalysisReport;
import io.ghidr.adapter.ghidra.AnalysisRequest;
import io.ghidr.adapter.ghidra.EngineSession;
import io.ghidr.adapter.ghidra.SavedProgram;
import io.ghidr.adapter.json.Fields;
import io.ghidr.adapter.json.JsonException;
import io.ghidr.adapter.json.JsonPart;
import io.ghidr.adapter.protocol.GrantedPaths;
import io.ghidr.adapter.protocol.Limits;
import io.ghidr.adapter.protocol.Outcome;
import io.ghidr.adapter.protocol.Phases;
import io.ghidr.adapter.protocol.Queries;
import io.ghidr.adapter.protocol.Request;
import io.ghidr.adapter.protocol.WorkerException;

/**
 * {@code analyze}: makes an Analysis and its facts, opens what was saved as a later reader would,
 * and answers Queries, if there are any, from that. A Query that fails leaves the Analysis valid,
 * and so does one that kills this process: what was saved is published before the first.
 */
public final class AnalyzeOperation implements Operation {
  @Override
  public Outcome run(Request request, Phases phases, Interim interim)
      throws JsonException, WorkerException {
    Fields arguments = request.arguments();
    GrantedPaths paths = request.paths();
    Limits limits = request.limits();
    AnalysisRequest analysisRequest =
        new AnalysisRequest(
            paths.take(arguments, "sample_path", GrantedPaths.Access.READ),
            paths.take(arguments, "project_directory", GrantedPaths.Access.WRITE),
            paths.take(arguments, "facts_directory", GrantedPaths.Access.WRITE),
            limits.analysisTimeoutSeconds(),
            limits.maxCpu(),
            limits.maxFactsBytes());
    Fields fields = arguments.objectOrNull("queries");
    Queries queries = fields == null ? null : Queries.from(fields, paths, limits);
    arguments.end();
    try (EngineSession session = EngineSession.start(request, phases)) {
      AnalysisReport analysis = Analysis.create(session, analysisRequest);
      try (SavedProgram saved = Analysis.reopen(session, analysisRequest, analysis)) {
        if (queries == null) {
          return Outcome.analyzed(analysis, null);
        }
        // From here on nothing writes to the project: should a Query kill this process, it is
        // whole.
        interim.publish(Outcome.analyzed(analysis, null));
        JsonPart answers = ProjectQueries.answer(session, saved, queries);
        return Outcome.analyzed(analysis, answers);
      }
    }
  }
}
