package io.ghidr.adapter.scripts;

import ghidra.app.util.headless.HeadlessScript;
import io.ghidr.adapter.ghidra.ScriptHooks;

/** Hands the imported program to the adapter before it is analysed. */
public final class BeforeAnalysis extends HeadlessScript {
  @Override
  protected void run() {
    if (!ScriptHooks.listener().beforeAnalysis(currentProgram)) {
      setHeadlessContinuationOption(HeadlessContinuationOption.ABORT_AND_DELETE);
    }
  }
}
