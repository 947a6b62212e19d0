package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.Fields;
import io.ghidr.adapter.json.JsonException;
import java.nio.file.Path;

/**
 * Where the engine is and how it is laid out.
 *
 * @param singleJar true for one jar file, false for an installation directory
 * @param path the jar or the directory
 */
public record EngineLocation(boolean singleJar, Path path) {

  static EngineLocation from(Fields fields, GrantedPaths paths) throws JsonException {
    String layout = fields.string("layout");
    boolean singleJar =
        switch (layout) {
          case "single_jar" -> true;
          case "installation_directory" -> false;
          default -> throw new JsonException(fields.pathOf("layout"), "unknown layout");
        };
    Path path = paths.take(fields, "path", GrantedPaths.Access.READ);
    fields.end();
    return new EngineLocation(singleJar, path);
  }
}
