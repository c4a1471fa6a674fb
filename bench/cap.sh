#!/usr/bin/env bash
# Does a cap hold, and what lies outside of it? Every workload with a short cap and with one of 5 s, and the first run.
# INFEROMETER=FILE in the environment. Exit 1 where a bar of bench/cap.py is missed.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
measure()
{
    local from=$EPOCHREALTIME
    "$INFEROMETER" "$@" --quiet --out "$scratch/run" >/dev/null 2>&1 || [ $? = 3 ]
    awk -v a="$from" -v b="$EPOCHREALTIME" -v what="$*" 'BEGIN { printf "%s: %.1f s\n", what, b - a }'
    python3 "$here/cap.py" "$scratch/run" || status=1
    rm -rf "$scratch/run"
}
measure decode --kv-len 2048 --cap 2s
for workload in decode attention gemm stream; do
    measure "$workload" --cap 5s
done
measure run -c "$here/../examples/first-run.yaml" --cap 5s
exit $status
