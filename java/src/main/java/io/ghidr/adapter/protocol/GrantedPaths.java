package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.Fields;
import io.ghidr.adapter.json.JsonException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The roots that a request grants, and the check that every other path stays below them.
 *
 * <p>A path must be absolute, normal and equal to or below a root with enough access. The check is
 * on names: what the file system resolves them to is the sandbox's business.
 */
public final class GrantedPaths {
  /** What a path is needed for. */
  public enum Access {
    /** Reading only. */
    READ,
    /** Reading and writing. */
    WRITE
  }

  private record Grant(Path root, Access access) {}

  private final List<Grant> grants;

  private GrantedPaths(List<Grant> grants) {
    this.grants = grants;
  }

  static GrantedPaths from(List<Fields> entries) throws JsonException {
    List<Grant> grants = new ArrayList<>();
    for (Fields entry : entries) {
      Path root = normal(entry.pathOf("path"), entry.string("path"));
      String access = entry.string("access");
      entry.end();
      grants.add(
          switch (access) {
            case "read" -> new Grant(root, Access.READ);
            case "write" -> new Grant(root, Access.WRITE);
            default -> throw new JsonException(entry.pathOf("access"), "unknown access");
          });
    }
    return new GrantedPaths(List.copyOf(grants));
  }

  /** Takes the path field {@code name} of {@code fields} and requires {@code access} to it. */
  public Path take(Fields fields, String name, Access access) throws JsonException {
    return require(fields.pathOf(name), fields.string(name), access);
  }

  /** Requires {@code access} to {@code text}, the value of {@code field}. */
  public Path require(String field, String text, Access access) throws JsonException {
    Path path = normal(field, text);
    for (Grant grant : grants) {
      if (path.startsWith(grant.root) && (access == Access.READ || grant.access == Access.WRITE)) {
        return path;
      }
    }
    throw new JsonException(field, "path outside the granted roots");
  }

  static Path normal(String field, String text) throws JsonException {
    Path path;
    try {
      path = Path.of(text);
    } catch (InvalidPathException e) {
      throw new JsonException(field, "not a path");
    }
    boolean normal = path.isAbsolute() && path.normalize().toString().equals(text);
    if (!normal || text.indexOf('\n') >= 0) {
      throw new JsonException(field, "path that is not absolute and normal");
    }
    return path;
  }
}
