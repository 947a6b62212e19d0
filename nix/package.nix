# ghidr with everything it runs: bin/ghidr finds the rest in ../lib/ghidr, as in any other installation.
{
  lib,
  stdenv,
  rustPlatform,
  closureInfo,
  makeFontsConf,
  runCommand,
  bubblewrap,
  dejavu_fonts,
  fontconfig,
  jq,
  adapter,
  ghidra,
  jdk,
}:
let
  cargo = builtins.fromTOML (builtins.readFile ../Cargo.toml);

  # Without a font Ghidra's analyses are silently poorer; the host's fonts are no part of this package.
  fonts = runCommand "ghidr-fonts" { } ''
    mkdir $out
    cp ${makeFontsConf { fontDirectories = [ dejavu_fonts ]; }} $out/fonts.conf
  '';

  # What a worker loads. The sandbox shows these store paths and no others.
  closure = closureInfo {
    rootPaths = [
      dejavu_fonts
      fontconfig.lib
      fonts
      ghidra
      jdk
      stdenv.cc.cc.lib
      stdenv.cc.libc
    ];
  };
in
rustPlatform.buildRustPackage {
  pname = "ghidr";
  inherit (cargo.workspace.package) version;
  src = lib.fileset.toSource {
    root = ../.;
    fileset = lib.fileset.unions [
      ../.cargo
      ../CHANGELOG.md
      ../Cargo.lock
      ../Cargo.toml
      ../LICENSE
      ../jvm-bridge
      ../packaging
      ../src
      ../tests/fakes
      ../tests/main.rs
      ../xtask
    ];
  };
  cargoLock.lockFile = ../Cargo.lock;
  cargoBuildFlags = [
    "--package"
    "ghidr"
  ];
  nativeBuildInputs = [ jq ];

  # The tests need an engine and user namespaces: checks.nix runs them.
  doCheck = false;

  postInstall = ''
    cargo run --offline --release --package xtask -- share --prefix $out

    bundle=$out/lib/ghidr
    engine=${ghidra}/lib/ghidra
    mkdir -p $bundle
    cp -r ${adapter} $bundle/adapter
    property() { sed -n "s/^application\.$1=//p" $engine/Ghidra/application.properties; }
    build=$(property revision.ghidra)
    jq --null-input \
      --arg path "$engine" \
      --arg version "$(property version)" \
      --arg build "''${build:-$(property build.date)}" \
      --arg release "$(property release.name)" \
      --argjson minimum "$(property java.min)" \
      --arg java ${jdk.home} \
      '{
        descriptor_version: 1, layout: "installation_directory", path: $path,
        ghidra_version: $version, ghidra_build: $build, ghidra_release_name: $release,
        java_minimum: $minimum, java_maximum: null, java_home: $java, cache: null, cache_sha256: null
      }' > $bundle/engine.json
    jq --null-input --raw-input \
      --arg bubblewrap ${bubblewrap}/bin/bwrap \
      --arg fonts ${fonts} \
      '{sandbox_version: 1, bubblewrap: $bubblewrap, fonts: $fonts, closure: [inputs]}' \
      < ${closure}/store-paths > $bundle/sandbox.json
  '';

  meta = {
    inherit (cargo.package) description;
    license = lib.licenses.asl20;
    mainProgram = "ghidr";
    platforms = [ "x86_64-linux" ];
  };
}
