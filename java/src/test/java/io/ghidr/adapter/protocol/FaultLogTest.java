package io.ghidr.adapter.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FaultLogTest {
  static String json(JsonPart part) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BoundedWriter writer = new BoundedWriter(bytes, 1 << 20);
    part.writeTo(writer);
    writer.flush();
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void listsFaultsSortedAndTyped() throws IOException {
    FaultLog log = new FaultLog();
    log.record("Stack", "c", new IllegalStateException("b"));
    log.record(null, "component", new RuntimeException());
    assertEquals(
        "{\"total\":2,\"items\":["
            + "{\"kind\":\"engine_fault\",\"component\":\"component\","
            + "\"exception_class\":\"java.lang.RuntimeException\",\"message\":\"\"},"
            + "{\"kind\":\"analyzer_failed\",\"analyzer\":\"Stack\","
            + "\"exception_class\":\"java.lang.IllegalStateException\",\"message\":\"b\"}]}",
        json(log));
    assertEquals(Set.of("Stack"), log.failedAnalyzers());
  }

  @Test
  void countsEqualFaultsButListsThemOnce() throws IOException {
    FaultLog log = new FaultLog();
    for (int i = 0; i < 3; i++) {
      log.record("A", "c", new RuntimeException("m"));
    }
    assertTrue(json(log).startsWith("{\"total\":3,\"items\":[{"));
    assertEquals(1, json(log).split("analyzer_failed", -1).length - 1);
  }

  @Test
  void listsNoMoreThanTheProtocolAllows() throws IOException {
    FaultLog log = new FaultLog();
    for (int i = 0; i < 100; i++) {
      log.record(null, "c", new RuntimeException("m" + i));
    }
    String json = json(log);
    assertTrue(json.startsWith("{\"total\":100,"));
    assertEquals(Protocol.MAX_LISTED_FAULTS, json.split("engine_fault", -1).length - 1);
  }

  @Test
  void hidesWhatVaries() {
    FaultLog log = new FaultLog();
    log.hide("/staging/1/sample/sample", "<sample>");
    log.hide(null, "<nothing>");
    log.hide("/", "<root>");
    assertEquals("open <sample>: Foo@", log.scrub("open /staging/1/sample/sample: Foo@1a2b3c4d"));
    assertEquals("", log.scrub(null));
    assertEquals(Protocol.MAX_FAULT_MESSAGE_CHARS, log.scrub("x".repeat(5000)).length());
  }

  @Test
  void aSuccessorKnowsTheDirectoriesAndNoFault() throws IOException {
    FaultLog analysis = new FaultLog();
    analysis.hide("/staging/1/project", "<project>");
    analysis.record(null, "c", new RuntimeException("of the analysis"));
    FaultLog query = analysis.successor();
    query.record(null, "c", new RuntimeException("in /staging/1/project"));
    assertEquals("java.lang.RuntimeException: in <project>", query.summary());
    assertEquals("java.lang.RuntimeException: of the analysis", analysis.summary());
  }

  @Test
  void remembersTheFirstErrorWithoutAThrowable() {
    FaultLog log = new FaultLog();
    assertNull(log.firstError());
    log.ignore(true);
    log.noteError("rehearsal");
    log.ignore(false);
    log.hide("/staging/1/sample/sample", "<sample>");
    log.noteError("no memory in /staging/1/sample/sample");
    log.noteError("import failed");
    assertEquals("no memory in <sample>", log.firstError());
    assertNull(log.summary());
  }

  @Test
  void ignoresWhatWillBeRepeated() throws IOException {
    FaultLog log = new FaultLog();
    log.ignore(true);
    log.record(null, "c", new RuntimeException("rehearsal"));
    log.ignore(false);
    assertEquals("{\"total\":0,\"items\":[]}", json(log));
    log.record(null, "c", new RuntimeException("real"));
    assertEquals("java.lang.RuntimeException: real", log.summary());
  }

  @Test
  void summarisesOnlyWhatIsThere() {
    FaultLog log = new FaultLog();
    assertNull(log.summary());
    log.record(null, "c", new RuntimeException("why"));
    assertEquals("java.lang.RuntimeException: why", log.summary());
  }
}
