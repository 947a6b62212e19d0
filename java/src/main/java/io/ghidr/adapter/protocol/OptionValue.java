package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One resolved option of a loader or an analyzer.
 *
 * @param name full name
 * @param type type of the value
 * @param value a Boolean for {@code boolean}, a Long for {@code integer} and {@code long}, else a
 *     String
 */
public record OptionValue(String name, String type, Object value)
    implements JsonPart, Comparable<OptionValue> {

  /** Texts are bounded like every other text of a response. */
  public OptionValue {
    name = Protocol.bounded(name, Protocol.MAX_TEXT_CHARS);
    if (value instanceof String text) {
      value = Protocol.bounded(text, Protocol.MAX_TEXT_CHARS);
    }
  }

  /** The option of a Java value; null has the type {@code none}. */
  public static OptionValue of(String name, Object value) {
    if (value instanceof Boolean flag) {
      return new OptionValue(name, "boolean", flag);
    }
    if (value instanceof Integer number) {
      return new OptionValue(name, "integer", number.longValue());
    }
    if (value instanceof Long number) {
      return new OptionValue(name, "long", number);
    }
    if (value instanceof Enum<?> constant) {
      return new OptionValue(name, "enum", constant.name());
    }
    return new OptionValue(name, typeName(value), value == null ? "" : value.toString());
  }

  /** Sorts bytewise by name and refuses duplicates. */
  public static List<OptionValue> sorted(List<OptionValue> options) throws WorkerException {
    List<OptionValue> sorted = new ArrayList<>(options);
    sorted.sort(null);
    for (int i = 1; i < sorted.size(); i++) {
      if (sorted.get(i).name.equals(sorted.get(i - 1).name)) {
        throw WorkerErrors.analysisFailed(
            "", "the engine reports the option '" + sorted.get(i).name + "' twice");
      }
    }
    return List.copyOf(sorted);
  }

  @Override
  public int compareTo(OptionValue other) {
    return AddressValue.compareBytes(name, other.name);
  }

  @Override
  public void writeTo(BoundedWriter out) throws IOException {
    out.beginObject().name("name").value(name).name("type").value(type).name("value");
    if (value instanceof Boolean flag) {
      out.value(flag.booleanValue());
    } else if (value instanceof Long number) {
      out.value(number.longValue());
    } else {
      out.value((String) value);
    }
    out.endObject();
  }

  private static String typeName(Object value) {
    if (value == null) {
      return "none";
    }
    String simple = value.getClass().getSimpleName();
    return simple.replaceAll("(?<=[a-z0-9])(?=[A-Z])", "_").toLowerCase(Locale.ROOT);
  }
}
