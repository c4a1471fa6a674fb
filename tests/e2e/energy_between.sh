#!/usr/bin/env bash
# Energy of two runs, compared: on a GPU of host memory (tests/fake_cuda) under the management library of the tests, at
# 400 and at 500 W, whose steps take the same time; then what keeps joules apart: no pass, another card.
source "$(dirname "$0")/lib.sh"
need python3 python3
mkdir driver
cp "${IFM_FAKE_NVML:?the folder of the fake management libraries}/fake_nvml.so" driver/libnvidia-ml.so.1
cat >study.yaml <<'YAML'
workload: 'null'
seed: 1
ceilings: none
device: {kind: cuda}
measure: {stop: repeats, repeats: 40, slot_steps: 2, warmup: 1}
arms:
  - {name: plain, baseline: true}
  - {name: twin, set: {null.spin: 2}}
YAML

# run FOLDER WATTS flags...: 6 ms a step. Where other work had the machine, and the run ended otherwise, once more.
run()
{
    local out=$1 watts=$2 status try
    shift 2
    local sensors="average_rc=3 instant_rc=3 memory_rc=3 refresh_ms=20 watts=$watts card=${card:-1}"
    for try in 1 2 3; do
        rm -rf "$out"
        FAKE_CUDA="kernel_ns=6000000" FAKE_NVML=$sensors LD_LIBRARY_PATH="$IFM_FAKE_CUDA:$PWD/driver" \
            "$INFEROMETER" run -c study.yaml --quiet --out "$out" "$@" >said 2>log && return
        status=$?
        disturbed "$out" || break
    done
    fail "$out: exit status $status in try $try: $(cat log said)"
}

energy=(--energy --energy-windows 8 --energy-idle 1s --pre-roll 100ms --energy-window)
run main 400 "${energy[@]}" 300ms
run hot 500 "${energy[@]}" 300ms
run none 400

"$INFEROMETER" compare main hot none --format json >rows.json
! disturbed main && ! disturbed hot || other_work=1
python3 - "${other_work:-}" <<'PY' || fail "the rows: $(cat rows.json)"
import json, sys
rows = json.load(open("rows.json"))["rows"]
runs = list(dict.fromkeys(row["run"] for row in rows))
assert len(runs) == 2, runs
of = lambda run, metric: [r for r in rows if r["run"] == runs[run] and r["metric"] == metric]
steps = of(0, "energy_per_step_j")
assert [r["arm"] for r in steps] == ["plain", "twin"], rows
for r in steps:  # both values, their change and its interval; no speed-up of joules
    assert r["state"] == "ok" and r["unit"] == "J" and r["n_of"] == "windows", r
    ratio = 100 * (r["value"] / r["reference_value"] - 1)
    assert abs(ratio - r["change_percent"]) < 1e-6, r
    # 25 % at equal times; where other work had the machine the interval says how far that may be off
    half = (r["change_high"] - r["change_low"]) / 2
    assert abs(r["change_percent"] - 25) < (10 + 2 * half if sys.argv[1] else 10), r
    assert r["change_low"] < ratio < r["change_high"], r
    assert r["value_low"] < r["value"] < r["value_high"], r
    assert r["speedup"] is None, r
    # no narrower than what the two runs say of themselves
    pairs = (("value", "value"), ("reference", "reference_value"))
    own = [(r[f"{k}_high"] - r[f"{k}_low"]) / 2 / r[v] for k, v in pairs]
    assert (r["change_high"] - r["change_low"]) / 2 > 99 * max(own), (r, own)
ratio = of(0, "energy_per_step_change_percent")
assert len(ratio) == 1 and ratio[0]["word"] != "", ratio
assert abs(ratio[0]["change_percent"]) < 10 or sys.argv[1], ratio
lost = of(1, "energy_per_step_j")
assert len(lost) == 2 and all(r["state"] == "ok" for r in of(1, "step_ns")), rows
for r in lost:
    assert r["state"] == "absent" and r["reason"] == "this run has no energy pass" and "--energy" in r["remedy"], r
    assert r["value"] is None and r["change_percent"] is None, r
PY
"$INFEROMETER" gate hot --against main --format csv >gate.csv || [ $? != 2 ] || fail "gate: $(cat gate.csv)"
grep '^change in energy per step against main,null,twin,' gate.csv >/dev/null || fail "gate: $(cat gate.csv)"
status=0
"$INFEROMETER" gate none --against main --format csv >gate.csv || status=$?
[ "$status" = 3 ] || fail "a lost energy does not block: $status"
grep '^change in energy per step.*blocked.*no energy pass.*--energy' gate.csv >/dev/null || fail "gate: $(cat gate.csv)"

# ---- another card of the same name ----
card=1234 run card 400 "${energy[@]}" 300ms
"$INFEROMETER" compare main card --format csv >rows.csv || fail "card: $(cat rows.csv)"
grep ',energy_per_step_j,.*gpu0 is another NVIDIA' rows.csv >/dev/null || fail "card: $(cat rows.csv)"
grep ',energy_per_step_change_percent,.*,windows,ok,' rows.csv >/dev/null || fail "card, the change: $(cat rows.csv)"
echo "25 % more joules in the same time are called so; without a pass and of another card there are none"
