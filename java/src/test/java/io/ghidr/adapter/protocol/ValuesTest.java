package io.ghidr.adapter.protocol;

import static io.ghidr.adapter.protocol.FaultLogTest.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ghidr.adapter.json.JsonPart;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ValuesTest {
  @ParameterizedTest
  @CsvSource({"16,4198688,0x0000000000401120", "4,10,0x000a", "8,-1,0xffffffffffffffff"})
  void padsOffsets(int digits, long offset, String text) throws Exception {
    AddressValue address = new AddressValue("ram", digits, offset);
    assertEquals("{\"space\":\"ram\",\"offset\":\"" + text + "\"}", json(address));
  }

  @Test
  void ordersFunctionsByLocationSpaceBytesAndUnsignedOffset() {
    FunctionRow low = row("EXTERNAL", 1, false);
    FunctionRow high = row("ram", 5, false);
    FunctionRow highest = row("ram", -5, false);
    FunctionRow accented = row("é", 0, false);
    FunctionRow external = row("EXTERNAL", 0, true);
    List<FunctionRow> rows = new ArrayList<>(List.of(external, accented, highest, high, low));
    Collections.sort(rows);
    assertEquals(List.of(low, high, highest, accented, external), rows);
  }

  @Test
  void writesFunctionsInTheFixedFieldOrder() throws Exception {
    AddressValue entry = new AddressValue("ram", 4, 1);
    FunctionRow row = new FunctionRow("a", "N::a", entry, 3, false, true, entry, true);
    assertEquals(
        "{\"name\":\"a\",\"qualified_name\":\"N::a\",\"entry\":{\"space\":\"ram\",\"offset\":\"0x0001\"},"
            + "\"body_address_count\":3,\"location\":\"memory\",\"is_external\":false,\"is_thunk\":true,"
            + "\"thunk_target_entry\":{\"space\":\"ram\",\"offset\":\"0x0001\"},\"decompilable\":true}",
        json(row));
  }

  @Test
  void writesOptionsByType() throws Exception {
    assertEquals("{\"name\":\"n\",\"type\":\"boolean\",\"value\":true}", option(true));
    assertEquals("{\"name\":\"n\",\"type\":\"integer\",\"value\":7}", option(7));
    assertEquals("{\"name\":\"n\",\"type\":\"long\",\"value\":8}", option(8L));
    assertEquals("{\"name\":\"n\",\"type\":\"float\",\"value\":\"14.6\"}", option(14.6f));
    assertEquals("{\"name\":\"n\",\"type\":\"double\",\"value\":\"30.0\"}", option(30.0));
    assertEquals(
        "{\"name\":\"n\",\"type\":\"enum\",\"value\":\"SECONDS\"}", option(TimeUnit.SECONDS));
    assertEquals(
        "{\"name\":\"n\",\"type\":\"string_builder\",\"value\":\"x\"}",
        option(new StringBuilder("x")));
    assertEquals("{\"name\":\"n\",\"type\":\"none\",\"value\":\"\"}", option(null));
  }

  @Test
  void sortsOptionsAndRefusesDuplicates() throws Exception {
    OptionValue upper = OptionValue.of("Z", 1);
    OptionValue lower = OptionValue.of("a", 1);
    assertEquals(List.of(upper, lower), OptionValue.sorted(List.of(lower, upper)));
    assertThrows(WorkerException.class, () -> OptionValue.sorted(List.of(upper, upper)));
  }

  @Test
  void disclosesWhatAListingLeavesOut() throws Exception {
    List<JsonPart> items = Collections.nCopies(21, out -> out.value(1));
    String json = json(Listing.of(items));
    assertTrue(json.endsWith("],\"total\":21,\"has_more\":true}"));
    assertTrue(json.startsWith("{\"items\":[" + "1,".repeat(19) + "1],"));
  }

  @Test
  void boundsWithoutSplittingAPair() {
    assertEquals("a", Protocol.bounded("a\uD83D\uDE00", 2));
    assertEquals("a\uD83D\uDE00", Protocol.bounded("a\uD83D\uDE00", 3));
    assertEquals("", Protocol.bounded(null, 3));
  }

  @Test
  void boundsTheProgressLine() {
    assertEquals(
        "import\t\n", new String(ProgressFile.line("import", null), StandardCharsets.UTF_8));
    assertEquals("a\tb c\n", new String(ProgressFile.line("a", "b\nc"), StandardCharsets.UTF_8));
    byte[] line = ProgressFile.line("analysis", "é".repeat(1000));
    assertTrue(line.length <= Protocol.MAX_PROGRESS_BYTES && line.length > 400);
  }

  private static FunctionRow row(String space, long offset, boolean external) {
    return new FunctionRow(
        "f", "f", new AddressValue(space, 8, offset), 1, external, false, null, true);
  }

  private static String option(Object value) throws Exception {
    return json(OptionValue.of("n", value));
  }
}
