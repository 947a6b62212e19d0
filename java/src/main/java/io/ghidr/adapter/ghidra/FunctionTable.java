package io.ghidr.adapter.ghidra;

import ghidra.program.model.listing.Function;
import ghidra.program.model.listing.FunctionIterator;
import ghidra.program.model.listing.FunctionManager;
import ghidra.program.model.listing.Program;
import io.ghidr.adapter.protocol.FunctionRow;
import java.util.ArrayList;
import java.util.List;

/** The complete, ordered table of a program's functions, externals and thunks included. */
final class FunctionTable {
  private FunctionTable() {}

  static List<FunctionRow> of(Program program) {
    FunctionManager manager = program.getFunctionManager();
    List<FunctionRow> rows = new ArrayList<>(manager.getFunctionCount());
    addAll(rows, manager.getFunctions(true));
    addAll(rows, manager.getExternalFunctions());
    rows.sort(null);
    return rows;
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

  private static void addAll(List<FunctionRow> rows, FunctionIterator functions) {
    for (Function function : functions) {
      rows.add(row(function));
    }
  }
}
