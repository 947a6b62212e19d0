# A shell in which `cargo xtask setup` finds what it needs, and the integration suite the verified engine.
{
  mkShell,
  bubblewrap,
  cargo,
  cargo-deny,
  clippy,
  dejavu_fonts,
  fontconfig,
  maven,
  nix,
  nixfmt,
  rustc,
  rustfmt,
  strace,
  ghidra,
  jdk,
}:
mkShell {
  packages = [
    bubblewrap
    cargo
    cargo-deny
    clippy
    dejavu_fonts
    fontconfig
    jdk
    maven
    nix
    nixfmt
    rustc
    rustfmt
    strace
  ];

  JAVA_HOME = jdk.home;
  GHIDR_TEST_GHIDRA = "${ghidra}/lib/ghidra";
  GHIDR_TEST_JAVA_HOME = jdk.home;
}
