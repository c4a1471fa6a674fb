#!/usr/bin/env bash
# tools/portable.sh DIR [PROGRAM...]: the command with its libraries beside it, for a machine that has none of them:
# DIR/inferometer and DIR/lib/, and programs of build-portable (bench/bench_energy, tests/test_planted_stream_cuda)
# beside it, with theirs. Build first: cmake --preset portable && cmake --build build-portable. The C library is that of
# the machine that runs it: Debian 12 (glibc 2.36) or newer.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?"usage: tools/portable.sh DIR [PROGRAM...]"}
shift
[ -x build-portable/inferometer ] || {
    echo "error: build-portable/inferometer is missing: cmake --preset portable && cmake --build build-portable" >&2
    exit 2
}
mkdir -p "$out/lib"
for program in inferometer "$@"; do
    built=build-portable/$program
    strip -o "$out/$(basename "$program")" "$built"
    LD_LIBRARY_PATH='' ldd "$built" | while read -r name arrow path _; do
        [ "$arrow" = "=>" ] || continue
        case "$name" in libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so*) continue ;; esac
        install -m 644 "$(readlink -f "$path")" "$out/lib/$name"
    done
done
if [ -f build-portable/inferometer_trace.so ]; then
    strip -o "$out/inferometer_trace.so" build-portable/inferometer_trace.so # what `inferometer trace` injects
fi
du -sh "$out" | cut -f 1
