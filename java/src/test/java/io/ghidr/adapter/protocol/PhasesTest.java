package io.ghidr.adapter.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ghidr.adapter.json.BoundedWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PhasesTest {
  private static String text(Phases phases) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BoundedWriter writer = new BoundedWriter(bytes, 10_000);
    writer.value(phases);
    writer.flush();
    return bytes.toString(StandardCharsets.UTF_8);
  }

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
    assertEquals(expected, text(phases), "what is counted apart is taken away, and never more");
    phases.end();
    assertTrue(text(phases).endsWith("{\"name\":\"after\",\"milliseconds\":0}]"), "each part once");
    assertEquals("", phases.current());
  }
}
