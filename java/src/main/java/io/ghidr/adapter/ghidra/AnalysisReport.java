package io.ghidr.adapter.ghidra;

import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import io.ghidr.adapter.protocol.AnalyzerRun;
import io.ghidr.adapter.protocol.FaultLog;
import io.ghidr.adapter.protocol.OptionValue;
import java.io.IOException;
import java.util.List;

/**
 * Everything the response says about a finished analysis.
 *
 * @param target what was loaded
 * @param format executable format that the program reports
 * @param analyzerOptions resolved options, sorted
 * @param analyzers what became of every analyzer, sorted
 * @param faults faults of the engine
 * @param suspicions reasons to doubt the result, sorted
 * @param counts sizes of the program
 * @param facts the published facts
 */
public record AnalysisReport(
    ResolvedTarget target,
    String format,
    List<OptionValue> analyzerOptions,
    List<AnalyzerRun> analyzers,
    FaultLog faults,
    List<String> suspicions,
    ProgramCounts counts,
    ProgramFacts facts)
    implements JsonPart {

  @Override
  public void writeTo(BoundedWriter out) throws IOException {
    out.beginObject();
    out.name("target").beginObject();
    out.name("loader").value(target.loader());
    out.name("format").value(format);
    out.name("processor_language").value(target.language());
    out.name("compiler_specification").value(target.compiler());
    out.endObject();
    out.name("loader_options").values(target.loaderOptions());
    out.name("analyzer_options").values(analyzerOptions);
    out.name("analyzers").values(analyzers);
    out.name("faults").value(faults);
    out.name("suspicions").strings(suspicions);
    out.name("program").value(counts);
    out.name("facts").value(facts);
    out.endObject();
  }
}
