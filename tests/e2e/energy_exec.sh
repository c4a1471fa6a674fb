#!/usr/bin/env bash
# Energy of programs under the management library of the tests: runs of seconds, whose times and joules are of the same
# runs; runs that fill a window, each with the joules that the counter gave between their ends; many short runs; hooks,
# which are refused; runs that fail.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/energy_lib.sh"
need python3 python3
mkdir driver
cp "${IFM_FAKE_NVML:?the folder of the fake management libraries}/fake_nvml.so" driver/libnvidia-ml.so.1
date +%s%6N >loads
export FAKE_NVML="loads=$PWD/loads idle_w=80 watts=600 memory_rc=3 limit=700" LD_LIBRARY_PATH="$PWD/driver"
energy=(--energy --energy-windows 3 --energy-idle 2s --slot-steps 1 --stop repeats --repeats 4 --warmup 1
    --override measure.blocks_min=2 --format csv)

# A program that takes a while to begin, works, and takes a while to end.
cat >work <<'WORK'
#!/bin/sh
sleep 0.2
date +%s%6N >>loads
sleep "$1"
date +%s%6N >>loads
sleep 0.1
WORK
chmod +x work

# ---- runs of seconds: one run a window, each a time and joules, and what the counter gave in it ----
# compared: the joules of the two programs are. On a busy machine windows are refused, and then they may not be.
compared()
{
    [[ "$(number whole long energy_per_step_change_percent)" != *:* ]]
}
for _ in 1 2 3; do
    rm -rf whole && date +%s%6N >loads
    recorded "$INFEROMETER" exec './work 1.8' './work 2.2' --name short --name long "${energy[@]}" --energy-window 1s \
        --out whole >/dev/null 2>log || fail "whole: $(cat log)"
    ! compared && disturbed whole || break
done
check_energy whole 4 || fail "whole: the record"
"$INFEROMETER" verify whole >log 2>&1 || fail "whole: $(cat log)"
[ "$(grep -c . loads)" = 21 ] || fail "not one run for calibration and four for all else: $(grep -c . loads) edges"
python3 - <<'PY' || fail "the runs of the two records are not the same"
import csv
def rows(name):
    with open(f"whole/samples/0-{name}-slots.csv") as file:
        return [(r["arm"], r["start_ns"], r["end_ns"]) for r in csv.DictReader(file)]
assert rows("latency") == rows("energy") and len(rows("energy")) == 8, rows("energy")
PY
python3 - <<'PY' || fail "whole: the joules are not those of the runs: $(grep -c . loads) edges"
import csv, json
edges = [int(line) for line in open("loads")]
events = [json.loads(line) for line in open("whole/run.log")]
idle = next(e for e in events if e["stage"] == "energy_idle")  # written when the idle time ends
wall_us = lambda t_ns: (t_ns - idle["meta"]["end_ns"] + idle["t_ns"]) * 1e-3

def joules(from_us, to_us):
    busy = sum(max(0, min(to_us, b) - max(from_us, a)) for a, b in zip(edges[1::2], edges[2::2]))
    return (80 * (to_us - from_us) + 520 * busy) * 1e-6

for plan in (e["meta"] for e in events if e["stage"] == "energy_plan"):
    assert plan["inner"] == 1 and plan["samples_per_slot"] == 1 and plan["pause_ms"] == 0, plan
    assert "whole run" in plan["reason"], plan
slots = list(csv.DictReader(open("whole/samples/0-energy-slots.csv")))
assert all(slot["child_failures"] == "0" for slot in slots), slots[0].keys()
derived = json.load(open("whole/derived.json"))
windows = [w for w in derived["energy_windows"] if not w["refused"]]
assert len(derived["energy_windows"]) == 8 and windows, derived["energy_windows"]
near = 0
for w in windows:
    slot = slots[w["window"] - 1]
    assert (w["start_ns"], w["end_ns"]) == (int(slot["start_ns"]), int(slot["end_ns"])), (w, slot)
    assert w["steps"] == 1 and w["device"] == "gpu0" and w["source"] == "nvml_energy", w
    off = w["joules"] - joules(wall_us(w["start_ns"]), wall_us(w["end_ns"]))
    near += abs(off) <= w["random_j"]
    assert abs(off) <= 2 * w["random_j"] and w["random_j"] < 0.1 * w["joules"], (w, off)
