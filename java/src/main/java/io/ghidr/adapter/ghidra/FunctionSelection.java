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
 * one match is an error that lists them, never a choice. All names together cost one pass over all
 * functions, of which only those are kept that have one of the names.
 */
final class FunctionSelection {
  private final Program program;
  private final List<Selector> selectors;
  private Map<String, List<Function>> named;

  /** Resolves {@code selectors}, one at a time. */
  FunctionSelection(Program program, List<Selector> selectors) {
    this.program = program;
    this.selectors = selectors;
  }

  Function resolve(Selector selector) throws WorkerException {
    if (selector instanceof Selector.ByName byName) {
      return byName(byName.value());
    }
    return byAddress((Selector.ByAddress) selector);
  }

  private Function byName(String name) throws WorkerException {
    if (named == null) {
      named = findNamed();
    }
    Map<FunctionRow, Function> matches = new TreeMap<>(Comparator.naturalOrder());
    for (Function function : named.getOrDefault(name, List.of())) {
      matches.put(FunctionTable.row(function), function);
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

  private Map<String, List<Function>> findNamed() {
    Map<String, List<Function>> found = new HashMap<>();
    for (Selector selector : selectors) {
      if (selector instanceof Selector.ByName byName) {
        found.put(byName.value(), new ArrayList<>());
      }
    }
    forEach(
        function -> {
          for (String name : names(function)) {
            List<Function> matches = found.get(name);
            if (matches != null) {
              matches.add(function);
            }
          }
        });
    return found;
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
