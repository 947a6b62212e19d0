package io.ghidr.adapter.ghidra;

import ghidra.program.model.address.Address;
import ghidra.program.model.address.AddressSpace;
import ghidra.program.model.listing.Function;
import ghidra.program.model.listing.Program;
import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import io.ghidr.adapter.protocol.AddressValue;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Translates between the engine's addresses and those of the protocol. */
final class Addresses {
  private static final int BITS_PER_DIGIT = 4;

  private Addresses() {}

  /** An address space as the facts describe it. */
  record Space(String name, int digits) implements JsonPart {
    @Override
    public void writeTo(BoundedWriter out) throws IOException {
      out.beginObject().name("name").value(name);
      out.name("offset_digits").value(digits).endObject();
    }
  }

  static AddressValue value(Address address) {
    if (address == null) {
      return null;
    }
    AddressSpace space = address.getAddressSpace();
    return new AddressValue(space.getName(), digits(space), address.getUnsignedOffset());
  }

  /** Every space that the entry of a function or a selector can be in, bytewise by name. */
  static List<Space> spaces(Program program) {
    Map<String, Space> spaces = new TreeMap<>(AddressValue::compareBytes);
    for (AddressSpace space : selectable(program)) {
      spaces.put(space.getName(), new Space(space.getName(), digits(space)));
    }
    return new ArrayList<>(spaces.values());
  }

  /** The space of that exact name, or null. */
  static AddressSpace space(Program program, String name) {
    return selectable(program).stream()
        .filter(space -> space.getName().equals(name))
        .min(Comparator.comparingInt(AddressSpace::getSpaceID))
        .orElse(null);
  }

  private static List<AddressSpace> selectable(Program program) {
    List<AddressSpace> spaces = new ArrayList<>();
    for (AddressSpace space : program.getAddressFactory().getAllAddressSpaces()) {
      if (space.isMemorySpace() || space.isExternalSpace()) {
        spaces.add(space);
      }
    }
    for (Function function : program.getFunctionManager().getExternalFunctions()) {
      spaces.add(function.getEntryPoint().getAddressSpace());
      break;
    }
    return spaces;
  }

  private static int digits(AddressSpace space) {
    return (space.getSize() + BITS_PER_DIGIT - 1) / BITS_PER_DIGIT;
  }
}
