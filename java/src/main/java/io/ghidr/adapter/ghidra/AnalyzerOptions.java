package io.ghidr.adapter.ghidra;

import ghidra.framework.options.OptionType;
import ghidra.framework.options.Options;
import ghidra.program.model.listing.Program;
import io.ghidr.adapter.protocol.OptionValue;
import io.ghidr.adapter.protocol.WorkerException;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Reads the resolved options of all analyzers. Complete only while the analysis manager lives: a
 * saved program keeps no more than what differs from the defaults.
 */
final class AnalyzerOptions {
  private static final String TYPE_SUFFIX = "_TYPE";

  private AnalyzerOptions() {}

  static List<OptionValue> of(Program program) throws WorkerException {
    Options options = program.getOptions(Program.ANALYSIS_PROPERTIES);
    List<OptionValue> values = new ArrayList<>();
    for (String name : options.getOptionNames()) {
      values.add(value(options, name));
    }
    return OptionValue.sorted(values);
  }

  private static OptionValue value(Options options, String name) {
    OptionType type = options.getType(name);
    return switch (type) {
      case BOOLEAN_TYPE -> OptionValue.of(name, options.getBoolean(name, false));
      case INT_TYPE -> OptionValue.of(name, options.getInt(name, 0));
      case LONG_TYPE -> OptionValue.of(name, options.getLong(name, 0));
      case STRING_TYPE -> new OptionValue(name, "string", text(options.getString(name, "")));
      case ENUM_TYPE ->
          options.getObject(name, null) instanceof Enum<?> constant
              ? OptionValue.of(name, constant)
              : new OptionValue(name, "enum", "");
      case FILE_TYPE -> {
        File file = options.getFile(name, null);
        yield new OptionValue(name, "file", file == null ? "" : file.getPath());
      }
      default -> new OptionValue(name, typeName(type), text(options.getValueAsString(name)));
    };
  }

  private static String typeName(OptionType type) {
    String name = type.name();
    String stem =
        name.endsWith(TYPE_SUFFIX) ? name.substring(0, name.length() - TYPE_SUFFIX.length()) : name;
    return stem.toLowerCase(Locale.ROOT);
  }

  private static String text(String value) {
    return value == null ? "" : value;
  }
}
