package io.ghidr.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class OperationTableTest {
  @Test
  void everyOperationHasAClassOfItsOwn() throws Exception {
    assertEquals(List.of("analyze", "probe", "query"), List.copyOf(OperationTable.names()));
    for (String name : OperationTable.names()) {
      Class<?> type =
          Class.forName(OperationTable.classOf(name), false, getClass().getClassLoader());
      assertTrue(Operation.class.isAssignableFrom(type), name);
      assertEquals(name + "operation", type.getSimpleName().toLowerCase(Locale.ROOT));
    }
    assertNull(OperationTable.classOf("other"));
  }

  @Test
  void printsOperationsAndConstants() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    ListOperations.print(bytes);
    assertEquals(
        "{\"protocol_version\":1,\"facts_version\":1,\"max_request_bytes\":1048576,"
            + "\"max_response_bytes\":268435456,\"max_facts_line_bytes\":1048576,"
            + "\"max_progress_bytes\":512,\"max_queries\":10000,\"max_listed_items\":20,\"max_listed_faults\":64,\"max_listed_warnings\":10000,\"max_text_chars\":4096,"
            + "\"max_fault_message_chars\":1024,\"project_name\":\"analysis\","
            + "\"program_name\":\"sample\",\"operations\":[\"analyze\",\"probe\",\"query\"]}\n",
        bytes.toString(StandardCharsets.UTF_8));
  }
}
