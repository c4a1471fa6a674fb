#!/usr/bin/env bash
# The bar of attention as a run of the lab itself: f32, batch 1, 8 heads, 2048 tokens, head dimension 64, all CPUs.
#
# Three figures of one cell, each with its interval: our share of the FLOP ceiling (bar 60 %), the speed-up over
# OpenBLAS products with the same softmax (bar 1.2), and the error of both against f64. Arguments go to the run.
set -euo pipefail
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$INFEROMETER" attention --batch 1 --q-heads 8 --kv-heads 8 --seq-len 2048 --head-dim 64 --storage f32 \
    --arms openblas,auto --ceilings flops --cap 30s --format csv --out "$scratch/run" "$@" \
    >"$scratch/numbers.csv" 2>"$scratch/notes" || { cat "$scratch/notes"; exit 1; }
python3 - "$scratch/numbers.csv" <<'PY'
import csv, sys

rows = {(r["arm"], r["metric"]): r for r in csv.DictReader(open(sys.argv[1]))}


def show(arm, metric, what, bar, factor=1.0, form="%.1f"):
    row = rows.get((arm, metric))
    if row is None or row["state"] != "ok":
        print(f"{what}: {row['state'] + ': ' + row['reason'] if row else 'not there'}")
        return
    number, interval = float(row["value"]) * factor, ""
    if row["low"]:
        interval = f" [{form % (float(row['low']) * factor)}, {form % (float(row['high']) * factor)}]"
    print(f"{what}: {form % number}{interval}, {bar}")


show("auto", "ceiling_flops_percent", "share of the FLOP ceiling, %", "bar 60")
show("auto", "speedup", "speed-up over OpenBLAS", "bar 1.2", form="%.3f")
show("auto", "error_rms_rel", "error against f64, ours", "root mean square, relative", form="%.2g")
show("openblas", "ceiling_flops_percent", "OpenBLAS, share of the FLOP ceiling, %", "reported")
show("openblas", "error_rms_rel", "error against f64, OpenBLAS", "root mean square, relative", form="%.2g")
show("auto", "flops_per_s", "ours, GFLOP/s", "reported", 1e-9)
PY
