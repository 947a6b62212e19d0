package io.ghidr.adapter.ghidra;

import ghidra.util.ErrorDisplay;
import ghidra.util.ErrorLogger;
import java.awt.Component;

/**
 * Turns what Ghidra would show in a dialogue into log calls, so that it meets the same rule. Our
 * logger takes a throwable that is null for none.
 */
final class EngineErrorDisplay implements ErrorDisplay {
  @Override
  public void displayInfoMessage(
      ErrorLogger logger, Object originator, Component parent, String title, Object message) {
    logger.info(originator, message);
  }

  @Override
  public void displayErrorMessage(
      ErrorLogger logger,
      Object originator,
      Component parent,
      String title,
      Object message,
      Throwable throwable) {
    logger.error(originator, message, throwable);
  }

  @Override
  public void displayWarningMessage(
      ErrorLogger logger,
      Object originator,
      Component parent,
      String title,
      Object message,
      Throwable throwable) {
    logger.warn(originator, message, throwable);
  }
}
