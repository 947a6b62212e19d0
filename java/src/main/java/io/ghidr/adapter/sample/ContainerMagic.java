package io.ghidr.adapter.sample;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Recognises containers that a loader might take for something else. */
public final class ContainerMagic {
  /** Bytes from the start of the Sample that the decision needs. */
  public static final int BYTES = 8;

  private static final int UNIVERSAL_32 = 0xCAFEBABE;
  private static final int UNIVERSAL_64 = 0xCAFEBABF;

  /**
   * A Java class file has the same first four bytes as a universal Mach-O and then its version,
   * whose major part starts at 45; no universal binary has that many slices.
   */
  private static final int FIRST_JAVA_VERSION = 45;

  private ContainerMagic() {}

  /** Name of the container format, or null. */
  public static String formatOf(byte[] start) {
    if (startsWith(start, "!<arch>\n")) {
      return "ar archive";
    }
    if (startsWith(start, "!<thin>\n")) {
      return "thin ar archive";
    }
    if (startsWith(start, "PK\3\4") || startsWith(start, "PK\5\6")) {
      return "zip archive";
    }
    if (start.length >= BYTES && isUniversal(ByteBuffer.wrap(start))) {
      return "universal Mach-O";
    }
    return null;
  }

  private static boolean isUniversal(ByteBuffer start) {
    int magic = start.getInt(0);
    int slices = start.getInt(4);
    return magic == UNIVERSAL_64
        || magic == UNIVERSAL_32 && slices >= 0 && slices < FIRST_JAVA_VERSION;
  }

  private static boolean startsWith(byte[] start, String magic) {
    byte[] expected = magic.getBytes(StandardCharsets.ISO_8859_1);
    return start.length >= expected.length
        && ByteBuffer.wrap(start, 0, expected.length).equals(ByteBuffer.wrap(expected));
  }
}
