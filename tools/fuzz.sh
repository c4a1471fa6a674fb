#!/usr/bin/env bash
# tools/fuzz.sh [SECONDS [TARGET...]]: run libFuzzer targets, each for SECONDS (60). Findings are kept in
# tests/fuzz/corpus/<target>/ (inputs that reach new code) and build-fuzz/found/ (inputs that crash). The target
# `folders` is no libFuzzer's: it changes whole run folders (tests/fuzz/folders.py).
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    for source in tests/fuzz/fuzz_*.c; do
        name=${source##*/fuzz_}
        targets+=("${name%.c}")
    done
    targets+=(folders)
fi
[ -d /dev/shm ] && export TMPDIR=${TMPDIR:-/dev/shm} # targets that read folders make one for every input
cmake --preset fuzz >/dev/null
mkdir -p build-fuzz/found
for name in "${targets[@]}"; do
    if [ "$name" = folders ]; then
        cmake --build build-fuzz --target inferometer >/dev/null
        echo "== folders, $seconds s"
        PYTHONDONTWRITEBYTECODE=1 python3 tests/fuzz/folders.py build-fuzz/inferometer . --seconds "$seconds" \
            --seed "$(date +%s)" --found build-fuzz/found || true
        continue
    fi
    cmake --build build-fuzz --target "fuzz_$name" >/dev/null
    corpus=tests/fuzz/corpus/$name
    work=build-fuzz/corpus/$name
    mkdir -p "$corpus" "$work"
    echo "== $name, $seconds s"
    "build-fuzz/tests/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
        -print_final_stats=1 -artifact_prefix=build-fuzz/found/ "$work" "$corpus" 2>&1 | tail -8
    # Keep the committed corpus small: only inputs that reach code which no kept input reaches.
    "build-fuzz/tests/fuzz_$name" -merge=1 -timeout=10 -max_len=4096 "$corpus" "$work" >/dev/null 2>&1
done
