/** What the bridge tests call. */
public final class Probe {
  private Probe() {}

  /** Answers by the first argument. */
  public static int run(String what, String value, String bootNanos) {
    switch (what) {
      case "length":
        return value.length();
      case "throw":
        throw new IllegalStateException(value);
      case "property":
        return System.getProperty(value) == null ? 0 : 1;
      case "boot":
        return (int) (Long.parseLong(bootNanos) / 1_000_000);
      case "depth":
        return depth(Integer.parseInt(value));
      default:
        return -1;
    }
  }

  private static int depth(int left) {
    return left == 0 ? 0 : 1 + depth(left - 1);
  }
}
