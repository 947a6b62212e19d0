package io.ghidr.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Keeps the committed list of Ghidra members that the adapter refers to equal to what was compiled.
 *
 * <p>Every member of the list must exist with the same signature in every supported Ghidra version,
 * so a difference means: look the new member up first. {@code -Dghidr.bless=true} rewrites the
 * list.
 */
class GhidraMembersTest {
  private static final Pattern REFERENCE =
      Pattern.compile(
          " = (?:Field|Method|InterfaceMethod)ref +\\S+ +// (\\S+?)\\.\"?([\\w$<>]+)\"?:(\\S+)");
  private static final Pattern REFLECTED =
      Pattern.compile(" = String +\\S+ +// (ghidra/[\\w/$.]+)");
  private static final Pattern THIS_CLASS = Pattern.compile("this_class: #\\d+ +// (\\S+)");
  private static final Pattern SUPERCLASS = Pattern.compile("super_class: #\\d+ +// (\\S+)");
  private static final Pattern ENGINE = Pattern.compile("(?:ghidra|generic|org/apache/logging)/.*");

  private final Path base = Path.of(System.getProperty("adapter.basedir"));

  @Test
  void committedListMatchesTheCode() throws IOException {
    Path file = base.resolve("ghidra-members.txt");
    List<String> lines = Files.readAllLines(file);
    List<String> comments = lines.stream().filter(line -> line.startsWith("#")).toList();
    List<String> committed = lines.stream().filter(line -> !line.startsWith("#")).toList();
    List<String> members = List.copyOf(members());
    assertTrue(members.size() > 100, "javap printed too little");
    if (Boolean.getBoolean("ghidr.bless")) {
      Files.write(file, Stream.concat(comments.stream(), members.stream()).toList());
    } else {
      assertEquals(String.join("\n", members), String.join("\n", committed));
    }
  }

  private SortedSet<String> members() throws IOException {
    SortedSet<String> members = new TreeSet<>();
    List<Path> classes;
    try (Stream<Path> files = Files.walk(base.resolve("target/classes"))) {
      classes = files.filter(file -> file.toString().endsWith(".class")).toList();
    }
    for (Path file : classes) {
      collect(javap(file), members);
    }
    return members;
  }

  private static void collect(String output, SortedSet<String> members) {
    String self = only(THIS_CLASS, output);
    String parent = only(SUPERCLASS, output);
    boolean extendsEngine = ENGINE.matcher(parent).matches();
    for (Matcher reference = REFERENCE.matcher(output); reference.find(); ) {
      String owner = reference.group(1);
      String name = reference.group(2);
      boolean inherited = extendsEngine && owner.equals(self) && !declares(output, name);
      String declared = name + ":" + reference.group(3);
      if (ENGINE.matcher(owner).matches()) {
        members.add(owner + "." + declared);
      } else if (inherited && !name.equals("<init>")) {
        members.add(parent + "." + declared);
      }
    }
    for (Matcher reflected = REFLECTED.matcher(output); reflected.find(); ) {
      members.add(reflected.group(1) + " (by reflection)");
    }
  }

  private static String only(Pattern pattern, String output) {
    Matcher matcher = pattern.matcher(output);
    return matcher.find() ? matcher.group(1) : "";
  }

  private static boolean declares(String output, String member) {
    return Pattern.compile("(?m)^  \\S.*\\b" + Pattern.quote(member) + "(\\(.*)?;$")
        .matcher(output)
        .find();
  }

  private static String javap(Path file) {
    ToolProvider tool = ToolProvider.findFirst("javap").orElseThrow();
    StringWriter output = new StringWriter();
    List<String> arguments = new ArrayList<>(List.of("-v", "-p", file.toString()));
    PrintWriter writer = new PrintWriter(output);
    int status = tool.run(writer, writer, arguments.toArray(String[]::new));
    assertEquals(0, status, file.toString());
    return output.toString().lines().collect(Collectors.joining("\n"));
  }
}
