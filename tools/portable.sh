#!/usr/bin/env bash
# tools/portable.sh DIR [PROGRAM...]: the command with its libraries beside it, for a machine that has none of them:
# DIR/inferometer and DIR/lib/, and programs of build-portable (bench/bench_energy) beside it, which find the same
# libraries. Build first: cmake --preset portable && cmake --build build-portable. The C library is
# that of the machine that runs it: Debian 12 (glibc 2.36) or newer.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?"usage: tools/portable.sh DIR [PROGRAM...]"}
shift
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
for program in "$@"; do
    strip -o "$out/$(basename "$program")" "build-portable/$program"
done
du -sh "$out" | cut -f 1
