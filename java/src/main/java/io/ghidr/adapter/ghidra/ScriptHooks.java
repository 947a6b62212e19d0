package io.ghidr.adapter.ghidra;

import ghidra.program.model.listing.Program;

/**
 * The bridge from the two script shims, which Ghidra instantiates by name, to the analysis of this
 * process.
 */
public final class ScriptHooks {
  /** What the shims call. */
  public interface Listener {
    /**
     * Called with the imported program before its analysis.
     *
     * @return false to stop and keep nothing
     */
    boolean beforeAnalysis(Program program);

    /**
     * Called with the analysed program before it is saved.
     *
     * @return false to keep nothing
     */
    boolean afterAnalysis(Program program, boolean timedOut);
  }

  private static volatile Listener listener;

  private ScriptHooks() {}

  static void listen(Listener newListener) {
    listener = newListener;
  }

  /** The analysis of this process. */
  public static Listener listener() {
    return listener;
  }
}
