package io.ghidr.adapter.protocol;

import static io.ghidr.adapter.protocol.FaultLogTest.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.Collections;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AnswerFileTest {
  @TempDir Path directory;

  private Queries queries(int count, boolean stop, long mostBytes, long mostAnswerBytes) {
    return new Queries(
        Collections.nCopies(count, new Selector.ByName("f")),
        directory.resolve("answers.jsonl"),
        stop,
        60,
        mostBytes,
        mostAnswerBytes,
        1);
  }

  private String text() throws IOException {
    return Files.readString(directory.resolve("answers.jsonl"));
  }

  @Test
  void everyAnswerIsReadableBeforeTheNext() throws Exception {
    try (AnswerFile answers = new AnswerFile(queries(2, false, 1000, 1000))) {
      assertTrue(answers.wantsMore());
      answers.succeed(out -> out.value("a"));
      String first =
          "{\"index\":0,\"outcome\":{\"status\":\"decompiled\",\"decompilation\":\"a\"}}\n";
      assertEquals(first, text());
      answers.fail(WorkerErrors.functionNotFound());
      assertEquals(
          first
              + "{\"index\":1,\"outcome\":{\"status\":\"failed\",\"error\":"
              + "{\"code\":\"function_not_found\",\"details\":{}}}}\n",
          text());
      assertFalse(answers.wantsMore());
      byte[] bytes = Files.readAllBytes(directory.resolve("answers.jsonl"));
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      assertEquals(
          "{\"bytes\":"
              + bytes.length
              + ",\"sha256\":\""
              + HexFormat.of().formatHex(digest)
              + "\",\"count\":2,\"failed\":1,\"stopped\":null}",
          json(answers.summary()));
    }
    assertEquals(
        "rw-------",
        PosixFilePermissions.toString(
            Files.getPosixFilePermissions(directory.resolve("answers.jsonl"))));
  }

  @Test
  void theFirstFailureIsTheLastAnswerWhenItIsToBe() throws Exception {
    try (AnswerFile answers = new AnswerFile(queries(3, true, 1000, 1000))) {
      answers.succeed(out -> out.value("a"));
      answers.fail(WorkerErrors.functionNotFound());
      assertFalse(answers.wantsMore());
      assertTrue(json(answers.summary()).endsWith("\"failed\":1,\"stopped\":\"failure\"}"));
    }
  }

  @Test
  void anAnswerThatIsTooLargeIsAFailureInItsPlace() throws Exception {
    try (AnswerFile answers = new AnswerFile(queries(2, false, 10_000, 200))) {
      answers.succeed(out -> out.value("x".repeat(500)));
      answers.succeed(out -> out.value("b"));
      assertTrue(
          text()
              .startsWith(
                  "{\"index\":0,\"outcome\":{\"status\":\"failed\",\"error\":"
                      + "{\"code\":\"result_too_large\",\"details\":{\"limit_bytes\":200,"));
      assertTrue(json(answers.summary()).contains("\"count\":2,\"failed\":1,\"stopped\":null"));
    }
  }

  @Test
  void aFullFileEndsBeforeTheAnswerThatDoesNotFit() throws Exception {
    try (AnswerFile answers = new AnswerFile(queries(3, false, 1, 1000))) {
      answers.succeed(out -> out.value("the first is written whatever its size"));
      assertTrue(answers.wantsMore());
      answers.succeed(out -> out.value("b"));
      assertFalse(answers.wantsMore());
      assertEquals(1, text().lines().count());
      assertTrue(json(answers.summary()).contains("\"count\":1,\"failed\":0,\"stopped\":\"size\""));
    }
  }

  @Test
  void anExistingFileIsNotTouched() throws Exception {
    Files.writeString(directory.resolve("answers.jsonl"), "x");
    assertThrows(
        FileAlreadyExistsException.class, () -> new AnswerFile(queries(1, false, 1, 1)).close());
    assertEquals("x", text());
  }
}
