# A nixpkgs of which only the names are real: enough to evaluate the flake's outputs without a Nix store.
{ ghidra, jdk }:
let
  package = name: {
    inherit name;
    outPath = "/stub/${name}";
  };
  names = [
    "bubblewrap"
    "cargo"
    "cargo-deny"
    "clippy"
    "dejavu_fonts"
    "jq"
    "maven"
    "nix"
    "nixfmt"
    "rustc"
    "rustfmt"
    "strace"
  ];
  built = attributes: attributes // package attributes.pname;
  pkgs =
    builtins.listToAttrs (
      map (name: {
        inherit name;
        value = package name;
      }) names
    )
    // {
      callPackage =
        path: arguments:
        let
          function = import path;
        in
        function (builtins.intersectAttrs (builtins.functionArgs function) pkgs // arguments);
      ghidra = package "ghidra" // {
        version = ghidra;
      };
      jdk21 = package "openjdk" // {
        version = jdk;
        home = "/stub/openjdk/lib/openjdk";
      };
      fontconfig = package "fontconfig" // {
        lib = package "fontconfig-lib";
      };
      stdenv = {
        mkDerivation = built;
        cc = {
          cc.lib = package "gcc-lib";
          libc = package "glibc";
        };
      };
      rustPlatform.buildRustPackage =
        attributes:
        built attributes
        // {
          overrideAttrs = change: built (attributes // change attributes);
        };
      runCommand =
        name: environment: command:
        environment // package name // { inherit command; };
      closureInfo = { rootPaths }: package "closure" // { inherit rootPaths; };
      makeFontsConf = { fontDirectories }: package "fonts.conf" // { inherit fontDirectories; };
      mkShell = attributes: attributes // package "shell";
      lib = {
        fileset = {
          toSource = { root, fileset }: builtins.seq fileset root;
          unions = paths: builtins.deepSeq (map builtins.pathExists paths) paths;
        };
        licenses.asl20 = "Apache-2.0";
      };
    };
in
{
  legacyPackages.x86_64-linux = pkgs;
}
