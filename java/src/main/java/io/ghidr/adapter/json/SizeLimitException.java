package io.ghidr.adapter.json;

import java.io.IOException;

/**
 * A document outgrew the number of bytes it may have; what was written so far must be discarded.
 */
public final class SizeLimitException extends IOException {
  private static final long serialVersionUID = 1L;

  private final long limitBytes;
  private final long observedAtLeastBytes;

  SizeLimitException(long limitBytes, long observedAtLeastBytes) {
    super("document exceeds " + limitBytes + " bytes");
    this.limitBytes = limitBytes;
    this.observedAtLeastBytes = observedAtLeastBytes;
  }

  /** The limit that was in force. */
  public long limitBytes() {
    return limitBytes;
  }

  /** A lower bound of the size that the complete document would have had. */
  public long observedAtLeastBytes() {
    return observedAtLeastBytes;
  }
}
