package io.ghidr.driver;

import ghidra.program.database.ProgramDB;
import ghidra.program.model.lang.Language;
import ghidra.program.model.lang.LanguageID;
import ghidra.program.util.DefaultLanguageService;
import ghidra.util.exception.CancelledException;
import ghidra.util.task.TaskMonitor;
import io.ghidr.adapter.Main;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * Answers one request file after another in one Java machine, through the adapter's own entry
 * point: what a worker does, without a process and a boot for each.
 *
 * <p>Every line of standard input is {@code REQUEST TAB RESPONSE}, or {@code pack TAB FILE} for an
 * empty program in the engine's own packed form; every line of standard output is the status.
 * Whatever the engine prints goes to standard error.
 */
public final class Driver {
  private Driver() {}

  public static void main(String[] arguments) throws InterruptedException {
    // Like the worker, which runs the adapter on a thread with a stack of its own size.
    long stackBytes = Long.parseLong(arguments[0]) << 20;
    Thread thread = new Thread(null, Driver::serve, "driver", stackBytes);
    thread.start();
    thread.join();
    System.exit(0);
  }

  private static void serve() {
    PrintStream answers = System.out;
    System.setOut(System.err);
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] paths = line.split("\t", 2);
        answers.println(paths[0].equals("pack") ? pack(paths[1]) : Main.run(paths[0], paths[1], "0"));
        answers.flush();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Needs the engine that an earlier request has booted. */
  private static int pack(String file) {
    Object owner = new Object();
    try {
      Language language =
          DefaultLanguageService.getLanguageService()
              .getLanguage(new LanguageID("x86:LE:64:default"));
      ProgramDB program =
          new ProgramDB("packed", language, language.getDefaultCompilerSpec(), owner);
      program.saveToPackedFile(new File(file), TaskMonitor.DUMMY);
      program.release(owner);
      return 0;
    } catch (IOException | CancelledException e) {
      e.printStackTrace();
      return 1;
    }
  }
}
