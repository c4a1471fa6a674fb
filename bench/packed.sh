#!/usr/bin/env bash
# Compressed caches on a GPU beside the fastest f16 there is, cuDNN's or ours, in one run a cell: times, the speed-up
# over that one as a share of the cell's true ratio of bytes, spread, error of the arithmetic. Builds nothing, sets
# nothing. Four minutes of an H200 with 16 CPUs.
#
#   bench/packed.sh OUT [CELL...]     CELL is BATCHxTOKENS:QUERY_HEADS:HEAD_DIM:FORMATS, 8 KV heads
#
# INFEROMETER names the command, IFM_CUDNN cuDNN where it is not found. Without a CELL those of the bars: 2.1 GB of f16
# each. REPEATS=48 PRE_ROLL=0 in the environment: arms take turns, the GPU is at the mix of their powers; behind
# PRE_ROLL=300ms each is as it is by itself, at the limit of power slower. ENERGY=1: joules a token, and bytes from
# memory, of our own kernels; some 80 s a cell of four formats.
set -euo pipefail
lab=$(readlink -f "${INFEROMETER:-build/inferometer}")
out=${1:?"usage: bench/packed.sh OUT [CELL...]"}
shift
[ $# -gt 0 ] || set -- 16x32768:{8,32,64}:128:f16,int8,e4m3,int4,int2 {64x8192,128x4096}:32:128:f16,int8,int4
mkdir -p "$out"
arms=cudnn,ours length=(--stop repeats --repeats "${REPEATS:-48}" --pre-roll "${PRE_ROLL:-0}")
[ -z "${ENERGY:-}" ] || arms=ours length=(--cap 3s --override measure.slot_min=10ms --counters --energy
    --energy-window 1500ms --energy-windows 4 --energy-idle 1s)
for cell in "$@"; do
    IFS=: read -r shape q_heads dim formats <<<"$cell"
    folder=$out/${shape}_q${q_heads}_d$dim begun=$SECONDS
    "$lab" decode --device cuda --decode-arms "$arms" --batch "${shape%x*}" --kv-len "${shape#*x}" --kv-heads 8 \
        --q-heads "$q_heads" --head-dim "$dim" --formats "$formats" --ceilings read "${length[@]}" --warmup 1 --seed 1 \
        --quiet --out "$folder" >"$folder.txt" 2>&1 || { tail -3 "$folder.txt" && continue; }
    echo "$cell ($((SECONDS - begun)) s)"
    python3 - "$folder" <<'PYTHON'
import json, sys

numbers = {(n["arm"], n["metric"]): n for n in json.load(open(sys.argv[1] + "/derived.json"))["numbers"]}


def of(arm, metric):
    n = numbers.get((arm, metric), {"state": "absent"})
    return n if n["state"] == "ok" else {"value": float("nan"), "interval": None, "why": n.get("reason", "absent")}


def within(n, by, digits):
    text = "%.*f" % (digits, n["value"] / by)
    return text + (" [%.*f, %.*f]" % (digits, n["interval"][0] / by, digits, n["interval"][1] / by)
                   if n["interval"] else "")


arms = [arm for arm, metric in numbers if metric == "latency_cv_percent" and not arm.startswith("read")]
exact = [arm for arm in arms if arm == "cudnn" or arm.startswith("f16")]
fastest = min(exact, key=lambda arm: of(arm, "step_ns")["value"])
for arm in arms:
    true = of(arm, "bytes_ratio")
    ratio = of(arm, "speedup" if fastest == arms[0] else "speedup_over_fastest")  # of the first arm
    text = "fastest f16" if arm == fastest else "f16" if arm in exact else \
        "%s of %.3f: %s" % (within(ratio, 1, 3), true["value"], within(ratio, true["value"], 3))
    print("  %-8s %9.2f us  CV %5.2f %%  max error %.1e  ceiling %5.1f %%  %s" % (
        arm, of(arm, "step_ns")["value"] / 1e3, of(arm, "latency_cv_percent")["value"],
        of(arm, "error_max_rel")["value"], of(arm, "ceiling_read_percent")["value"], text))
    if (arm, "energy_per_token_j") in numbers:
        told = lambda metric, by, digits: of(arm, metric).get("why") or within(of(arm, metric), by, digits)
        saved = "" if arm == arms[0] else ", %s %%; bytes %.1f %% fewer" % (
            told("energy_per_token_change_percent", 1, 1), 100 - 100 / true["value"])
        print("           %s mJ a token%s; memory read over ledger %s" % (
            told("energy_per_token_j", 1e-3, 4), saved, told("dram_bytes_over_ledger", 1, 4)))
PYTHON
done
