# The Java adapter, compiled against the very Ghidra it will run in. The layout is that of lib/ghidr/adapter.
{
  stdenv,
  ghidra,
  jdk,
}:
stdenv.mkDerivation {
  pname = "ghidr-adapter";
  version = (builtins.fromTOML (builtins.readFile ../Cargo.toml)).workspace.package.version;
  src = ../java/src/main/java;
  nativeBuildInputs = [ jdk ];

  buildPhase = ''
    runHook preBuild
    class_path=$(find ${ghidra}/lib/ghidra/Ghidra -path '*/lib/*.jar' -printf '%p:')
    find io -name '*.java' ! -name package-info.java | LC_ALL=C sort > sources
    javac --release 21 -proc:none -encoding UTF-8 -cp "$class_path" -d classes @sources
    mkdir -p scripts/io/ghidr/adapter
    mv classes/io/ghidr/adapter/scripts scripts/io/ghidr/adapter/
    (cd classes && find io -type f | LC_ALL=C sort > ../entries)
    (cd classes && jar --create --date=2020-01-01T00:00:00Z --file=../ghidr-adapter.jar @../entries)
    runHook postBuild
  '';

  # Ghidra loads the scripts by file name, so they stay files.
  installPhase = ''
    runHook preInstall
    mkdir -p $out
    cp -r ghidr-adapter.jar scripts $out/
    runHook postInstall
  '';
}
