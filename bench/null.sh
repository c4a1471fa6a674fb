#!/usr/bin/env bash
# What the lab adds to a sample: workload null, which does nothing; bar 40 ns at the median.
set -euo pipefail
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$INFEROMETER" null --threads 1 --ceilings none --repeats 1000000 --out "$scratch/out" 2>/dev/null
cut -d, -f3 "$scratch"/out/samples/*-latency.csv | grep '^[0-9]' | sort -n | awk '{ t[NR] = $1 }
    END { printf "%d samples: median %d ns, p99.9 %d ns\n", NR, t[int(NR / 2)], t[int(NR * 0.999)] }'
