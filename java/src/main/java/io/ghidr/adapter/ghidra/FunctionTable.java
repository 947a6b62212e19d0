package io.ghidr.adapter.ghidra;

import ghidra.program.model.listing.Function;
import ghidra.program.model.listing.FunctionIterator;
import ghidra.program.model.listing.FunctionManager;
import ghidra.program.model.listing.Program;
import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.protocol.AddressValue;
import io.ghidr.adapter.protocol.FunctionRow;
import io.ghidr.adapter.protocol.Protocol;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The complete, ordered table of a program's functions, externals and thunks included.
 *
 * <p>A program may have more functions than there is memory for their rows: what is kept of each is
 * its place, and a row is made when it is written. The engine's own order is that of its database
 * keys, which is another one as soon as there are several address spaces or distant addresses.
 */
final class FunctionTable {
  private record Place(AddressValue entry, long id) {}

  private final FunctionManager manager;
  private final List<Place> inMemory;
  private final List<Place> external;

  /** The table of {@code program}, which must not change as long as this is used. */
  FunctionTable(Program program) {
    manager = program.getFunctionManager();
    inMemory = places(manager.getFunctions(true));
    external = places(manager.getExternalFunctions());
  }

  /** How many rows there are. */
  long size() {
    return (long) inMemory.size() + external.size();
  }

  /** How many of them are inside the program's memory. */
  long memorySize() {
    return inMemory.size();
  }

  /** Writes a line for each row, in the order of {@link FunctionRow}. */
  void writeLines(BoundedWriter out) throws IOException {
    for (List<Place> places : List.of(inMemory, external)) {
      for (Place place : places) {
        out.limitNext(Protocol.MAX_FACTS_LINE_BYTES);
        out.value(row(manager.getFunction(place.id))).newline();
      }
    }
  }

  /** How many rows the table has, without making them. */
  static long count(Program program) {
    FunctionManager manager = program.getFunctionManager();
    return count(manager.getFunctions(true)) + count(manager.getExternalFunctions());
  }

  private static long count(FunctionIterator functions) {
    long count = 0;
    for (Function ignored : functions) {
      count++;
    }
    return count;
  }

  static FunctionRow row(Function function) {
    Function target = function.isThunk() ? function.getThunkedFunction(false) : null;
    return new FunctionRow(
        function.getName(false),
        function.getName(true),
        Addresses.value(function.getEntryPoint()),
        function.getBody().getNumAddresses(),
        function.isExternal(),
        function.isThunk(),
        target == null ? null : Addresses.value(target.getEntryPoint()),
        decompilable(function));
  }

  /** Whether the decompiler has an instruction to start from. */
  static boolean decompilable(Function function) {
    return !function.isExternal()
        && function.getProgram().getListing().getInstructionAt(function.getEntryPoint()) != null;
  }

  private static List<Place> places(FunctionIterator functions) {
    List<Place> places = new ArrayList<>();
    for (Function function : functions) {
      places.add(new Place(Addresses.value(function.getEntryPoint()), function.getID()));
    }
    places.sort(Comparator.comparing(Place::entry));
    return places;
  }
}
