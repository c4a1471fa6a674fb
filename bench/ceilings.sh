#!/usr/bin/env bash
# Whether ceilings are limits: ceilings.sh [RUNS [SHORT]]
#
# RUNS (5) consecutive runs of a decode step: read, FLOP and byte-product ceilings of each with the core clock, and how
# far they lie from their middle; bar +-5 %, or the clock explains it (then the FLOP a cycle agree). After that SHORT
# (50) runs of decode, gemm, attention and stream in turn with --cap 2s: what rule 3 refused of them, bar none.
set -euo pipefail
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
runs=${1:-5} short=${2:-50}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
for i in $(seq "$runs"); do
    "$INFEROMETER" decode --kv-len 4096 --compress 1,2 --cap 5s --out "long$i" >/dev/null 2>&1 || true
done
kinds=("decode --kv-len 512 --compress 1,2" "gemm --weights f32,int8,int4" "attention" "stream --probe read,flops,int8")
for i in $(seq "$short"); do
    # shellcheck disable=SC2086 # several words
    "$INFEROMETER" ${kinds[$((i % 4))]} --cap 2s --out "short$i" >/dev/null 2>&1 || true
done
python3 - "$runs" "$short" <<'P'
import json
import os
import sys

runs, short = int(sys.argv[1]), int(sys.argv[2])


def load(folder):
    path = os.path.join(folder, "derived.json")
    return json.load(open(path, encoding="utf-8")) if os.path.exists(path) else None


def number(derived, metric):
    values = [n["value"] for n in derived["numbers"] if n["metric"] == metric and n["state"] == "ok" and n["arm"] == ""]
    return values[0] if values else None


def spread(values):
    return 100 * (max(values) - min(values)) / (max(values) + min(values))


rows = []
for i in range(1, runs + 1):
    derived = load(f"long{i}")
    if derived is None:
        sys.exit(f"run {i} left no derived.json")
    row = {name: number(derived, name) for name in
           ("ceiling_read", "ceiling_flops", "ceiling_int8", "ceiling_flops_clock", "ceiling_clock")}
    clock = row["ceiling_flops_clock"] or row["ceiling_clock"]
    row["FLOP a cycle"] = row["ceiling_flops"] / clock if clock and row["ceiling_flops"] else None
    rows.append(row)
    print(f"run {i}: " + "  ".join(f"{name} {value:.4g}" for name, value in row.items() if value))
for name in rows[0]:
    values = [row[name] for row in rows if row[name]]
    if len(values) == runs:
        print(f"{name}: within +-{spread(values):.1f} % of the middle")
refused, arms, done = [], 0, 0
for i in range(1, short + 1):
    derived = load(f"short{i}")
    if derived is None:
        refused.append(f"short{i}: no derived.json")
        continue
    done += 1
    arms += len({(n["cell"], n["arm"]) for n in derived["numbers"] if n["arm"]})
    refused += [f"short{i}, {n['cell']}, {n['arm']}, {n['metric']}: {n['reason']}" for n in derived["numbers"]
                if n["state"] == "refused" and n["reason"].startswith("rule-03") and "ceiling" in n["reason"]
                and n["metric"] in ("read_bytes_per_s", "write_bytes_per_s", "flops_per_s", "ceiling_flops_percent")]
print(f"{done} short runs, {arms} arms: {len(refused)} refused rates")
for line in refused:
    print("  " + line)
P
