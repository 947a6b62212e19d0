package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.Fields;
import io.ghidr.adapter.json.JsonException;
import java.nio.file.Path;

/**
 * A request whose envelope was accepted. The arguments are still to be taken by the operation,
 * which must do so before it touches the engine.
 *
 * @param engine the engine to boot
 * @param paths the granted roots
 * @param progressPath file that carries the current phase
 * @param limits limits of this invocation
 * @param arguments fields of the operation
 */
public record Request(
    EngineLocation engine, GrantedPaths paths, Path progressPath, Limits limits, Fields arguments) {

  /**
   * What a response echoes.
   *
   * @param invocationId 32 lower-case hexadecimal digits
   * @param operation name of the operation
   */
  public record Echo(String invocationId, String operation) {}

  /** Takes the fields that every response repeats; without them no response is possible. */
  public static Echo echo(Fields document) throws JsonException {
    if (document.integer("protocol_version", 0, Long.MAX_VALUE) != Protocol.VERSION) {
      throw new JsonException("protocol_version", "unsupported protocol version");
    }
    String id = document.string("invocation_id");
    if (!id.matches("[0-9a-f]{32}")) {
      throw new JsonException("invocation_id", "not 32 lower-case hexadecimal digits");
    }
    return new Echo(id, document.string("operation"));
  }

  /** Takes everything else. */
  public static Request body(Fields document) throws JsonException {
    boot(document.object("boot"));
    GrantedPaths paths = GrantedPaths.from(document.objects("grants"));
    EngineLocation engine = EngineLocation.from(document.object("engine"), paths);
    Path progress = paths.take(document, "progress_path", GrantedPaths.Access.WRITE);
    Limits limits = Limits.from(document.object("limits"));
    Fields arguments = document.object("arguments");
    document.end();
    return new Request(engine, paths, progress, limits, arguments);
  }

  /** The worker has already used these; only their shape is checked here. */
  private static void boot(Fields boot) throws JsonException {
    GrantedPaths.normal(boot.pathOf("libjvm"), boot.string("libjvm"));
    for (String entry : boot.strings("class_path")) {
      GrantedPaths.normal(boot.pathOf("class_path"), entry);
    }
    boot.strings("jvm_options");
    boot.integer("main_stack_mib", 1, 4096);
    boot.end();
  }
}
