package io.ghidr.adapter;

import io.ghidr.adapter.json.Fields;
import io.ghidr.adapter.json.JsonException;
import io.ghidr.adapter.json.JsonPart;
import io.ghidr.adapter.json.Publication;
import io.ghidr.adapter.json.SizeLimitException;
import io.ghidr.adapter.json.StrictReader;
import io.ghidr.adapter.protocol.GrantedPaths;
import io.ghidr.adapter.protocol.Outcome;
import io.ghidr.adapter.protocol.Phases;
import io.ghidr.adapter.protocol.Protocol;
import io.ghidr.adapter.protocol.Request;
import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Entry point of the worker: reads one request, runs one operation, publishes one response. An
 * operation may publish what holds already; the last response takes the place of the one before.
 *
 * <p>A failure of the operation is a response. Without a request that can be echoed, or without a
 * way to publish, there is no response and the status says so. Nothing here ends the process.
 */
public final class Main {
  /** A response was published. */
  public static final int PUBLISHED = 0;

  /** No response was published. */
  public static final int NOT_PUBLISHED = 2;

  /** Finds the code of an operation. */
  @FunctionalInterface
  interface Operations {
    /** Returns the operation, or null when there is none of that name. */
    Operation find(String name) throws ReflectiveOperationException;
  }

  private final Operations operations;
  private final Phases phases;
  private final PrintStream diagnostics;

  Main(Operations operations, Phases phases, PrintStream diagnostics) {
    this.operations = operations;
    this.phases = phases;
    this.diagnostics = diagnostics;
  }

  /**
   * Answers the request file with the response file; see the status constants. The virtual machine
   * took {@code startNanos} to start.
   */
  public static int run(String request, String response, String startNanos) {
    Operations table =
        name -> OperationTable.classOf(name) == null ? null : OperationTable.create(name);
    Phases phases = new Phases();
    phases.add("virtual_machine", Long.parseLong(startNanos));
    return new Main(table, phases, System.err).answer(request, response);
  }

  int answer(String request, String response) {
    try {
      Path target = Path.of(response);
      Fields document;
      try (InputStream in = Files.newInputStream(Path.of(request))) {
        document = StrictReader.read(in, Protocol.MAX_REQUEST_BYTES);
      }
      publish(target, document);
      return PUBLISHED;
    } catch (JsonException e) {
      diagnostics.println("request refused: " + e.field() + ": " + e.getMessage());
    } catch (IOException | RuntimeException e) {
      diagnostics.println("no response: " + e);
    }
    return NOT_PUBLISHED;
  }

  private void publish(Path target, Fields document) throws IOException, JsonException {
    Request.Echo echo = Request.echo(document);
    Request request;
    try {
      request = Request.body(document);
      request.paths().require("response", target.toString(), GrantedPaths.Access.WRITE);
    } catch (JsonException e) {
      Outcome refused = Outcome.failed(WorkerErrors.requestRejected(e));
      publish(target, Protocol.MAX_RESPONSE_BYTES, echo, refused.complete());
      return;
    }
    long limit = request.limits().maxResponseBytes();
    Operation.Interim interim =
        early -> {
          try {
            publish(target, limit, echo, early.complete());
          } catch (IOException e) {
            diagnostics.println("no response yet: " + e);
          }
        };
    Outcome outcome = outcome(echo, request, interim);
    phases.end();
    try {
      publish(target, limit, echo, outcome.complete());
    } catch (SizeLimitException e) {
      WorkerException tooLarge = WorkerErrors.resultTooLarge(e);
      Outcome failed = Outcome.failed(tooLarge);
      publish(target, Protocol.MAX_RESPONSE_BYTES, echo, failed.complete());
    }
  }

  private Outcome outcome(Request.Echo echo, Request request, Operation.Interim interim) {
    try {
      Operation operation = operations.find(echo.operation());
      if (operation == null) {
        throw new JsonException("operation", "unknown operation");
      }
      return operation.run(request, phases, interim);
    } catch (JsonException e) {
      return Outcome.failed(WorkerErrors.requestRejected(e));
    } catch (WorkerException e) {
      return Outcome.failed(e);
    } catch (ReflectiveOperationException | RuntimeException | Error e) {
      e.printStackTrace(diagnostics);
      return Outcome.failed(unforeseen(echo.operation(), e));
    }
  }

  /**
   * Only an analysis can say of itself that it failed; whoever asks about a finished one has
   * another trouble.
   */
  private static WorkerException unforeseen(String operation, Throwable e) {
    return "analyze".equals(operation)
        ? WorkerErrors.analysisFailed(e.getClass().getName(), e.getMessage())
        : WorkerErrors.engineUnusable(operation, e.toString());
  }

  private void publish(Path target, long limit, Request.Echo echo, JsonPart outcome)
      throws IOException {
    Publication.publish(
        target,
        limit,
        out -> {
          out.beginObject();
          out.name("protocol_version").value(Protocol.VERSION);
          out.name("invocation_id").value(echo.invocationId());
          out.name("operation").value(echo.operation());
          out.name("phases").value(phases);
          out.name("outcome").value(outcome);
          out.endObject();
        });
  }
}
