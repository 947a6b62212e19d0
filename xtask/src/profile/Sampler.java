package io.ghidr.adapter;

import io.ghidr.adapter.protocol.Phases;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Answers one request as a worker does, and writes as text on what its thread spent its time: for
 * each phase, its calls with their shares of all samples, and costs that are spread over calls.
 */
public class Sampler {
  private static final long INTERVAL_MILLIS = 4;
  private static final double LEAST_SHARE = 0.015;
  private static final int MOST_DEPTH = 6;

  /** What a sample counts for when a call on its stack begins with one of these, or ends so. */
  private static final Map<String, List<String>> COSTS = new LinkedHashMap<>();

  static {
    COSTS.put("loading classes", List.of("java.lang.ClassLoader.loadClass"));
    COSTS.put("initialising classes", List.of(".<clinit>"));
    COSTS.put("class search", List.of("ghidra.util.classfinder."));
    COSTS.put("log4j", List.of("org.apache.logging."));
    COSTS.put("random numbers", List.of("java.security.SecureRandom.", "generic.random."));
    COSTS.put("SSL", List.of("javax.net.ssl.", "sun.security.ssl.", "ghidra.net."));
    COSTS.put("scripts", List.of("ghidra.app.script.", "ghidra.app.plugin.core.osgi."));
    COSTS.put("preferences", List.of("ghidra.framework.preferences."));
    COSTS.put("XML", List.of("org.jdom.", "com.sun.org.apache.xerces.", "ghidra.xml."));
    COSTS.put("regular expressions", List.of("java.util.regex."));
    COSTS.put("reading the jar", List.of("java.util.zip.", "java.util.jar."));
    COSTS.put("writing to the disk", List.of("sun.nio.ch.FileChannelImpl.force"));
  }

  private static final class Call {
    final Map<String, Call> callees = new HashMap<>();
    long samples;

    Call callee(String name) {
      return callees.computeIfAbsent(name, unused -> new Call());
    }
  }

  private final Call root = new Call();
  private final Map<String, Long> costs = new HashMap<>();
  private final Phases phases = new Phases();

  /** Arguments: the request, the response, and the file for the text. */
  public static void main(String[] arguments) throws Exception {
    Sampler sampler = new Sampler();
    Thread worker = Thread.currentThread();
    Thread thread = new Thread(() -> sampler.sample(worker), "sampler");
    thread.setDaemon(true);
    thread.start();
    int status = new Main(OperationTable::create, sampler.phases, System.err).answer(arguments[0], arguments[1]);
    thread.interrupt();
    thread.join();
    try (PrintStream out = new PrintStream(Files.newOutputStream(Path.of(arguments[2])))) {
      sampler.print(out);
    }
    System.exit(status);
  }

  private void sample(Thread worker) {
    try {
      while (true) {
        Thread.sleep(INTERVAL_MILLIS);
        String phase = phases.current();
        Deque<String> calls = new ArrayDeque<>();
        for (StackTraceElement frame : worker.getStackTrace()) {
          calls.push(frame.getClassName() + "." + frame.getMethodName());
        }
        add(phase.isEmpty() ? "request and response" : phase, calls);
      }
    } catch (InterruptedException e) {
      // The request has been answered.
    }
  }

  private void add(String phase, Deque<String> calls) {
    root.samples++;
    Call call = root.callee(phase);
    call.samples++;
    for (String name : calls) {
      call = call.callee(name);
      call.samples++;
    }
    COSTS.forEach(
        (cost, starts) -> {
          if (calls.stream().anyMatch(name -> starts.stream().anyMatch(start -> is(name, start)))) {
            costs.merge(cost, 1L, Long::sum);
          }
        });
  }

  private static boolean is(String call, String name) {
    return name.startsWith(".") ? call.endsWith(name) : call.startsWith(name);
  }

  private void print(PrintStream out) {
    print(out, root, 0);
    out.printf("%nspread over calls, and over each other:%n");
    for (String cost : COSTS.keySet()) {
      line(out, costs.getOrDefault(cost, 0L), 0, cost);
    }
  }

  /** A call that does nothing but make another one is left out. */
  private void print(PrintStream out, Call call, int depth) {
    List<Map.Entry<String, Call>> callees =
        call.callees.entrySet().stream()
            .filter(entry -> entry.getValue().samples >= root.samples * LEAST_SHARE || depth == 0)
            .sorted(Comparator.comparingLong(entry -> -entry.getValue().samples))
            .toList();
    boolean told = depth == 0 || callees.size() > 1;
    for (Map.Entry<String, Call> entry : callees) {
      if (told) {
        line(out, entry.getValue().samples, depth, entry.getKey());
      }
      if (depth < MOST_DEPTH) {
        print(out, entry.getValue(), told ? depth + 1 : depth);
      }
    }
  }

  private void line(PrintStream out, long samples, int depth, String name) {
    out.printf("%5.1f %% %s%s%n", 100.0 * samples / root.samples, "  ".repeat(depth), name);
  }
}
