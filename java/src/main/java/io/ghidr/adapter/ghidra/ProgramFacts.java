package io.ghidr.adapter.ghidra;

import ghidra.program.model.address.Address;
import ghidra.program.model.listing.Program;
import ghidra.program.model.mem.MemoryBlock;
import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import io.ghidr.adapter.json.Publication;
import io.ghidr.adapter.json.SizeLimitException;
import io.ghidr.adapter.protocol.Protocol;
import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Writes the facts files from which the harness answers without the engine.
 *
 * @param program the published program file
 * @param functions the published functions file
 * @param count number of functions
 */
record ProgramFacts(Publication.Published program, Publication.Published functions, long count)
    implements JsonPart {

  /** Publishes both files below {@code directory}, each with at most {@code limitBytes} bytes. */
  static ProgramFacts publish(Program program, FunctionTable table, Path directory, long limitBytes)
      throws WorkerException, IOException {
    try {
      Publication.Published programFile =
          Publication.publish(
              directory.resolve(Protocol.PROGRAM_FACTS_FILE),
              limitBytes,
              out -> writeProgram(out, program, table.size()));
      Publication.Published functionsFile =
          Publication.publish(
              directory.resolve(Protocol.FUNCTION_FACTS_FILE), limitBytes, table::writeLines);
      return new ProgramFacts(programFile, functionsFile, table.size());
    } catch (SizeLimitException e) {
      throw WorkerErrors.factsTooLarge(e.limitBytes());
    }
  }

  @Override
  public void writeTo(BoundedWriter out) throws IOException {
    out.beginObject();
    out.name("program").beginObject();
    out.name("bytes").value(program.bytes()).name("sha256").value(program.sha256()).endObject();
    out.name("functions").beginObject();
    out.name("bytes").value(functions.bytes()).name("sha256").value(functions.sha256());
    out.name("count").value(count).endObject();
    out.endObject();
  }

  private static void writeProgram(BoundedWriter out, Program program, long count)
      throws IOException {
    Address minimum = null;
    Address maximum = null;
    for (MemoryBlock block : program.getMemory().getBlocks()) {
      if (block.isLoaded() && !block.getStart().getAddressSpace().isOverlaySpace()) {
        minimum =
            minimum == null || block.getStart().compareTo(minimum) < 0 ? block.getStart() : minimum;
        maximum =
            maximum == null || block.getEnd().compareTo(maximum) > 0 ? block.getEnd() : maximum;
      }
    }
    out.beginObject();
    out.name("facts_version").value(Protocol.FACTS_VERSION);
    out.name("image_base").value(Addresses.value(minimum == null ? null : program.getImageBase()));
    out.name("minimum_address").value(Addresses.value(minimum));
    out.name("maximum_address").value(Addresses.value(maximum));
    out.name("function_count").value(count);
    out.name("address_spaces").values(Addresses.spaces(program));
    out.endObject();
    out.newline();
  }
}
