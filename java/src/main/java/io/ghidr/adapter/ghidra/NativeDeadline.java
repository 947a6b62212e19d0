package io.ghidr.adapter.ghidra;

import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.TimeUnit;

/**
 * Kills the native helpers of this process when a call into them outlives its time.
 *
 * <p>The engine has a timer of its own, but it only asks a helper to end, and then waits for it: a
 * helper that hangs, or is stopped, never does.
 */
final class NativeDeadline {
  /** What the engine's own timer gets before it is overruled. */
  private static final long GRACE_MILLISECONDS = 2_000;

  private final Timer timer = new Timer("ghidr-native-deadline", true);

  private NativeDeadline(long milliseconds) {
    timer.schedule(
        new TimerTask() {
          @Override
          public void run() {
            ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
          }
        },
        milliseconds);
  }

  /** Starts the clock for a call whose own limit is {@code seconds}; {@link #stop} ends it. */
  static NativeDeadline after(int seconds) {
    return new NativeDeadline(TimeUnit.SECONDS.toMillis(seconds) + GRACE_MILLISECONDS);
  }

  void stop() {
    timer.cancel();
  }
}
