package io.ghidr.adapter.scripts;

import ghidra.app.util.headless.HeadlessScript;
import io.ghidr.adapter.ghidra.ScriptHooks;

/** Hands the analysed program to the adapter before it is saved. */
public final class AfterAnalysis extends HeadlessScript {
  @Override
  protected void run() throws Exception {
    boolean timedOut = analysisTimeoutOccurred();
    if (!ScriptHooks.listener().afterAnalysis(currentProgram, timedOut)) {
      setHeadlessContinuationOption(HeadlessContinuationOption.ABORT_AND_DELETE);
    }
  }
}
