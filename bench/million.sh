#!/usr/bin/env bash
# A million samples: recorded, derived and published, then verified; bar 3 s in all.
set -euo pipefail
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
seconds() # LABEL COMMAND...
{
    local label=$1 start=$EPOCHREALTIME
    shift
    "$@" >/dev/null 2>&1
    awk -v label="$label" -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%-28s %.2f s\n", label, b - a }'
}
seconds "record, derive, publish" "$INFEROMETER" run --workload null --device fake --script "step_ns=1000; noise=0.01" \
    --ceilings none --repeats 1000000 --slot-steps 10000 --out "$scratch/out"
seconds "verify" "$INFEROMETER" verify "$scratch/out"
wc -l "$scratch"/out/samples/*.csv | tail -1