assert near >= len(windows) - 1, (near, len(windows))
numbers = {(n["arm"], n["metric"]): n for n in derived["numbers"]}
if len(windows) == 8:
    of_run = {}
    for arm, least in ("short", 1.8 * 600 + 0.3 * 80), ("long", 2.2 * 600 + 0.3 * 80):
        step = numbers[arm, "energy_per_step_j"]
        of_run[arm] = sum(w["joules"] for w in windows if w["arm"] == arm) / 4
        # A shell that waits for a processor makes it more, and the windows are held against the load above.
        assert least < step["value"] and abs(step["value"] / of_run[arm] - 1) < 0.01, (step, of_run)
        assert numbers[arm, "gpu_energy_j"]["state"] == "ok" and numbers[arm, "energy_above_idle_j"]["value"] > 0
    change = numbers["long", "energy_per_step_change_percent"]
    assert change["state"] == "ok" and abs(change["value"] - 100 * (of_run["long"] / of_run["short"] - 1)) < 3, change
PY
"$INFEROMETER" report whole --format table >said 2>&1 || [ $? = 3 ] || fail "report: $(cat said)"
grep -q 'vs baseline.*energy/run' said || fail "the table has no energy: $(cat said)"
"$INFEROMETER" report whole --format table --verbose >said 2>&1 || [ $? = 3 ] || fail "report --verbose: $(cat said)"
grep -q 'energy/run.*vs baseline' said || fail "the table of energy is not one of runs: $(cat said)"
"$INFEROMETER" summary whole >said 2>&1 || fail "summary: $(cat said)"
python3 - <<'PY' || fail "the summary has no energy: $(cat said)"
import json
numbers = json.load(open("whole/derived.json"))["numbers"]
[change] = [n for n in numbers if n["metric"] == "energy_per_step_change_percent"]
[line] = [line for line in open("said") if line.startswith("- long: ")]
assert (", energy +" in line) == (change["state"] == "ok"), (line, change)
PY

# ---- a run of seconds that is cut short: the windows that are left are taken by themselves ----
cut_short INT cut 4 "$INFEROMETER" exec './work 1.8' './work 2.2' --name short --name long "${energy[@]}" \
    --energy-window 1s --out cut
recorded "$INFEROMETER" run --resume cut >/dev/null 2>log || fail "cut: $(cat log)"
python3 - <<'PY' || fail "cut: the windows"
import csv
slots = list(csv.DictReader(open("cut/samples/0-energy-slots.csv")))
assert len(slots) == 8 and [s["block"] for s in slots] == list("00001111"), slots
PY
"$INFEROMETER" verify cut >log 2>&1 || fail "cut: $(cat log)"

# ---- runs shorter than a window: so many as fill it; somebody else computes on the GPU ----
date +%s%6N >loads # a run that was cut short may have left a load that never ends
FAKE_NVML="$FAKE_NVML foreign=1" recorded "$INFEROMETER" exec 'sleep 0.05' "${energy[@]}" --energy-window 1500ms \
    --out many >/dev/null 2>log ||
    fail "many: $(cat log)"
check_energy many 4 || fail "many: the record"
python3 - <<'PY' || fail "many: the runs of a window"
import json
plan = next(e["meta"] for e in map(json.loads, open("many/run.log")) if e["stage"] == "energy_plan")
run_s = plan["window_s"] / plan["samples_per_slot"]
assert run_s >= 0.05 and abs(plan["window_s"] - 1.5) <= 0.5 * run_s + 1e-6, plan
windows = [w for w in json.load(open("many/derived.json"))["energy_windows"] if not w["refused"]]
for w in windows:
    whole = w["steps"] == plan["samples_per_slot"] or w["end_ns"] - w["start_ns"] >= 1.5e9 * plan["window_s"]
    assert whole and abs(w["joules"] - 80 * w["seconds"]) <= w["random_j"], w
    assert w["random_j"] < 0.25 * w["joules"], w
def said(run):
    return [f["text"] for f in json.load(open(run + "/derived.json"))["findings"] if "is shared" in f["text"]]
assert not said("whole") and "gpu0 is shared: up to 1 other process computed on it" in said("many")[0], said("many")
PY
"$INFEROMETER" verify many >log 2>&1 || fail "many: $(cat log)"

# ---- power that falls for three seconds after work: idle time begins when it has fallen, and programs that wait are
# above it ----
cat >worked <<'WORKED'
#!/bin/sh
grep -q energy_plan tail/run.log && exec sleep 1.6
date +%s%6N >>loads
sleep 1.6
date +%s%6N >>loads
WORKED
chmod +x worked
# A sampler that waits for a CPU may miss joules, which is refused: then once more, of a run that other work disturbed.
for _ in 1 2 3; do
    rm -rf tail && date +%s%6N >loads
    FAKE_NVML="$FAKE_NVML tail_ms=3000" recorded "$INFEROMETER" exec ./worked "${energy[@]}" --energy-window 1500ms \
        --override measure.blocks_min=1 --repeats 2 --energy-windows 4 --out tail >/dev/null 2>log ||
        fail "tail: $(cat log)"
    disturbed tail && grep -q 'is less than gpu0 draws when it idles' tail/derived.json || break
