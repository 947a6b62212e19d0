package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Collects faults of the engine, bounded in number and length, from any thread.
 *
 * <p>Messages must be the same for the same Sample: the directories of this invocation are replaced
 * by placeholders and object identities are removed. The listing is sorted, because parallel
 * analyzers report in any order; equal faults are counted but listed once.
 */
public final class FaultLog implements JsonPart {
  private static final Pattern IDENTITY = Pattern.compile("@[0-9a-f]{5,16}\\b");
  private static final int MAX_KEPT = 4096;

  /** One fault. {@code source} is the analyzer, or the component when no analyzer was running. */
  private record Fault(boolean analyzer, String source, String exceptionClass, String message)
      implements JsonPart, Comparable<Fault> {
    @Override
    public void writeTo(BoundedWriter out) throws IOException {
      out.beginObject();
      out.name("kind").value(analyzer ? "analyzer_failed" : "engine_fault");
      out.name(analyzer ? "analyzer" : "component").value(source);
      out.name("exception_class").value(exceptionClass);
      out.name("message").value(message);
      out.endObject();
    }

    @Override
    public int compareTo(Fault other) {
      return key().compareTo(other.key());
    }

    private String key() {
      return analyzer + "\0" + source + "\0" + exceptionClass + "\0" + message;
    }
  }

  private final Map<String, String> placeholders = new LinkedHashMap<>();
  private final Set<Fault> faults = new TreeSet<>();
  private String firstError;
  private long total;
  private boolean ignoring;

  /** Replaces {@code directory} in every message by {@code placeholder}. */
  public synchronized void hide(String directory, String placeholder) {
    if (directory != null && directory.length() > 1) {
      placeholders.put(directory, placeholder);
    }
  }

  /** An empty log that hides the same directories: for what comes next, told apart from this. */
  public synchronized FaultLog successor() {
    FaultLog next = new FaultLog();
    next.placeholders.putAll(placeholders);
    return next;
  }

  /** A log that goes on from what is in this one, which it leaves as it is. */
  public synchronized FaultLog continued() {
    FaultLog next = successor();
    next.include(this);
    return next;
  }

  /** Adds what is in another log that nobody writes to any more. */
  public synchronized void include(FaultLog other) {
    faults.addAll(other.faults);
    total += other.total;
  }

  /** Remembers the first error that was logged without a throwable. */
  public synchronized void noteError(String message) {
    if (firstError == null && !ignoring) {
      firstError = scrub(message);
    }
  }

  /** The first error without a throwable, or null without one. */
  public synchronized String firstError() {
    return firstError;
  }

  /** Ignores faults for a while: for work that the engine is about to do once more by itself. */
  public synchronized void ignore(boolean ignore) {
    ignoring = ignore;
  }

  /** Records a throwable; {@code analyzer} is null when none was running. */
  public void record(String analyzer, String component, Throwable throwable) {
    record(analyzer, component, throwable.getClass().getName(), throwable.getMessage());
  }

  /** Records an exception of which only the text is known. */
  public synchronized void record(
      String analyzer, String component, String exceptionClass, String message) {
    if (ignoring) {
      return;
    }
    total++;
    if (faults.size() < MAX_KEPT) {
      String source = Protocol.bounded(analyzer != null ? analyzer : component, 256);
      String type = Protocol.bounded(exceptionClass, 256);
      faults.add(new Fault(analyzer != null, source, type, scrub(message)));
    }
  }

  /** Names of the analyzers that failed. */
  public synchronized Set<String> failedAnalyzers() {
    Set<String> names = new TreeSet<>();
    faults.stream().filter(Fault::analyzer).forEach(fault -> names.add(fault.source));
    return names;
  }

  /** The last-sorted fault in one line, or null without a fault. */
  public synchronized String summary() {
    return faults.stream()
        .reduce((first, second) -> second)
        .map(fault -> fault.exceptionClass + ": " + fault.message)
        .orElse(null);
  }

  /** Makes a message independent of where and when it arose, and bounded. */
  public synchronized String scrub(String message) {
    String text = message == null ? "" : message;
    for (Map.Entry<String, String> entry : placeholders.entrySet()) {
      text = text.replace(entry.getKey(), entry.getValue());
    }
    text = IDENTITY.matcher(text).replaceAll("@");
    return Protocol.bounded(text, Protocol.MAX_FAULT_MESSAGE_CHARS);
  }

  @Override
  public synchronized void writeTo(BoundedWriter out) throws IOException {
    List<Fault> listed = new ArrayList<>(faults);
    int shown = Math.min(listed.size(), Protocol.MAX_LISTED_FAULTS);
    out.beginObject().name("total").value(total);
    out.name("items").values(listed.subList(0, shown)).endObject();
  }
}
