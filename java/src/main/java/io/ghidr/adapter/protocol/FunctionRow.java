package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import java.io.IOException;

/**
 * One function of the ordered table.
 *
 * @param name exact base name
 * @param qualifiedName exact qualified name
 * @param entry entry address
 * @param bodyAddressCount number of addresses in the body
 * @param external true for a function outside the program's memory
 * @param thunk true for a thunk
 * @param thunkTarget entry of the thunk's immediate target, or null
 * @param decompilable true when the decompiler has instructions to start from
 */
public record FunctionRow(
    String name,
    String qualifiedName,
    AddressValue entry,
    long bodyAddressCount,
    boolean external,
    boolean thunk,
    AddressValue thunkTarget,
    boolean decompilable)
    implements JsonPart, Comparable<FunctionRow> {

  @Override
  public int compareTo(FunctionRow other) {
    int locations = Boolean.compare(external, other.external);
    return locations != 0 ? locations : entry.compareTo(other.entry);
  }

  @Override
  public void writeTo(BoundedWriter out) throws IOException {
    out.beginObject();
    out.name("name").value(name);
    out.name("qualified_name").value(qualifiedName);
    out.name("entry").value(entry);
    out.name("body_address_count").value(bodyAddressCount);
    out.name("location").value(location());
    out.name("is_external").value(external);
    out.name("is_thunk").value(thunk);
    out.name("thunk_target_entry").value(thunkTarget);
    out.name("decompilable").value(decompilable);
    out.endObject();
  }

  /** What an ambiguity error says about this function. */
  public JsonPart candidate() {
    return out -> {
      out.beginObject();
      out.name("name").value(Protocol.bounded(name, Protocol.MAX_TEXT_CHARS));
      out.name("qualified_name").value(Protocol.bounded(qualifiedName, Protocol.MAX_TEXT_CHARS));
      out.name("entry").value(entry);
      out.name("location").value(location());
      out.name("is_external").value(external);
      out.name("is_thunk").value(thunk);
      out.name("decompilable").value(decompilable);
      out.endObject();
    };
  }

  /** What identifies the function in a result. */
  public JsonPart identity() {
    return out ->
        out.beginObject()
            .name("name")
            .value(name)
            .name("qualified_name")
            .value(qualifiedName)
            .name("entry")
            .value(entry)
            .endObject();
  }

  private String location() {
    return external ? "external" : "memory";
  }
}