done
busy=no
! disturbed tail || busy=yes
python3 - $busy <<'PY' || fail "tail: idle time, or what is held against it"
import json, sys
events = [json.loads(line) for line in open("tail/run.log")]
before = [e["meta"] for e in events if e["stage"] == "energy_idle"][0]
assert before["settle_ns"] >= 5e8, before  # a busy machine comes to it late
derived = json.load(open("tail/derived.json"))
assert not [n for n in derived["numbers"] if n["state"] == "refused" and "idle" in n["reason"]], derived["numbers"]
idle = next(n for n in derived["numbers"] if n["metric"] == "idle_power_w")
# Beside other work a stretch may be taken for idle before its time: then the interval says so, and holds the 80 W.
low = idle["interval"][0] if sys.argv[1] == "yes" else idle["value"]
assert 79 < low < 85, idle
PY
"$INFEROMETER" verify tail >log 2>&1 || fail "tail: $(cat log)"

# ---- blocks of one row, each with one window of each arm: as many windows as were asked for, which have joules ----
rows=(--cap 4s --energy --energy-idle 2s --format csv)
recorded "$INFEROMETER" exec 'sleep 0.4' 'sleep 0.45' --name short --name long "${rows[@]}" --energy-windows 3 \
    --energy-window 1500ms --out rows >/dev/null 2>log || fail "rows: $(cat log)"
grep -q '"rows":1' rows/run.log || fail "rows: its blocks have two rows: $(grep -m 1 calibrate rows/run.log)"
check_energy rows 4 || fail "rows: the record"
grep -q 'energy takes about .*: 4 windows of each arm' log || fail "rows: what was foretold: $(cat log)"
python3 - <<'PY' || fail "rows: no energy, or not of so many windows"
import json
derived = json.load(open("rows/derived.json"))
windows = [w for w in derived["energy_windows"] if w["arm"] == "long"]
assert len(windows) == 4, windows
value = {n["metric"]: n for n in derived["numbers"] if n.get("arm") == "long"}
if sum(not w["refused"] for w in derived["energy_windows"]) == 8:
    for metric in "energy_per_step_j", "energy_per_step_change_percent":
        idle = "when it idles" in value[metric]["reason"]  # programs that sleep are at its floor, and may be below
        assert value[metric]["state"] == "ok" or idle, value[metric]
PY
"$INFEROMETER" verify rows >log 2>&1 || fail "rows: $(cat log)"

# ---- energy of programs that is refused is energy of a run all the same ----
recorded "$INFEROMETER" exec 'sleep 0.4' 'sleep 0.45' --name short --name long "${rows[@]}" --energy-windows 3 \
    --energy-window 100ms --out short >/dev/null 2>log || fail "short: $(cat log)"
"$INFEROMETER" report short --format table >said 2>&1 || [ $? = 3 ] || fail "short: $(cat said)"
grep -q 'energy/run' said && ! grep -q 'energy/token' said || fail "short: not energy of a run: $(cat said)"

# ---- what runs between the runs is not the program's ----
"$INFEROMETER" exec 'sleep 0.05' --prepare true "${energy[@]}" --out hooks >/dev/null 2>log || fail "hooks: $(cat log)"
python3 - <<'PY' || fail "hooks: no reason"
import json
numbers = [n for n in json.load(open("hooks/derived.json"))["numbers"] if n["metric"] == "energy_per_step_j"]
assert numbers and all(n["state"] == "absent" and "hooks run between" in n["reason"] for n in numbers), numbers
PY

# ---- a run that fails: its window is not used ----
cat >flaky <<'FLAKY'
#!/bin/sh
sleep 0.4
! grep -q '"energy_plan"' flaky.run/run.log || [ -e failed ] || { : >failed && exit 1; }
FLAKY
chmod +x flaky
recorded "$INFEROMETER" exec ./flaky --ignore-failure "${energy[@]}" --energy-window 1500ms --out flaky.run \
    >/dev/null 2>log || fail "flaky: $(cat log)"
python3 - <<'PY' || fail "flaky: a window of a run that failed is used"
import json
windows = json.load(open("flaky.run/derived.json"))["energy_windows"]
wrong = [w for w in windows if "a run of the program failed" in w["refused"]]
assert len(windows) == 4 and len(wrong) == 1 and wrong[0]["joules"] is None, windows
PY
echo "windows of whole runs have the counter's joules between their ends; hooks and failed runs have none"
