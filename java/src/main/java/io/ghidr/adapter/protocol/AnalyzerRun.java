package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import java.io.IOException;

/**
 * What became of one analyzer.
 *
 * @param name name of the analyzer
 * @param enabled whether the options enable it
 * @param status {@code completed}, {@code failed} or {@code not_run}
 * @param milliseconds run time
 */
public record AnalyzerRun(String name, boolean enabled, String status, long milliseconds)
    implements JsonPart, Comparable<AnalyzerRun> {

  @Override
  public int compareTo(AnalyzerRun other) {
    return AddressValue.compareBytes(name, other.name);
  }

  @Override
  public void writeTo(BoundedWriter out) throws IOException {
    out.beginObject().name("name").value(name).name("enabled").value(enabled);
    out.name("status").value(status).name("milliseconds").value(milliseconds).endObject();
  }
}
