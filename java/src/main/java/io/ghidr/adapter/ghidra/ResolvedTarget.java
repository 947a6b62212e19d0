package io.ghidr.adapter.ghidra;

import io.ghidr.adapter.protocol.OptionValue;
import java.util.List;

/**
 * The unique target of a Sample and the options its loader will use.
 *
 * @param candidate loader, language and compiler
 * @param loaderOptions resolved options of the loader, sorted
 */
public record ResolvedTarget(TargetCandidate candidate, List<OptionValue> loaderOptions) {
  /** Name of the loader. */
  public String loader() {
    return candidate.loader();
  }

  /** Processor language. */
  public String language() {
    return candidate.language();
  }

  /** Compiler specification. */
  public String compiler() {
    return candidate.compiler();
  }
}
