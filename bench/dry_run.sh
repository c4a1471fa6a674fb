#!/usr/bin/env bash
# The time estimate of --dry-run against the run that follows; bar 25 %. Both are printed.
set -euo pipefail
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$INFEROMETER" run -c examples/first-run.yaml --out "$scratch/out" --dry-run | tail -3
start=$EPOCHREALTIME
"$INFEROMETER" run -c examples/first-run.yaml --out "$scratch/out" >/dev/null 2>&1
awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "the run took %.1f s\n", b - a }'
