package io.ghidr.adapter.ghidra;

import ghidra.app.util.opinion.LoadSpec;
import ghidra.program.model.lang.LanguageCompilerSpecPair;
import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import io.ghidr.adapter.protocol.AddressValue;
import java.io.IOException;

/**
 * One way in which the engine could load a Sample.
 *
 * @param loader name of the loader
 * @param language processor language, empty when the loader names none
 * @param compiler compiler specification, empty when the loader names none
 */
record TargetCandidate(String loader, String language, String compiler)
    implements JsonPart, Comparable<TargetCandidate> {

  static TargetCandidate of(LoadSpec spec) {
    LanguageCompilerSpecPair pair = spec.getLanguageCompilerSpec();
    return new TargetCandidate(
        spec.getLoader().getName(),
        pair == null ? "" : pair.getLanguageID().getIdAsString(),
        pair == null ? "" : pair.getCompilerSpecID().getIdAsString());
  }

  /** Whether the loader knows a processor for the Sample. */
  boolean namesLanguage() {
    return !language.isEmpty();
  }

  @Override
  public int compareTo(TargetCandidate other) {
    return AddressValue.compareBytes(
        loader + "\0" + language + "\0" + compiler,
        other.loader + "\0" + other.language + "\0" + other.compiler);
  }

  @Override
  public void writeTo(BoundedWriter out) throws IOException {
    out.beginObject();
    out.name("loader").value(loader);
    out.name("processor_language").value(language);
    out.name("compiler_specification").value(compiler);
    out.endObject();
  }
}
