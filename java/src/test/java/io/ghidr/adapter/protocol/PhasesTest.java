package io.ghidr.adapter.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class PhasesTest {
  @Test
  void partsFollowTheirPhaseAndAreNotCountedTwice() throws IOException {
    Phases phases = new Phases();
    phases.add("virtual_machine", 70_999_999);
    phases.begin("query");
    assertEquals("query", phases.current());
    phases.countApart("decompiler", 2_000_000_000_000L);
    phases.countApart("decompiler", 1_000_000_000_000L);
    phases.begin("after");
    String expected =
        "[{\"name\":\"virtual_machine\",\"milliseconds\":70},"
            + "{\"name\":\"query\",\"milliseconds\":0},"
            + "{\"name\":\"decompiler\",\"milliseconds\":3000000}]";
    assertEquals(
        expected, FaultLogTest.json(phases), "what is counted apart is taken away, and never more");
    phases.end();
    assertTrue(
        FaultLogTest.json(phases).endsWith("{\"name\":\"after\",\"milliseconds\":0}]"),
        "each part once");
    assertEquals("", phases.current());
  }
}
