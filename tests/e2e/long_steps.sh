#!/usr/bin/env bash
# Programs of seconds have blocks of one row: AB, then BA. Six pairs answer, an interrupted run goes on in their order,
# and the record is verified against it.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
need python3 python3
script='step_ns=8000000000; noise=0.01; arm.tail.step_ns=7000000000'
"$INFEROMETER" exec base tail --device fake --script "$script" --seed 1 --cap 60s --quiet --out out >said 2>errors ||
    fail "$(cat errors)"
python3 - <<'PY' || fail "the order of the slots: $(cat out/samples/*-slots.csv)"
import csv, glob, json
rows = list(csv.DictReader(open(glob.glob("out/samples/*latency-slots.csv")[0])))
blocks = {}
for row in rows:
    if row["phase"] == "1":
        blocks.setdefault(row["block"], []).append(row["arm"])
        assert row["samples"] == "1", row
order = list(blocks.values())
assert len(order) == 6 and all(len(b) == 2 for b in order), order
assert all(order[i] == order[i + 1][::-1] for i in (0, 2, 4)), order
numbers = {n["metric"]: n for n in json.load(open("out/derived.json"))["numbers"] if n["arm"] == "tail"}
assert numbers["change_percent"]["text"] == "faster" and numbers["speedup"]["n"] == 6, numbers["speedup"]
PY
"$INFEROMETER" verify out >/dev/null || fail "it is not verified"
"$INFEROMETER" exec base tail --device fake --script "$script" --seed 1 --quiet --slot-steps 1 --stop repeats \
    --repeats 12 --out fixed >/dev/null 2>errors || fail "$(cat errors)"
grep -q '"rows":2' fixed/run.log || fail "a fixed number of repeats has blocks of two rows"
echo "6 blocks of 8-second programs, AB then BA"
