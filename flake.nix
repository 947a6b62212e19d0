{
  description = "Ask Ghidra about a binary, given nothing but its path";

  # One revision, not a channel: an upgrade of Ghidra or the JDK is a reviewed change of this line (ADR 0029).
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/83199d0d373dd3ac2b9a1996b1d0263f76ab7a4c";

  outputs =
    { self, nixpkgs }:
    let
      system = "x86_64-linux";
      pkgs = nixpkgs.legacyPackages.${system};
      engine = import ./nix/engine.nix { inherit pkgs; };
      adapter = pkgs.callPackage ./nix/adapter.nix { inherit (engine) ghidra jdk; };
      ghidr = pkgs.callPackage ./nix/package.nix {
        inherit adapter;
        inherit (engine) ghidra jdk;
      };
    in
    {
      packages.${system} = {
        inherit ghidr;
        default = ghidr;
      };

      apps.${system}.default = {
        type = "app";
        program = "${ghidr}/bin/ghidr";
        meta.description = "Ask Ghidra about a binary";
      };

      devShells.${system}.default = pkgs.callPackage ./nix/shell.nix { inherit (engine) ghidra jdk; };

      checks.${system} = pkgs.callPackage ./nix/checks.nix {
        inherit ghidr;
        inherit (engine) ghidra jdk;
      };

      formatter.${system} = pkgs.nixfmt;
    };
}
