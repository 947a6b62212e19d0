package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * An address as the protocol spells it. The order is: space by UTF-8 bytes, then unsigned offset.
 *
 * @param space exact name of the address space
 * @param digits hexadecimal digits that the space's width needs
 * @param offset unsigned offset
 */
public record AddressValue(String space, int digits, long offset)
    implements JsonPart, Comparable<AddressValue> {

  /** The padded, lower-case offset. */
  public String offsetText() {
    String hex = Long.toHexString(offset);
    return "0x" + "0".repeat(Math.max(0, digits - hex.length())) + hex;
  }

  @Override
  public void writeTo(BoundedWriter out) throws IOException {
    out.beginObject().name("space").value(space).name("offset").value(offsetText()).endObject();
  }

  @Override
  public int compareTo(AddressValue other) {
    int spaces = space.equals(other.space) ? 0 : compareBytes(space, other.space);
    return spaces != 0 ? spaces : Long.compareUnsigned(offset, other.offset);
  }

  /** Compares two strings by their UTF-8 bytes. */
  public static int compareBytes(String left, String right) {
    return Arrays.compareUnsigned(
        left.getBytes(StandardCharsets.UTF_8), right.getBytes(StandardCharsets.UTF_8));
  }
}
