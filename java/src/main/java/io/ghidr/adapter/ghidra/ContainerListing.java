package io.ghidr.adapter.ghidra;

import ghidra.formats.gfilesystem.FSRL;
import ghidra.formats.gfilesystem.FileSystemProbeConflictResolver;
import ghidra.formats.gfilesystem.FileSystemRef;
import ghidra.formats.gfilesystem.FileSystemService;
import ghidra.formats.gfilesystem.GFile;
import ghidra.formats.gfilesystem.GFileSystem;
import ghidra.util.exception.CancelledException;
import ghidra.util.task.TaskMonitor;
import io.ghidr.adapter.protocol.AddressValue;
import io.ghidr.adapter.protocol.Listing;
import io.ghidr.adapter.protocol.WorkerErrors;
import io.ghidr.adapter.protocol.WorkerException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Refuses a container and names its members, as far as the engine can list them. */
final class ContainerListing {
  private static final int MAX_VISITED = 100_000;

  private ContainerListing() {}

  /** The error for a Sample that is known to be a container of {@code format}. */
  static WorkerException refuse(FSRL location, String format) {
    List<String> members = List.of();
    try (FileSystemRef reference = probe(location)) {
      if (reference != null) {
        members = members(reference.getFilesystem());
      }
    } catch (IOException | CancelledException | RuntimeException e) {
      members = List.of();
    }
    return WorkerErrors.containerSample(format, Listing.ofStrings(members));
  }

  /** Throws when the engine recognises a container. */
  static void refuseIfContainer(FSRL location) throws WorkerException {
    try (FileSystemRef reference = probe(location)) {
      if (reference != null) {
        GFileSystem system = reference.getFilesystem();
        throw WorkerErrors.containerSample(system.getType(), Listing.ofStrings(members(system)));
      }
    } catch (IOException | CancelledException | RuntimeException e) {
      // Not a container that the engine can open, so the answer stays "unsupported".
      return;
    }
  }

  private static FileSystemRef probe(FSRL location) throws IOException, CancelledException {
    return FileSystemService.getInstance()
        .probeFileForFilesystem(
            location, TaskMonitor.DUMMY, FileSystemProbeConflictResolver.CHOOSEFIRST);
  }

  private static List<String> members(GFileSystem system) throws IOException {
    List<String> paths = new ArrayList<>();
    Deque<GFile> directories = new ArrayDeque<>();
    int visited = 0;
    List<GFile> listing = system.getListing(null);
    while (listing != null && visited < MAX_VISITED) {
      for (GFile file : listing) {
        visited++;
        if (file.isDirectory()) {
          directories.add(file);
        } else {
          paths.add(inContainer(file.getPath()));
        }
      }
      listing = directories.isEmpty() ? null : system.getListing(directories.poll());
    }
    paths.sort(AddressValue::compareBytes);
    return paths;
  }

  /** The engine roots every path in its file system; no container calls a member so. */
  private static String inContainer(String path) {
    return path.startsWith("/") ? path.substring(1) : path;
  }
}
