package io.ghidr.adapter.sample;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeaderExtentsTest {
  @TempDir Path directory;

  private boolean pastEnd(byte[] bytes) throws IOException {
    return HeaderExtents.pastEndOfFile(Files.write(directory.resolve("sample"), bytes));
  }

  /** One segment and one section, both [0x100, 0x180) in a file of 0x200 bytes. */
  private static ByteBuffer elf64(ByteOrder order) {
    ByteBuffer elf = ByteBuffer.allocate(0x200).order(order);
    elf.put(new byte[] {0x7F, 'E', 'L', 'F', 2, (byte) (order == ByteOrder.BIG_ENDIAN ? 2 : 1)});
    elf.putLong(0x20, 0x40).putShort(0x36, (short) 0x38).putShort(0x38, (short) 1);
    elf.putLong(0x28, 0x1C0).putShort(0x3A, (short) 0x40).putShort(0x3C, (short) 1);
    elf.putLong(0x40 + 8, 0x100).putLong(0x40 + 0x20, 0x80);
    elf.putInt(0x1C0 + 4, 1).putLong(0x1C0 + 0x18, 0x100).putLong(0x1C0 + 0x20, 0x80);
    return elf;
  }

  private static ByteBuffer pe() {
    ByteBuffer pe = ByteBuffer.allocate(0x200).order(ByteOrder.LITTLE_ENDIAN);
    pe.putShort(0, (short) 0x5A4D).putInt(0x3C, 0x80).putInt(0x80, 0x4550);
    pe.putShort(0x86, (short) 1).putShort(0x94, (short) 0x10);
    int section = 0x80 + 24 + 0x10;
    pe.putInt(section + 16, 0x100).putInt(section + 20, 0x100);
    return pe;
  }

  @Test
  void acceptsCompleteFiles() throws IOException {
    assertFalse(pastEnd(elf64(ByteOrder.LITTLE_ENDIAN).array()));
    assertFalse(pastEnd(elf64(ByteOrder.BIG_ENDIAN).array()));
    assertFalse(pastEnd(pe().array()));
    assertFalse(pastEnd(new byte[0]));
    assertFalse(pastEnd("MZ plain text".getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void seesEveryCutOfAnElf() throws IOException {
    byte[] whole = elf64(ByteOrder.LITTLE_ENDIAN).array();
    for (int length : new int[] {4, 0x33, 0x40, 0x60, 0x100, 0x17F, 0x1C0, 0x1FF}) {
      assertTrue(pastEnd(Arrays.copyOf(whole, length)), "cut to " + length);
    }
  }

  @Test
  void seesEveryCutOfAPe() throws IOException {
    byte[] whole = pe().array();
    for (int length : new int[] {0x90, 0xA8, 0xC0, 0x1FF}) {
      assertTrue(pastEnd(Arrays.copyOf(whole, length)), "cut to " + length);
    }
  }

  @Test
  void survivesHostileNumbers() throws IOException {
    ByteBuffer elf = elf64(ByteOrder.LITTLE_ENDIAN);
    elf.putLong(0x28, -1L);
    assertTrue(pastEnd(elf.array()));
    elf = elf64(ByteOrder.LITTLE_ENDIAN);
    elf.putLong(0x48, Long.MAX_VALUE).putLong(0x60, Long.MAX_VALUE);
    assertTrue(pastEnd(elf.array()));
    elf = elf64(ByteOrder.LITTLE_ENDIAN);
    elf.putShort(0x36, (short) 1);
    assertTrue(pastEnd(elf.array()));
    Random random = new Random(1);
    for (int i = 0; i < 500; i++) {
      byte[] noise = elf64(ByteOrder.LITTLE_ENDIAN).array();
      byte[] header = new byte[0x3A];
      random.nextBytes(header);
      System.arraycopy(header, 0, noise, 6, header.length);
      pastEnd(noise);
    }
  }

  @Test
  void sectionsWithoutBytesDoNotCount() throws IOException {
    ByteBuffer elf = elf64(ByteOrder.LITTLE_ENDIAN);
    elf.putInt(0x1C0 + 4, 8).putLong(0x1C0 + 0x20, 1 << 30);
    assertFalse(pastEnd(elf.array()));
  }

  @Test
  void recognisesContainers() {
    assertEquals(
        "ar archive", ContainerMagic.formatOf("!<arch>\n".getBytes(StandardCharsets.UTF_8)));
    assertEquals("zip archive", ContainerMagic.formatOf(new byte[] {'P', 'K', 3, 4}));
    byte[] fat = {(byte) 0xCA, (byte) 0xFE, (byte) 0xBA, (byte) 0xBE, 0, 0, 0, 2};
    assertEquals("universal Mach-O", ContainerMagic.formatOf(fat));
    fat[7] = 61;
    assertNull(ContainerMagic.formatOf(fat), "a Java class file");
    assertNull(ContainerMagic.formatOf(new byte[] {'P', 'K'}));
    assertNull(ContainerMagic.formatOf(new byte[0]));
  }
}
