# Ghidra and the JDK of the package: exactly the pair that the project verifies, or no evaluation.
{ pkgs }:
let
  expect =
    what: expected: found: value:
    if found == expected then
      value
    else
      throw "this nixpkgs has ${what} ${found}; ghidr is verified with ${what} ${expected}";
  major = version: builtins.head (builtins.splitVersion version);
in
{
  ghidra = expect "Ghidra" "12.1.2" pkgs.ghidra.version pkgs.ghidra;
  jdk = expect "JDK" "21" (major pkgs.jdk21.version) pkgs.jdk21;
}
