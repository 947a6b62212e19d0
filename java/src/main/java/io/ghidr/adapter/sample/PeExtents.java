package io.ghidr.adapter.sample;

import java.io.IOException;

/** Checks the headers and the raw section ranges of a PE file. */
final class PeExtents {
  private static final int FILE_HEADER_BYTES = 24;
  private static final int SECTION_HEADER_BYTES = 40;
  private static final long PE_MAGIC = 0x4550L;

  private PeExtents() {}

  static boolean pastEnd(SampleBytes bytes) throws IOException {
    if (!bytes.contains(0x3C, 4)) {
      return false;
    }
    long header = bytes.number(0x3C, 4);
    if (!bytes.contains(header, 4) || bytes.number(header, 4) != PE_MAGIC) {
      // A plain DOS program, in which these four bytes mean nothing.
      return false;
    }
    if (!bytes.contains(header, FILE_HEADER_BYTES)) {
      return true;
    }
    long sections = bytes.number(header + 6, 2);
    long table = header + FILE_HEADER_BYTES + bytes.number(header + 20, 2);
    if (!bytes.contains(table, sections * SECTION_HEADER_BYTES)) {
      return true;
    }
    for (long i = 0; i < sections; i++) {
      long entry = table + i * SECTION_HEADER_BYTES;
      long size = bytes.number(entry + 16, 4);
      long offset = bytes.number(entry + 20, 4);
      if (size != 0 && offset != 0 && !bytes.contains(offset, size)) {
        return true;
      }
    }
    return false;
  }
}
