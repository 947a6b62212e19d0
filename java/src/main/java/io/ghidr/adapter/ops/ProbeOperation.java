package io.ghidr.adapter.ops;

import io.ghidr.adapter.Operation;
import io.ghidr.adapter.ghidra.EngineIdentity;
import io.ghidr.adapter.ghidra.EngineParts;
import io.ghidr.adapter.ghidra.EngineSession;
import io.ghidr.adapter.json.JsonException;
import io.ghidr.adapter.protocol.Outcome;
import io.ghidr.adapter.protocol.Phases;
import io.ghidr.adapter.protocol.Request;
import io.ghidr.adapter.protocol.WorkerException;

/** {@code probe}: boots the engine and tries every part that an analysis depends on. */
public final class ProbeOperation implements Operation {
  @Override
  public Outcome run(Request request, Phases phases, Interim interim)
      throws JsonException, WorkerException {
    request.arguments().end();
    try (EngineSession session = EngineSession.start(request, phases)) {
      EngineIdentity identity = session.identity();
      boolean compiler = EngineParts.compilerPresent();
      boolean decompiler = EngineParts.nativeDecompilerRuns();
      boolean fonts = EngineParts.fontsUsable();
      return Outcome.probed(
          out -> {
            out.beginObject();
            out.name("ghidra_version").value(identity.version());
            out.name("ghidra_build").value(identity.build());
            out.name("java_version").value(Integer.toString(Runtime.version().feature()));
            out.name("java_compiler").value(compiler);
            out.name("native_decompiler").value(decompiler);
            out.name("fonts").value(fonts);
            out.endObject();
          });
    }
  }
}
