package io.ghidr.adapter.ghidra;

import ghidra.framework.Application;
import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import java.awt.Font;
import java.awt.font.FontRenderContext;
import java.io.File;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import javax.tools.ToolProvider;

/**
 * The parts without which Ghidra silently gives a poorer analysis: a font, the Java compiler, the
 * native decompiler. Each check does what the engine will do.
 */
public final class EngineParts {
  private static final long START_SECONDS = 20;

  /** Exit statuses from here on mean that it could not be started, or died of a signal. */
  private static final int NEVER_STARTED = 126;

  private EngineParts() {}

  /** Whether text can be laid out; comments are, while exception tables are analysed. */
  public static boolean fontsUsable() {
    try {
      Font font = new Font(Font.MONOSPACED, Font.PLAIN, 12);
      return font.getStringBounds("x", new FontRenderContext(null, false, false)).getWidth() > 0;
    } catch (RuntimeException | Error e) {
      return false;
    }
  }

  /** Whether the runtime has the compiler that the Windows resource analyzer needs. */
  public static boolean compilerPresent() {
    return ToolProvider.getSystemJavaCompiler() != null;
  }

  /** Whether the native decompiler exists, starts, and ends when its input does. */
  public static boolean nativeDecompilerRuns() {
    try {
      File program = Application.getOSFile("Decompiler", "decompile");
      Process process =
          new ProcessBuilder(program.getPath())
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try {
        process.getOutputStream().close();
        return process.waitFor(START_SECONDS, TimeUnit.SECONDS)
            && process.exitValue() < NEVER_STARTED;
      } finally {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Refuses to analyse without them. */
  public static void require() throws WorkerException {
    if (!fontsUsable()) {
      throw WorkerErrors.engineUnusable(
          "fonts", "no usable font: fontconfig and a font are needed");
    }
    if (!compilerPresent()) {
      throw WorkerErrors.engineUnusable(
          "java_compiler", "the Java runtime has no module jdk.compiler");
    }
    requireNativeDecompiler();
  }

  /** Refuses to go on without the native decompiler, which analyzers use as well. */
  public static void requireNativeDecompiler() throws WorkerException {
    if (!nativeDecompilerRuns()) {
      throw WorkerErrors.engineUnusable(
          "native_decompiler", "the engine's native decompiler is missing or does not run");
    }
  }
}
