package io.ghidr.adapter.sample;

import java.io.IOException;
import java.nio.ByteOrder;

/** Checks the file ranges of an ELF file's header tables, segments and sections. */
final class ElfExtents {
  private static final int CLASS_64 = 2;
  private static final int BIG_ENDIAN = 2;
  private static final long SECTION_WITHOUT_BYTES = 8;
  private static final long UNUSED_SECTION = 0;

  /** The real number of segments is elsewhere; such files are core dumps of huge processes. */
  private static final long EXTENDED_SEGMENT_COUNT = 0xFFFF;

  private final SampleBytes bytes;
  private final boolean wide;

  private ElfExtents(SampleBytes bytes, boolean wide) {
    this.bytes = bytes;
    this.wide = wide;
  }

  static boolean pastEnd(SampleBytes bytes) throws IOException {
    if (!bytes.contains(0, 0x34)) {
      return true;
    }
    boolean wide = bytes.number(4, 1) == CLASS_64;
    if (wide && !bytes.contains(0, 0x40)) {
      return true;
    }
    bytes.order(bytes.number(5, 1) == BIG_ENDIAN ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    ElfExtents elf = new ElfExtents(bytes, wide);
    return elf.segmentsPastEnd() || elf.sectionsPastEnd();
  }

  private boolean segmentsPastEnd() throws IOException {
    long table = word(wide ? 0x20 : 0x1C);
    long entrySize = bytes.number(wide ? 0x36 : 0x2A, 2);
    long count = bytes.number(wide ? 0x38 : 0x2C, 2);
    if (count == EXTENDED_SEGMENT_COUNT) {
      return false;
    }
    if (tablePastEnd(table, entrySize, count, wide ? 0x38 : 0x20)) {
      return true;
    }
    for (long i = 0; i < count; i++) {
      long entry = table + i * entrySize;
      long offset = word(entry + (wide ? 8 : 4));
      long size = word(entry + (wide ? 0x20 : 0x10));
      if (size != 0 && !bytes.contains(offset, size)) {
        return true;
      }
    }
    return false;
  }

  private boolean sectionsPastEnd() throws IOException {
    long table = word(wide ? 0x28 : 0x20);
    long entrySize = bytes.number(wide ? 0x3A : 0x2E, 2);
    long count = bytes.number(wide ? 0x3C : 0x30, 2);
    if (tablePastEnd(table, entrySize, count, wide ? 0x40 : 0x28)) {
      return true;
    }
    for (long i = 0; i < count; i++) {
      long entry = table + i * entrySize;
      long type = bytes.number(entry + 4, 4);
      long offset = word(entry + (wide ? 0x18 : 0x10));
      long size = word(entry + (wide ? 0x20 : 0x14));
      boolean hasBytes = type != SECTION_WITHOUT_BYTES && type != UNUSED_SECTION && size != 0;
      if (hasBytes && !bytes.contains(offset, size)) {
        return true;
      }
    }
    return false;
  }

  private boolean tablePastEnd(long table, long entrySize, long count, int minimumEntrySize) {
    return count != 0
        && (!bytes.contains(table, entrySize * count) || entrySize < minimumEntrySize);
  }

  private long word(long offset) throws IOException {
    return bytes.number(offset, wide ? 8 : 4);
  }
}
