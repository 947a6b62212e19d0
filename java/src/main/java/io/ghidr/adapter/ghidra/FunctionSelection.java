package io.ghidr.adapter.ghidra;

import ghidra.program.model.address.Address;
import ghidra.program.model.address.AddressOutOfBoundsException;
import ghidra.program.model.address.AddressSpace;
import ghidra.program.model.listing.Function;
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
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Finds the functions of one program that selectors name, exactly and case-sensitively.
 *
 * <p>A name matches base names and qualified names alike; an address must be an entry. More than
 * one match is an error that lists them, never a choice. The first name costs a pass over all
 * functions, the second one an index, and the others next to nothing.
 */
final class FunctionSelection {
  private final Program program;
  private Map<String, List<Function>> index;
  private boolean anyNamed;

  FunctionSelection(Program program) {
    this.program = program;
  }

  Function resolve(Selector selector) throws WorkerException {
    if (selector instanceof Selector.ByName byName) {
      return byName(byName.value());
    }
    return byAddress((Selector.ByAddress) selector);
  }

  private Function byName(String name) throws WorkerException {
    Map<FunctionRow, Function> matches = new TreeMap<>(Comparator.naturalOrder());
    if (anyNamed && index == null) {
      index = new HashMap<>();
      forEach(function -> names(function).forEach(known -> add(known, function)));
    }
    anyNamed = true;
    if (index == null) {
      forEach(
          function -> {
            if (names(function).contains(name)) {
              matches.put(FunctionTable.row(function), function);
            }
          });
    } else {
      for (Function function : index.getOrDefault(name, List.of())) {
        matches.put(FunctionTable.row(function), function);
      }
    }
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

  private void add(String name, Function function) {
    index.computeIfAbsent(name, unknown -> new ArrayList<>()).add(function);
  }

  private static Set<String> names(Function function) {
    return new HashSet<>(List.of(function.getName(false), function.getName(true)));
  }

  private void forEach(Consumer<Function> action) {
    FunctionManager manager = program.getFunctionManager();
    for (Function function : manager.getFunctions(true)) {
      action.accept(function);
    }
    for (Function function : manager.getExternalFunctions()) {
      action.accept(function);
    }
  }

  private Function byAddress(Selector.ByAddress selector) throws WorkerException {
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
