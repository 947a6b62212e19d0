package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.Fields;
import io.ghidr.adapter.json.JsonException;

/** The explicit identification of one function. */
public sealed interface Selector {
  /**
   * An exact name.
   *
   * @param value base name or qualified name
   */
  record ByName(String value) implements Selector {}

  /**
   * An exact entry address.
   *
   * @param space name of the address space
   * @param offset unsigned offset
   */
  record ByAddress(String space, long offset) implements Selector {}

  /** Takes a selector object. */
  static Selector from(Fields fields) throws JsonException {
    String kind = fields.string("kind");
    Selector selector =
        switch (kind) {
          case "name" -> new ByName(fields.string("value"));
          case "address" -> new ByAddress(fields.string("space"), offset(fields));
          default -> throw new JsonException(fields.pathOf("kind"), "unknown selector");
        };
    fields.end();
    return selector;
  }

  private static long offset(Fields fields) throws JsonException {
    String text = fields.string("offset");
    if (!text.matches("0x[0-9a-fA-F]{1,64}")) {
      throw new JsonException(fields.pathOf("offset"), "not a hexadecimal offset");
    }
    try {
      return Long.parseUnsignedLong(text.substring(2), 16);
    } catch (NumberFormatException e) {
      throw new JsonException(fields.pathOf("offset"), "offset above 64 bits");
    }
  }
}
