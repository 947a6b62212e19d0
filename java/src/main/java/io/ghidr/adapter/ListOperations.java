package io.ghidr.adapter;

import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.protocol.Protocol;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Prints the operations and the shared constants as one JSON line, for the conformance test of the
 * harness. Needs neither Ghidra nor Gson.
 */
public final class ListOperations {
  private ListOperations() {}

  /** Prints to standard output. */
  public static void main(String[] arguments) throws IOException {
    print(System.out);
  }

  static void print(OutputStream stream) throws IOException {
    BoundedWriter out = new BoundedWriter(stream, Protocol.MAX_REQUEST_BYTES);
    out.beginObject();
    out.name("protocol_version").value(Protocol.VERSION);
    out.name("facts_version").value(Protocol.FACTS_VERSION);
    out.name("max_request_bytes").value(Protocol.MAX_REQUEST_BYTES);
    out.name("max_response_bytes").value(Protocol.MAX_RESPONSE_BYTES);
    out.name("max_facts_line_bytes").value(Protocol.MAX_FACTS_LINE_BYTES);
    out.name("max_progress_bytes").value(Protocol.MAX_PROGRESS_BYTES);
    out.name("max_queries").value(Protocol.MAX_QUERIES);
    out.name("max_listed_items").value(Protocol.MAX_LISTED_ITEMS);
    out.name("max_listed_faults").value(Protocol.MAX_LISTED_FAULTS);
    out.name("max_listed_warnings").value(Protocol.MAX_LISTED_WARNINGS);
    out.name("max_text_chars").value(Protocol.MAX_TEXT_CHARS);
    out.name("max_fault_message_chars").value(Protocol.MAX_FAULT_MESSAGE_CHARS);
    out.name("project_name").value(Protocol.PROJECT_NAME);
    out.name("program_name").value(Protocol.PROGRAM_NAME);
    out.name("operations").strings(OperationTable.names());
    out.endObject();
    out.newline();
    out.flush();
  }
}
