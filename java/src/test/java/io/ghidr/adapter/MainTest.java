package io.ghidr.adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ghidr.adapter.json.Fields;
import io.ghidr.adapter.protocol.Outcome;
import io.ghidr.adapter.protocol.Phases;
import io.ghidr.adapter.protocol.WorkerErrors;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MainTest {
  private static final String ID = "0123456789abcdef0123456789abcdef";
  private static final String ECHO =
      "{\"protocol_version\":1,\"invocation_id\":\""
          + ID
          + "\",\"operation\":\"probe\",\"phases\":[],"
          + "\"outcome\":";

  @TempDir Path directory;
  private Path request;
  private Path response;
  private final ByteArrayOutputStream diagnostics = new ByteArrayOutputStream();

  @BeforeEach
  void files() {
    request = directory.resolve("request.json");
    response = directory.resolve("response.json");
  }

  private String valid(String arguments, long maxResponseBytes) {
    return "{\"protocol_version\":1,\"invocation_id\":\""
        + ID
        + "\",\"operation\":\"probe\","
        + "\"boot\":{\"libjvm\":\"/l\",\"class_path\":[\"/a\"],\"jvm_options\":[\"-x\"],\"main_stack_mib\":8},"
        + "\"engine\":{\"layout\":\"single_jar\",\"path\":\"/e/g.jar\"},"
        + "\"grants\":[{\"path\":\"/e\",\"access\":\"read\"},{\"path\":\""
        + directory
        + "\",\"access\":\"write\"}],\"progress_path\":\""
        + directory
        + "/progress\","
        + "\"limits\":{\"analysis_timeout_seconds\":1,\"decompile_timeout_seconds\":null,\"max_cpu\":1,"
        + "\"max_response_bytes\":"
        + maxResponseBytes
        + ",\"max_facts_bytes\":1},"
        + "\"arguments\":"
        + arguments
        + "}";
  }

  private int answer(String text, Operation operation) throws IOException {
    Files.writeString(request, text);
    PrintStream stream = new PrintStream(diagnostics, true, StandardCharsets.UTF_8);
    return new Main(name -> "other".equals(name) ? null : operation, new Phases(), stream)
        .answer(request.toString(), response.toString());
  }

  private static Operation succeeding() {
    return (request, phases, interim) -> {
      request.arguments().end();
      return Outcome.probed(out -> out.value("ok"));
    };
  }

  @Test
  void publishesTheOutcome() throws IOException {
    assertEquals(Main.PUBLISHED, answer(valid("{}", 1000), succeeding()));
    assertEquals(ECHO + "{\"status\":\"probed\",\"probe\":\"ok\"}}", Files.readString(response));
    assertFalse(Files.exists(directory.resolve("response.json.tmp")));
  }

  @Test
  void reportsPhasesInOrder() throws IOException {
    answer(
        valid("{}", 1000),
        (request, phases, interim) -> {
          phases.begin("application");
          phases.begin("query");
          return Outcome.probed(out -> out.value("ok"));
        });
    assertTrue(
        Files.readString(response)
            .matches(
                ".*\"phases\":\\[\\{\"name\":\"application\",\"milliseconds\":\\d+},"
                    + "\\{\"name\":\"query\",\"milliseconds\":\\d+}].*"));
  }

  @Test
  void refusesArgumentsBeforeTheWork() throws IOException {
    assertEquals(Main.PUBLISHED, answer(valid("{\"x\":1}", 1000), succeeding()));
    assertTrue(
        Files.readString(response)
            .contains(
                "\"request_rejected\",\"details\":"
                    + "{\"field\":\"arguments.x\",\"reason\":\"unknown field\"}"));
  }

  @Test
  void refusesUnknownOperationsAndFields() throws IOException {
    String unknown =
        valid("{}", 1000).replace("\"operation\":\"probe\"", "\"operation\":\"other\"");
    assertEquals(Main.PUBLISHED, answer(unknown, succeeding()));
    assertTrue(Files.readString(response).contains("\"field\":\"operation\""));
    String extra = valid("{}", 1000).replace("\"max_cpu\":1", "\"max_cpu\":1,\"more\":1");
    assertEquals(Main.PUBLISHED, answer(extra, succeeding()));
    assertTrue(Files.readString(response).contains("\"field\":\"limits.more\""));
    String zero = valid("{}", 1000).replace("\"max_cpu\":1", "\"max_cpu\":0");
    assertEquals(Main.PUBLISHED, answer(zero, succeeding()));
    assertTrue(Files.readString(response).contains("\"field\":\"limits.max_cpu\""));
  }

  @Test
  void answersNothingItCannotEcho() throws IOException {
    assertEquals(Main.NOT_PUBLISHED, answer("{}", succeeding()));
    assertEquals(
        Main.NOT_PUBLISHED,
        answer(
            valid("{}", 1000).replace("\"protocol_version\":1", "\"protocol_version\":2"),
            succeeding()));
    assertEquals(
        Main.NOT_PUBLISHED,
        answer(valid("{}", 1000).replace(ID, ID.toUpperCase(Locale.ROOT)), succeeding()));
    assertEquals(Main.NOT_PUBLISHED, answer(" ".repeat((1 << 20) + 1), succeeding()));
    assertFalse(Files.exists(response));
    assertTrue(diagnostics.toString(StandardCharsets.UTF_8).contains("more than 1048576 bytes"));
  }

  @Test
  void anExceptionIsAnOutcome() throws IOException {
    Operation failing =
        (request, phases, interim) -> {
          throw new StackOverflowError("deep");
        };
    answer(valid("{}", 1000).replace("\"probe\"", "\"analyze\""), failing);
    assertTrue(
        Files.readString(response)
            .contains(
                "\"analysis_failed\",\"details\":"
                    + "{\"exception_class\":\"java.lang.StackOverflowError\",\"reason\":\"deep\"}"));
    answer(valid("{}", 1000), failing);
    assertTrue(
        Files.readString(response)
            .contains(
                "\"engine_unusable\",\"details\":"
                    + "{\"component\":\"probe\",\"reason\":\"java.lang.StackOverflowError: deep\"}"));
  }

  @Test
  void anOversizedOutcomeFailsAsAWhole() throws IOException {
    answer(
        valid("{}", 300),
        (request, phases, interim) -> Outcome.probed(out -> out.value("x".repeat(999))));
    assertTrue(
        Files.readString(response)
            .contains(
                "\"outcome\":{\"status\":\"failed\",\"error\":{\"code\":\"result_too_large\""));
  }

  @Test
  void whatWasPublishedEarlyIsThereUntilTheLastOutcomeTakesItsPlace() throws IOException {
    String[] early = new String[1];
    answer(
        valid("{}", 1000),
        (request, phases, interim) -> {
          phases.begin("application");
          interim.publish(Outcome.probed(out -> out.value("x".repeat(999))));
          assertFalse(Files.exists(response), "an oversized one is none");
          interim.publish(Outcome.probed(out -> out.value("early")));
          early[0] = readResponse();
          return Outcome.probed(out -> out.value("late"));
        });
    assertEquals(ECHO + "{\"status\":\"probed\",\"probe\":\"early\"}}", early[0]);
    assertTrue(readResponse().endsWith("\"outcome\":{\"status\":\"probed\",\"probe\":\"late\"}}"));
    assertTrue(diagnostics.toString(StandardCharsets.UTF_8).contains("no response yet"));
  }

  private String readResponse() {
    try {
      return Files.readString(response);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void failedWorkIsAnOutcome() throws IOException {
    answer(
        valid("{}", 1000),
        (request, phases, interim) -> {
          throw WorkerErrors.functionNotFound();
        });
    assertTrue(
        Files.readString(response).contains("{\"code\":\"function_not_found\",\"details\":{}}"));
  }

  @Test
  void operationsTakeTheirOwnArguments() throws IOException {
    answer(
        valid("{\"deep\":{\"n\":5}}", 1000),
        (request, phases, interim) -> {
          Fields deep = request.arguments().object("deep");
          long n = deep.integer("n", 0, 9);
          deep.end();
          request.arguments().end();
          return Outcome.probed(out -> out.value(n));
        });
    assertTrue(Files.readString(response).contains("\"probe\":5"));
  }
}
