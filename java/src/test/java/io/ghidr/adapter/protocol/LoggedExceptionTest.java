package io.ghidr.adapter.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class LoggedExceptionTest {
  @Test
  void findsPrintedExceptions() {
    String text =
        "some message\n"
            + "java.lang.IllegalStateException: why: so\n"
            + "    at a.b.Analyzer$Inner.added(Analyzer.java:12)\n"
            + "    at java.base/java.lang.Thread.run(Thread.java:1)\n"
            + "\n"
            + "a.CustomError\n"
            + "\tat a.b.C.<init>(C.java)\n";
    assertEquals(
        List.of(
            new LoggedException(
                "java.lang.IllegalStateException",
                "why: so",
                List.of("a.b.Analyzer$Inner", "java.base/java.lang.Thread")),
            new LoggedException("a.CustomError", "", List.of("a.b.C"))),
        LoggedException.parse(text));
  }

  @Test
  void ignoresMereMentions() {
    assertEquals(List.of(), LoggedException.parse("java.lang.IllegalStateException: why\nnext\n"));
    assertEquals(List.of(), LoggedException.parse(""));
  }
}
