# What `cargo xtask test` checks, without its downloads: the engine is the package's. The adapter is compiled; its unit tests
# and lints, which need Maven's artifacts, and the comparison of the fixtures with their sources are not among them.
#
# The tests start bubblewrap. Where the build sandbox refuses user namespaces they fail; nothing is skipped.
{
  runCommand,
  cargo-deny,
  clippy,
  nix,
  nixfmt,
  rustfmt,
  strace,
  ghidr,
  ghidra,
  jdk,
}:
let
  # The package's build environment with the whole working copy and another command.
  check =
    name: tools: command:
    ghidr.overrideAttrs (package: {
      pname = "ghidr-check-${name}";
      src = ../.;
      nativeBuildInputs = package.nativeBuildInputs ++ tools;
      buildPhase = command;
      installPhase = "touch $out";
      postInstall = "";
      doCheck = false;
    });
in
{
  format = check "format" [ nixfmt rustfmt ] ''
    cargo fmt --all --check
    find flake.nix nix tests/nix -name '*.nix' -exec nixfmt --check {} +
  '';

  lints = check "lints" [ clippy ] ''
    cargo clippy --offline --locked --workspace --all-targets --all-features -- -D warnings
  '';

  policy = check "policy" [ cargo-deny ] ''
    cargo deny --offline --locked check bans licenses sources
  '';

  tests = check "tests" [ jdk nix strace ] ''
    mkdir -p target/lib
    cp -r ${ghidr}/lib/ghidr target/lib/ghidr
    export HOME=$(mktemp -d)
    export GHIDR_TEST_GHIDRA=${ghidra}/lib/ghidra GHIDR_TEST_JAVA_HOME=${jdk.home}
    cargo test --offline --locked --workspace --all-targets --all-features --no-fail-fast
  '';

  package = runCommand "ghidr-check-package" { sample = ../fixtures/bin/elf-x86_64-pie; } ''
    export HOME=$(mktemp -d)
    ${ghidr}/bin/ghidr --format human doctor
    ${ghidr}/bin/ghidr inspect $sample > $out
  '';
}
