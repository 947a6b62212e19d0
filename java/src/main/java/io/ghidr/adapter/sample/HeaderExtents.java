package io.ghidr.adapter.sample;

import java.io.IOException;
import java.nio.file.Path;

/** Tells whether a Sample's own headers describe more bytes than it has: the mark of a cut file. */
public final class HeaderExtents {
  private static final long ELF_MAGIC = 0x464C457FL;
  private static final long DOS_MAGIC = 0x5A4DL;

  private HeaderExtents() {}

  /** True when an ELF or PE header points past the end of the file; false for other formats. */
  public static boolean pastEndOfFile(Path sample) throws IOException {
    try (SampleBytes bytes = new SampleBytes(sample)) {
      if (bytes.contains(0, 4) && bytes.number(0, 4) == ELF_MAGIC) {
        return ElfExtents.pastEnd(bytes);
      }
      if (bytes.contains(0, 2) && bytes.number(0, 2) == DOS_MAGIC) {
        return PeExtents.pastEnd(bytes);
      }
      return false;
    }
  }
}
