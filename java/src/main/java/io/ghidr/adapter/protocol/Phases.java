package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The phases of one invocation with their durations; the last begun one is the current phase. */
public final class Phases implements JsonPart {
  private record Phase(String name, long milliseconds) {}

  private final List<Phase> ended = new ArrayList<>();
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
      ended.add(new Phase(current, (now - startedNanos) / 1_000_000));
    }
    startedNanos = now;
    current = "";
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
      out.name("milliseconds").value(phase.milliseconds).endObject();
    }
    out.endArray();
  }
}
