package io.ghidr.adapter;

import io.ghidr.adapter.json.JsonException;
import io.ghidr.adapter.protocol.Outcome;
import io.ghidr.adapter.protocol.Phases;
import io.ghidr.adapter.protocol.Request;
import io.ghidr.adapter.protocol.WorkerException;

/** One thing the worker can be asked to do. */
@FunctionalInterface
public interface Operation {
  /** Publishes an outcome that holds whatever becomes of the rest; the last one takes its place. */
  @FunctionalInterface
  interface Interim {
    /** Never fails: who cannot publish now will see whether it can be done at the end. */
    void publish(Outcome outcome);
  }

  /**
   * Takes all arguments of {@code request}, then does the work.
   *
   * @throws JsonException when an argument is refused; nothing was done then
   * @throws WorkerException when the operation fails as a whole
   */
  Outcome run(Request request, Phases phases, Interim interim)
      throws JsonException, WorkerException;
}
