#!/usr/bin/env bash
# Start-up: `inferometer --version`, bar 5 ms. With hyperfine when it is there, else a loop.
set -euo pipefail
INFEROMETER=${INFEROMETER:-build/inferometer}
if command -v hyperfine >/dev/null; then
    exec hyperfine -N --warmup 20 --runs 300 "$INFEROMETER --version"
fi
runs=200
for _ in $(seq 20); do "$INFEROMETER" --version >/dev/null; done
for _ in $(seq $runs); do
    start=$(date +%s%N)
    "$INFEROMETER" --version >/dev/null
    end=$(date +%s%N)
    echo $((end - start))
done | sort -n | awk '{ t[NR] = $1 / 1e6 }
    END { printf "%d starts, with fork and exec: median %.2f ms, p95 %.2f ms\n", NR, t[NR / 2], t[NR * 0.95] }'
