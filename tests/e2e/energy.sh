#!/usr/bin/env bash
# The energy pass on the processor under an external meter: what is recorded, what the dry run says, no sensor at
# all, and settings that contradict each other.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/energy_lib.sh"
need python3 python3
counts=(--threads 1 --stop repeats --repeats 40 --slot-steps 2 --warmup 1 --format csv)
energy=(--energy --energy-windows 3 --energy-idle 1s --pre-roll 100ms)

# ---- settings ----
refused()
{
    local words=$1 said
    shift
    said=$("$@" 2>&1) && fail "accepted: $*"
    grep -qF -- "$words" <<<"$said" || fail "does not say '$words': $said"
    [ ! -e none ] || fail "a run folder was made"
}
refused "measure.energy_window is set, but measure.energy is off" "$INFEROMETER" null --energy-window 2s --out none
refused "measure.isolation=processes starts them anew" "$INFEROMETER" stream --energy --isolation processes --out none

refused "draws energy too" "$INFEROMETER" stream --energy --cache cold --out none
refused "nofile.csv: No such file" "$INFEROMETER" null --energy --power-meter nofile.csv --out none
printf 'hello\nworld\n' >garbage.csv
refused "garbage.csv:1: a line without a comma" "$INFEROMETER" null --energy --power-meter garbage.csv --out none

# ---- no sensor: no windows, no minutes, and the reason ----
"$INFEROMETER" null "${counts[@]}" --energy --out bare >/dev/null 2>log || fail "bare: $(cat log)"
if grep -q '"power_sensor"' bare/run.log; then
    check_energy bare 4
else
    grep -q '"energy_done","ok":false.*"windows":0.*no sensor here says' bare/run.log || fail "bare: no word of why"
    ! grep -q '"energy_idle"' bare/run.log || fail "bare: it waited for nothing"
    grep -q '"power_absent".*"rapl_package"' bare/run.log || fail "bare: absent sources are not named"
fi
"$INFEROMETER" verify bare >log 2>&1 || fail "bare: $(cat log)"

# ---- work that is slower in the windows than it was before: a window needs its time, not its runs ----
cat >slows <<'SLOWS'
#!/bin/sh
grep -q energy_plan slowed/run.log && exec sleep 1.5
exec sleep 0.1
SLOWS
chmod +x slows
recorded "$INFEROMETER" exec ./slows --stop repeats --repeats 2 --slot-steps 1 --warmup 1 --format csv --energy \
    --rated-w 100 --energy-windows 3 --energy-idle 1s --energy-window 1200ms --override measure.blocks_min=1 \
    --out slowed >/dev/null 2>log || fail "slowed: $(cat log)"
python3 - <<'PY' || fail "slowed: its windows"
import csv, json
[plan] = [e["meta"] for e in map(json.loads, open("slowed/run.log")) if e["stage"] == "energy_plan"]
slots = list(csv.DictReader(open("slowed/samples/0-energy-slots.csv")))
assert len(slots) == 4 and plan["samples_per_slot"] > 2, (plan, slots)
for slot in slots:
    runs, seconds = int(slot["samples"]), 1e-9 * (int(slot["end_ns"]) - int(slot["start_ns"]))
    assert runs < plan["samples_per_slot"] and seconds >= 2 * plan["window_s"], (plan, slot)
    assert (runs - 2) * seconds / runs < 2 * plan["window_s"], (plan, slot) # it ended with the run at work
PY
"$INFEROMETER" verify slowed >log 2>&1 || fail "slowed: $(cat log)"

# ---- a meter ----
start_meter
recorded "$INFEROMETER" null "${counts[@]}" "${energy[@]}" --energy-window 1s --power-meter meter.csv --rated-w 100 \
    --out whole >/dev/null 2>log || fail "whole: $(cat log)"
check_energy whole 4 || fail "whole: the record"
grep -q '"power_sensor".*"board","source":"meter","kind":"meter".*"measured":true' whole/run.log || fail "no meter"
grep -q '"power_absent".*"nvml".*GPUs are left alone' whole/run.log || fail "a GPU was asked on the way"
! grep -q 'meter.csv' whole/plan.json whole/config.lock.json whole/run.log || fail "the meter's path is published"
"$INFEROMETER" verify whole >log 2>&1 || fail "whole: $(cat log)"

# ---- ceilings that are taken along have no windows ----
recorded "$INFEROMETER" gemm --m 1 --n 256 --k 256 --layers 1 --weights f32 --ceilings read "${counts[@]}" \
    "${energy[@]}" --energy-window 1500ms --power-meter meter.csv --out probes >/dev/null 2>log ||
    fail "probes: $(cat log)"
check_energy probes 4 || fail "probes: the record"
python3 - <<'PY' || fail "probes: a ceiling has energy"
import csv, json
arms = json.load(open("probes/plan.json"))["cells"][0]["arms"]
own = {a["name"] for a in arms if a["role"] != "ceiling"}
assert own and len(own) < len(arms), arms
slots = list(csv.DictReader(open("probes/samples/0-energy-slots.csv")))
assert {arms[int(s["arm"])]["name"] for s in slots} == own, slots
derived = json.load(open("probes/derived.json"))
assert {row["arm"] for row in derived["energy"]} == own, derived["energy"]
assert not [n for n in derived["numbers"] if n["metric"] == "energy_per_step_j" and n["arm"] not in own]
PY
"$INFEROMETER" verify probes >log 2>&1 || fail "probes: $(cat log)"

# ---- a meter that is silent for a while: the gap is a fact, and no window that it touches is used ----
python3 -c '
import os, time
out = open("hole.csv", "w")
out.write("t_s,power_w\n")
silent = False
while True:
    if not silent and os.path.exists("hole/run.log") and "energy_idle" in open("hole/run.log").read():
        time.sleep(0.8)
        silent = True
    out.write("%.6f,%.1f\n" % (time.time(), 120))
    out.flush()
    time.sleep(0.02)' &
kill $meter
meter=$!
while [ "$(cat hole.csv 2>/dev/null | wc -l)" -lt 5 ]; do
    sleep 0.05
done
recorded "$INFEROMETER" null "${counts[@]}" --energy --energy-windows 6 --energy-idle 1s --pre-roll 100ms \
    --energy-window 600ms --power-meter hole.csv --out hole >/dev/null 2>log || fail "hole: $(cat log)"
python3 - <<'PY' || fail "hole: $(grep power_fault hole/run.log)"
import json
faults = [e["meta"] for e in map(json.loads, open("hole/run.log")) if e["stage"] == "power_fault"]
assert any(f["source"] == "meter" and f["gaps"] >= 1 and f["lost"] is None for f in faults), faults
[row] = [r for r in json.load(open("hole/derived.json"))["energy"] if r["source"] == "meter"]
assert row["windows"] < 6, row
PY
grep -q 'its readings are not whole' hole/report.html ||
    fail "hole: the page does not tell of the gap"
"$INFEROMETER" verify hole >log 2>&1 || fail "hole: $(cat log)"

# ---- the dry run knows of the pass ----
"$INFEROMETER" null "${counts[@]}" --energy --energy-windows 10 --energy-window 20s --power-meter meter.csv --dry-run \
    --format json >dry.json 2>log || fail "dry run: $(cat log)"
python3 -c 'import json; assert 200 < json.load(open("dry.json"))["seconds_low"] < 300' ||
    fail "the dry run does not count 200 s of windows: $(grep seconds dry.json)"

echo "windows under a meter, one with a gap, no sensor at all, the dry run: records are whole and fit their facts"
