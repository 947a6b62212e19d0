package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The phases of one invocation with their durations; the last begun one is the current phase. A
 * part of it can be counted apart, as a phase of its own that follows it: the durations never
 * overlap.
 */
public final class Phases implements JsonPart {
  private record Phase(String name, long nanos) {}

  private final List<Phase> ended = new ArrayList<>();
  private final Map<String, Long> parts = new LinkedHashMap<>();
  private volatile String current = "";
  private long startedNanos = System.nanoTime();

  /** Ends the current phase and begins another. */
  public synchronized void begin(String name) {
    end();
    current = name;
  }

  /** Ends the current phase, if there is one. */
  public synchronized void end() {
    long now = System.nanoTime();
    if (!current.isEmpty()) {
      long apart = parts.values().stream().mapToLong(Long::longValue).sum();
      ended.add(new Phase(current, Math.max(0, now - startedNanos - apart)));
      parts.forEach((name, nanos) -> ended.add(new Phase(name, nanos)));
    }
    parts.clear();
    startedNanos = now;
    current = "";
  }

  /** Adds a phase that ended before this object was there. */
  public synchronized void add(String name, long nanos) {
    ended.add(new Phase(name, nanos));
  }

  /** Counts these of the current phase as {@code name}. */
  public synchronized void countApart(String name, long nanos) {
    parts.merge(name, nanos, Long::sum);
  }

  /** Name of the current phase, empty between phases. */
  public String current() {
    return current;
  }

  @Override
  public synchronized void writeTo(BoundedWriter out) throws IOException {
    out.beginArray();
    for (Phase phase : ended) {
      out.beginObject().name("name").value(phase.name);
      out.name("milliseconds").value(phase.nanos / 1_000_000).endObject();
    }
    out.endArray();
  }
}
