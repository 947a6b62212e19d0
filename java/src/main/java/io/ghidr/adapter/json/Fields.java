package io.ghidr.adapter.json;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The fields of one JSON object, each to be taken exactly once.
 *
 * <p>A missing field or one of another type is refused when it is taken, unknown fields are refused
 * by {@link #end()}.
 */
public final class Fields {
  private final String path;
  private final Map<String, Object> values;
  private final Set<String> taken = new HashSet<>();

  Fields(String path, Map<String, Object> values) {
    this.path = path;
    this.values = values;
  }

  /** Dotted path of a field of this object. */
  public String pathOf(String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  /** Takes a string. */
  public String string(String name) throws JsonException {
    return cast(name, take(name), String.class, "string");
  }

  /** Takes a boolean. */
  public boolean bool(String name) throws JsonException {
    return cast(name, take(name), Boolean.class, "boolean");
  }

  /** Takes an integer within a closed range. */
  public long integer(String name, long minimum, long maximum) throws JsonException {
    return ranged(name, cast(name, take(name), Long.class, "integer"), minimum, maximum);
  }

  /** Takes an integer within a closed range, or null. */
  public Long integerOrNull(String name, long minimum, long maximum) throws JsonException {
    Object value = take(name);
    return value == null
        ? null
        : ranged(name, cast(name, value, Long.class, "integer"), minimum, maximum);
  }

  /** Takes an object. */
  public Fields object(String name) throws JsonException {
    return child(name, take(name));
  }

  /** Takes an object, or null. */
  public Fields objectOrNull(String name) throws JsonException {
    Object value = take(name);
    return value == null ? null : child(name, value);
  }

  /** Takes an array of strings. */
  public List<String> strings(String name) throws JsonException {
    List<String> strings = new ArrayList<>();
    for (Object element : array(name)) {
      strings.add(cast(name, element, String.class, "string"));
    }
    return strings;
  }

  /** Takes an array of objects. */
  public List<Fields> objects(String name) throws JsonException {
    List<Fields> objects = new ArrayList<>();
    for (Object element : array(name)) {
      objects.add(child(name + "[" + objects.size() + "]", element));
    }
    return objects;
  }

  /** Refuses every field that was not taken. */
  public void end() throws JsonException {
    for (String name : values.keySet()) {
      if (!taken.contains(name)) {
        throw new JsonException(pathOf(name), "unknown field");
      }
    }
  }

  private Object take(String name) throws JsonException {
    if (!values.containsKey(name)) {
      throw new JsonException(pathOf(name), "missing field");
    }
    taken.add(name);
    return values.get(name);
  }

  private List<?> array(String name) throws JsonException {
    return cast(name, take(name), List.class, "array");
  }

  private Fields child(String name, Object value) throws JsonException {
    Map<?, ?> map = cast(name, value, Map.class, "object");
    Map<String, Object> typed = new LinkedHashMap<>();
    map.forEach((key, element) -> typed.put((String) key, element));
    return new Fields(pathOf(name), typed);
  }

  private long ranged(String name, long value, long minimum, long maximum) throws JsonException {
    if (value < minimum || value > maximum) {
      throw new JsonException(pathOf(name), "not within " + minimum + " and " + maximum);
    }
    return value;
  }

  private <T> T cast(String name, Object value, Class<T> type, String expected)
      throws JsonException {
    if (!type.isInstance(value)) {
      throw new JsonException(pathOf(name), "not of type " + expected);
    }
    return type.cast(value);
  }
}
