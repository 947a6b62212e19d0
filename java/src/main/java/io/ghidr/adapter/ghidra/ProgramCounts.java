package io.ghidr.adapter.ghidra;

import ghidra.program.model.listing.Listing;
import ghidra.program.model.listing.Program;
import ghidra.program.model.symbol.ReferenceIterator;
import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import java.io.IOException;

/**
 * Sizes of an analysed program. Two analyses of the same Sample must agree on all of them.
 *
 * @param functions functions, externals included
 * @param memoryFunctions functions inside the program's memory
 * @param references references from memory
 * @param definedData defined data items
 * @param instructions instructions
 * @param symbols symbols
 */
record ProgramCounts(
    long functions,
    long memoryFunctions,
    long references,
    long definedData,
    long instructions,
    long symbols)
    implements JsonPart {

  static ProgramCounts of(Program program, FunctionTable table) {
    Listing listing = program.getListing();
    return new ProgramCounts(
        table.size(),
        table.memorySize(),
        references(program),
        listing.getNumDefinedData(),
        listing.getNumInstructions(),
        program.getSymbolTable().getNumSymbols());
  }

  @Override
  public void writeTo(BoundedWriter out) throws IOException {
    out.beginObject();
    out.name("function_count").value(functions);
    out.name("memory_function_count").value(memoryFunctions);
    out.name("reference_count").value(references);
    out.name("defined_data_count").value(definedData);
    out.name("instruction_count").value(instructions);
    out.name("symbol_count").value(symbols);
    out.endObject();
  }

  private static long references(Program program) {
    if (program.getMemory().isEmpty()) {
      return 0;
    }
    ReferenceIterator references =
        program.getReferenceManager().getReferenceIterator(program.getMemory().getMinAddress());
    long count = 0;
    while (references.hasNext()) {
      references.next();
      count++;
    }
    return count;
  }
}
