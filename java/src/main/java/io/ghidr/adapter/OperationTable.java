package io.ghidr.adapter;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The only dispatch: operation name to class.
 *
 * <p>Classes are named, not referenced, so that the table can be read without Ghidra on the class
 * path; a class is loaded when its operation is asked for.
 */
public final class OperationTable {
  private static final String PACKAGE = "io.ghidr.adapter.ops.";
  private static final Map<String, String> CLASSES =
      Map.of(
          "analyze", PACKAGE + "AnalyzeOperation",
          "probe", PACKAGE + "ProbeOperation",
          "query", PACKAGE + "QueryOperation");

  private OperationTable() {}

  /** Names of all operations, sorted. */
  public static Set<String> names() {
    return Collections.unmodifiableSet(new TreeMap<>(CLASSES).keySet());
  }

  /** Name of the class behind an operation, or null. */
  public static String classOf(String operation) {
    return CLASSES.get(operation);
  }

  /** A new instance of an operation that exists. */
  public static Operation create(String operation) throws ReflectiveOperationException {
    return Class.forName(CLASSES.get(operation))
        .asSubclass(Operation.class)
        .getDeclaredConstructor()
        .newInstance();
  }
}
