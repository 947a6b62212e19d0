package io.ghidr.adapter.ghidra;

import ghidra.program.model.address.Address;
import ghidra.program.model.address.AddressOutOfBoundsException;
import ghidra.program.model.address.AddressSpace;
import ghidra.program.model.listing.Function;
import ghidra.program.model.listing.FunctionIterator;
import ghidra.program.model.listing.FunctionManager;
import ghidra.program.model.listing.Program;
import io.ghidr.adapter.json.JsonPart;
import io.ghidr.adapter.protocol.FunctionRow;
import io.ghidr.adapter.protocol.Listing;
import io.ghidr.adapter.protocol.Selector;
import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Finds the one function that a selector names, exactly and case-sensitively.
 *
 * <p>A name matches base names and qualified names alike; an address must be an entry. More than
 * one match is an error that lists them, never a choice.
 */
final class FunctionSelection {
  private FunctionSelection() {}

  static Function resolve(Program program, Selector selector) throws WorkerException {
    if (selector instanceof Selector.ByName byName) {
      return byName(program, byName.value());
    }
    return byAddress(program, (Selector.ByAddress) selector);
  }

  private static Function byName(Program program, String name) throws WorkerException {
    Map<FunctionRow, Function> matches = new TreeMap<>(Comparator.naturalOrder());
    FunctionManager manager = program.getFunctionManager();
    collect(matches, manager.getFunctions(true), name);
    collect(matches, manager.getExternalFunctions(), name);
    if (matches.isEmpty()) {
      throw WorkerErrors.functionNotFound();
    }
    if (matches.size() > 1) {
      List<JsonPart> candidates = new ArrayList<>();
      matches.keySet().forEach(row -> candidates.add(row.candidate()));
      throw WorkerErrors.functionSelectorAmbiguous(Listing.of(candidates));
    }
    return matches.values().iterator().next();
  }

  private static void collect(
      Map<FunctionRow, Function> matches, FunctionIterator functions, String name) {
    for (Function function : functions) {
      if (function.getName(false).equals(name) || function.getName(true).equals(name)) {
        matches.put(FunctionTable.row(function), function);
      }
    }
  }

  private static Function byAddress(Program program, Selector.ByAddress selector)
      throws WorkerException {
    AddressSpace space = Addresses.space(program, selector.space());
    if (space == null) {
      throw WorkerErrors.addressSpaceNotFound(
          Listing.ofStrings(
              Addresses.spaces(program).stream().map(Addresses.Space::name).toList()));
    }
    Address address;
    try {
      address = space.getAddressInThisSpaceOnly(selector.offset());
    } catch (AddressOutOfBoundsException e) {
      throw WorkerErrors.functionEntryRequired(null);
    }
    FunctionManager manager = program.getFunctionManager();
    Function function = manager.getFunctionAt(address);
    if (function == null) {
      Function containing = manager.getFunctionContaining(address);
      throw WorkerErrors.functionEntryRequired(
          containing == null ? null : Addresses.value(containing.getEntryPoint()));
    }
    return function;
  }
}
