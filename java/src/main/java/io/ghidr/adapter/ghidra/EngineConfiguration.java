package io.ghidr.adapter.ghidra;

import ghidra.framework.HeadlessGhidraApplicationConfiguration;
import ghidra.util.Msg;
import ghidra.util.classfinder.ClassSearcher;
import ghidra.util.exception.CancelledException;
import io.ghidr.adapter.protocol.Phases;

/**
 * Boots the engine as its own headless tools do, and measures the search for extension points. The
 * engine searches once per process: its own search, which follows, finds that done.
 */
class EngineConfiguration extends HeadlessGhidraApplicationConfiguration {
  private final Phases phases;

  EngineConfiguration(Phases phases) {
    this.phases = phases;
    setInitializeLogging(false);
  }

  @Override
  protected void initializeApplication() {
    long started = System.nanoTime();
    search();
    phases.countApart("class_search", System.nanoTime() - started);
    super.initializeApplication();
  }

  /** Searches the class path. */
  protected void search() {
    try {
      ClassSearcher.search(monitor);
    } catch (CancelledException e) {
      Msg.debug(this, "the class search was cancelled");
    }
  }
}
