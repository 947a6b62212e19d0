package io.ghidr.adapter.ghidra;

import ghidra.framework.Application;
import ghidra.framework.ApplicationProperties;

/**
 * Which engine was booted.
 *
 * @param version version of the application
 * @param build source revision, or the build date where there is no revision
 */
public record EngineIdentity(String version, String build) {
  private static final String REVISION = "application.revision.ghidra";

  /** The identity of the booted engine. */
  public static EngineIdentity current() {
    ApplicationProperties properties =
        Application.getApplicationLayout().getApplicationProperties();
    String revision = properties.getProperty(REVISION);
    boolean known = revision != null && !revision.isBlank();
    return new EngineIdentity(
        Application.getApplicationVersion(), known ? revision.strip() : Application.getBuildDate());
  }
}
