#!/usr/bin/env bash
# The elastic cache's bars: `decode` over caches compressed 1, 2, 4 and 8 times, 32,768 tokens, 128 dimensions, on all
# CPUs.
#
#   bench/decode.sh [LENGTH]      default 32768; CAP=30s SETS="auto avx2" HEADS=8,32,64 in the environment
#
# One cell for each G = query heads over KV heads (1, 4, 8) and each instruction set, all forms and the read ceiling in
# turns inside it. Layers rotate, so that even the smallest cache comes from memory. Bars, with the best instruction set
# that there is: f16 at 90 % of the read ceiling of its own cell, else the cell is void; then, times as fast as f16, at
# G = 1: int8 1.85, int4 3.5, int2 5.5; at G = 4: 1.8, 3.2, 4.5. G = 8 and a forced set are reported without a bar.
# Exit 1: a bar was missed, or a cell that has bars is void.
set -euo pipefail
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
length=${1:-32768} heads=${HEADS:-8,32,64} kv_heads=8 batch=${BATCH:-1}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for isa in ${SETS:-auto avx2}; do
    "$INFEROMETER" decode --compress 1,2,4,8 --kv-len "$length" --head-dim 128 --batch "$batch" --q-heads "$heads" \
        --kv-heads "$kv_heads" --isa "$isa" --ceilings read --cap "${CAP:-30s}" --quiet --out "$scratch/$isa" \
        >"$scratch/said" 2>&1 || { head -20 "$scratch/said" >&2 && exit 1; }
done
for isa in ${SETS:-auto avx2}; do
    python3 - "$scratch/$isa" "$isa" <<'PYTHON' || echo "$isa" >>"$scratch/missed"
import json, sys

BARS = {1: {"int8": 1.85, "int4": 3.5, "int2": 5.5}, 4: {"int8": 1.8, "int4": 3.2, "int2": 4.5}}
folder, isa = sys.argv[1:]
cells = json.load(open(folder + "/plan.json"))["cells"]
numbers = {}
for row in json.load(open(folder + "/derived.json"))["numbers"]:
    numbers[row["cell"], row["arm"], row["metric"]] = row
ran = set()
for line in open(folder + "/run.log"):
    meta = json.loads(line)
    if meta["stage"] == "check":
        ran.add((meta["meta"]["cell"], meta["meta"]["arm"], meta["meta"].get("isa", "")))


def show(cell, arm, metric, form):
    """The number with its interval, or "-" with nothing guessed."""
    row = numbers.get((cell, arm, metric))
    if row is None or row["state"] != "ok":
        return "-"
    text = form % row["value"]
    return text + (" [%s, %s]" % tuple(form % end for end in row["interval"]) if row["interval"] else "")


missed = False
for cell in cells:
    name = cell["name"]
    if cell["unsupported"]:
        print(f"{name}: absent: {cell['unsupported']}")
        missed = missed or isa == "auto"
        continue
    arms = [arm for arm in cell["arms"] if arm["role"] != "ceiling"]
    group = int(arms[0]["settings"]["decode.q_heads"]) // int(arms[0]["settings"]["decode.kv_heads"])
    bars = BARS.get(group, {}) if isa == "auto" else {}
    share = numbers.get((name, "f16", "ceiling_read_percent"), {"state": "absent"})
    void = share["state"] != "ok" or share["value"] < 90 or cell["cache_resident"]
    print(f"G = {group}, isa {isa}: f16 at {show(name, 'f16', 'ceiling_read_percent', '%.1f')} % of the read ceiling "
          f"({share.get('text') or 'none'}){': the cell is VOID' if void else ''}"
          f"{' (cache-resident)' if cell['cache_resident'] else ''}")
    for arm in arms:
        speed = numbers.get((name, arm["name"], "speedup"), {"state": "absent", "reason": "the baseline"})
        bar, verdict = bars.get(arm["name"]), ""
        if bar is not None and not void:
            met = speed["state"] == "ok" and speed["value"] >= bar
            firm = met and speed["interval"] and speed["interval"][0] >= bar
            verdict = f"bar {bar:g}: {'met' if firm else 'met, the interval reaches below' if met else 'MISSED'}"
            missed = missed or not met
        kernel = "/".join(sorted(k for c, a, k in ran if (c, a) == (name, arm["name"]) and k)) or "-"
        print(f"  {arm['name']:5} {kernel:10} {show(name, arm['name'], 'speedup', '%.3f'):22} x f16  "
              f"bytes {show(name, arm['name'], 'bytes_ratio', '%.3f')}, kept "
              f"{show(name, arm['name'], 'compression_ratio', '%.3f')}  "
              f"loss rms {show(name, arm['name'], 'loss_rms_rel', '%.2g')}, "
              f"KL {show(name, arm['name'], 'attention_kl_nats', '%.2g')}  "
              f"ceiling {show(name, arm['name'], 'ceiling_read_percent', '%.1f')} %  {verdict}")
        if speed["state"] != "ok" and speed.get("reason") != "the baseline":
            print(f"        no ratio: {speed['reason']}")
    missed = missed or bool(bars) and void
sys.exit(missed)
PYTHON
done
[ ! -s "$scratch/missed" ]
