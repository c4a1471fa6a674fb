#!/usr/bin/env bash
# tools/portable.sh DIR: the command with its libraries beside it, for a machine that has none of them: DIR/inferometer
# and DIR/lib/. Build it first: cmake --preset portable && cmake --build build-portable. The C library itself is taken
# from the machine that runs it, which must have that of Debian 12 (glibc 2.36) or a newer one.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?"usage: tools/portable.sh DIR"}
built=build-portable/inferometer
[ -x "$built" ] || {
    echo "error: $built is missing: cmake --preset portable && cmake --build build-portable" >&2
    exit 2
}
mkdir -p "$out/lib"
strip -o "$out/inferometer" "$built"
LD_LIBRARY_PATH='' ldd "$built" | while read -r name arrow path _; do
    [ "$arrow" = "=>" ] || continue
    case "$name" in libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so*) continue ;; esac
    install -m 644 "$(readlink -f "$path")" "$out/lib/$name"
done
du -sh "$out" | cut -f 1
