#!/bin/sh
# Installs ghidr from its unpacked archive: copies bin, lib and share below a prefix and links the JDK to use.
# Needs no Rust, no network and no other right than to write below the prefix. Running it again replaces the older
# installation; what it did not put there is never replaced.
set -eu
umask 022

usage='usage: install.sh [--prefix DIR] [--java-home DIR]

  --prefix DIR     Directory that receives bin, lib and share [default: ~/.local]; "." in the unpacked archive uses it
                   where it is
  --java-home DIR  The full JDK that runs Ghidra [default: found by $JAVA_HOME, javac, /usr/lib/jvm]'

fail() {
    printf 'install.sh: %s\n' "$1" >&2
    exit 1
}

prefix=${HOME:+$HOME/.local}
java_home=
while [ $# -gt 0 ]; do
    case $1 in
    --help | -h) printf '%s\n' "$usage" && exit 0 ;;
    --prefix | --java-home)
        [ $# -ge 2 ] || fail "$1 needs a value"
        if [ "$1" = --prefix ]; then prefix=$2; else java_home=$2; fi
        shift 2
        ;;
    *) fail "unknown argument '$1'; see --help" ;;
    esac
done
[ -n "$prefix" ] || fail 'no HOME: name a place with --prefix DIR'

archive=$(cd "$(dirname "$0")" && pwd -P)
[ -f "$archive/lib/ghidr/install.json" ] || fail "there is no unpacked archive in $archive"
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd -P)

# The Java feature version of a full JDK; nothing for anything else.
java_version() {
    [ -n "$1" ] && [ -x "$1/bin/javac" ] && [ -f "$1/lib/server/libjvm.so" ] && [ -f "$1/release" ] || return 0
    grep -q '^MODULES=.*jdk\.compiler' "$1/release" || return 0
    sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release"
}

# The JDK for the engine of this archive: the one named, else the verified version, else any that is new enough.
descriptor=$archive/lib/ghidr/engine.json
jdk=
if [ -f "$descriptor" ]; then
    minimum=$(sed -n 's/.*"java_minimum": *\([0-9]*\).*/\1/p' "$descriptor")
    if [ -n "$java_home" ]; then
        version=$(java_version "$java_home")
        [ "${version:-0}" -ge "$minimum" ] || fail "$java_home is not a full JDK, Java $minimum or later"
        jdk=$(cd "$java_home" && pwd -P)
    else
        javac=$(command -v javac || true)
        for home in "${JAVA_HOME:-}" "${javac:+$(dirname "$(dirname "$(readlink -f "$javac")")")}" /usr/lib/jvm/*; do
            version=$(java_version "$home")
            [ "${version:-0}" -ge "$minimum" ] || continue
            [ -z "$jdk" ] || [ "$version" = "$minimum" ] || continue
            jdk=$(cd "$home" && pwd -P)
            [ "$version" != "$minimum" ] || break
        done
        [ -n "$jdk" ] || fail "no full JDK, Java $minimum or later, was found: install one (Debian: openjdk-$minimum-jdk-headless) or name it with --java-home DIR"
    fi
fi

if [ "$prefix" != "$archive" ]; then
    tree=$prefix/lib/ghidr
    if [ ! -f "$tree/install.json" ]; then
        if [ -d "$tree" ]; then rmdir "$tree" 2>/dev/null || fail "$tree exists and is not ours; choose another --prefix"; fi
        (cd "$archive" && find bin share -type f) | while IFS= read -r file; do
            [ ! -e "$prefix/$file" ] || fail "$prefix/$file exists and is not ours; choose another --prefix"
        done
    fi
    mkdir -p "$prefix/bin" "$prefix/lib"
    rm -rf "$prefix/lib/.ghidr.new" "$prefix/lib/.ghidr.old"
    cp -R "$archive/lib/ghidr" "$prefix/lib/.ghidr.new"
    rm -rf "$prefix/lib/.ghidr.new/jdk"
    [ -z "$jdk" ] || ln -s "$jdk" "$prefix/lib/.ghidr.new/jdk"
    if [ -d "$tree" ]; then mv "$tree" "$prefix/lib/.ghidr.old"; fi
    mv "$prefix/lib/.ghidr.new" "$tree"
    rm -rf "$prefix/lib/.ghidr.old"
    (cd "$archive" && find share -type d) | while IFS= read -r directory; do mkdir -p "$prefix/$directory"; done
    (cd "$archive" && find share -type f) | while IFS= read -r file; do cp "$archive/$file" "$prefix/$file"; done
    cp "$archive/bin/ghidr" "$prefix/bin/.ghidr.new"
    mv "$prefix/bin/.ghidr.new" "$prefix/bin/ghidr"
elif [ -n "$jdk" ]; then
    rm -rf "$archive/lib/ghidr/jdk"
    ln -s "$jdk" "$archive/lib/ghidr/jdk"
fi

printf 'installed %s\n' "$prefix/bin/ghidr"
if [ -z "$jdk" ]; then
    printf 'this archive has no Ghidra: name one with --ghidra and --java-home, or GHIDR_GHIDRA and GHIDR_JAVA_HOME\n'
    exit 0
fi
printf 'Java: %s\n' "$jdk"
for needed in bwrap:bubblewrap fc-list:fontconfig; do
    command -v "${needed%%:*}" >/dev/null || printf 'missing: %s (Debian: %s)\n' "${needed%%:*}" "${needed##*:}"
done
store=$(mktemp -d)
status=0
env -i "$prefix/bin/ghidr" --format human doctor --store "$store/store" || status=$?
rm -rf "$store"
exit "$status"
