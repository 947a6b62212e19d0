import ghidra.app.decompiler.DecompInterface;
import ghidra.app.util.headless.HeadlessScript;
import ghidra.program.model.listing.Function;

/** What `ghidr decompile --name main` does, as a script for the engine's own tool. */
public class DecompileMain extends HeadlessScript {
  @Override
  protected void run() throws Exception {
    Function main = getGlobalFunctions("main").get(0);
    DecompInterface decompiler = new DecompInterface();
    decompiler.openProgram(currentProgram);
    println(decompiler.decompileFunction(main, 60, monitor).getDecompiledFunction().getC());
    decompiler.dispose();
  }
}
