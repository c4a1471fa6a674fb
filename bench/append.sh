#!/usr/bin/env bash
# What appending and compressing a token's K and V costs inside the inference cycle: bar 3 % of the step at 8k tokens.
#
# examples/append_cost.yaml measures the cycle with and without it, form by form; both attend over the same lengths. For
# each form the step with appending over the step without, both of one cell where the file has them there: then they
# were measured in turns, and the interval is that of the change. Exit 1: a form misses the bar, or there is no pair.
set -euo pipefail
cd "$(dirname "$0")/.."
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$INFEROMETER" run -c "${1:-examples/append_cost.yaml}" --quiet --out "$scratch/out" >"$scratch/said" 2>&1 ||
    { head -20 "$scratch/said" >&2 && exit 1; }
python3 - "$scratch/out" <<'PYTHON'
import json, sys

BAR = 3.0
plan = json.load(open(sys.argv[1] + "/plan.json"))
numbers = {}
for row in json.load(open(sys.argv[1] + "/derived.json"))["numbers"]:
    numbers[row["cell"], row["arm"], row["metric"]] = row


def number(arm, metric):
    row = numbers.get((arm["cell"], arm["name"], metric))
    return row if row is not None and row["state"] == "ok" else None


# Arms that differ in decode.append alone: without it, and with it.
pairs = {}
for cell in plan["cells"]:
    for arm in cell["arms"]:
        settings = arm["settings"]
        if arm["role"] == "ceiling" or "decode.append" not in settings:
            continue
        rest = [cell["threads"], arm["variant"]]
        rest += sorted(item for item in settings.items() if item[0] not in ("decode.append", "decode.compress"))
        pairs.setdefault(str(rest), {})[settings["decode.append"]] = dict(arm, cell=cell["name"])
pairs = [pair for pair in pairs.values() if len(pair) == 2]
missed = not pairs
for pair in pairs:
    without, with_it = pair["none"], pair["compress"]
    change = number(with_it, "change_percent")
    paired = without["cell"] == with_it["cell"] and without["role"] == "baseline" and change is not None
    if paired:
        cost, interval = change["value"], change["interval"]
    else:
        steps = [number(arm, "step_ns") for arm in (without, with_it)]
        if None in steps:
            print(f"{with_it['variant']}: not measured")
            missed = True
            continue
        low, high = steps
        cost = 100 * (high["value"] / low["value"] - 1)
        # The widest that both intervals allow: the arms were not measured in turns.
        interval = None
        if low["interval"] and high["interval"]:
            ends = zip(high["interval"], reversed(low["interval"]))
            interval = [100 * (above / below - 1) for above, below in ends]
    length = with_it["settings"]["decode.kv_len"]
    ends = " [%.2f, %.2f]" % tuple(interval) if interval else ""
    word = "MISSED" if cost > BAR else "met" if interval and interval[1] <= BAR else "met, the interval reaches above"
    form = with_it["variant"] or with_it["name"]
    print(f"{form:5} at {length} tokens: appending and compressing {cost:+.2f} %{ends} of the step"
          f"{'' if paired else ', of two cells'}; bar {BAR:g} %: {word}")
    missed = missed or cost > BAR
if not pairs:
    print("no two arms differ in decode.append alone")
sys.exit(missed)
PYTHON
