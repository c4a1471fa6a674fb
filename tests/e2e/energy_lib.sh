# shellcheck shell=bash
# Shared by the scripts of the energy pass; sourced after lib.sh, not run.

# start_meter: a meter of 120 W writes meter.csv, 20 lines a second, until the script ends.
start_meter()
{
    python3 -c '
import time
out = open("meter.csv", "w")
out.write("t_s,power_w\n")
while True:
    out.write("%.6f,%.1f\n" % (time.time(), 120))
    out.flush()
    time.sleep(0.05)' &
    meter=$!
    trap 'kill $meter 2>/dev/null; rm -rf "$scratch"' EXIT
    for _ in $(seq 600); do # on a busy machine python takes seconds to begin
        [ "$(cat meter.csv 2>/dev/null | wc -l)" -ge 5 ] && return
        sleep 0.05
    done
    fail "the meter of this test does not begin"
}

# recorded command...: a run whose record is looked at, whatever its numbers: on a busy machine the meter has gaps, and
# where no window is left of a meter that was asked for, the status is 3.
recorded() { "$@" || [ $? = 3 ]; }

# check_energy FOLDER WINDOWS: the record of the pass of cell 0 is whole, it fits its facts, and every block that is in
# it has its readings, or the journal says that they are not whole. WINDOWS of each arm.
check_energy()
{
    python3 - "$@" <<'PY'
import csv, glob, json, os, sys
folder, wanted = sys.argv[1], int(sys.argv[2])
events = [json.loads(line) for line in open(folder + "/run.log")]
plan = json.load(open(folder + "/plan.json"))["cells"][0]
assert [p["name"] for p in plan["passes"]] == ["latency", "energy"], plan["passes"]
restarts = [i for i, e in enumerate(events) if e["stage"] == "cell_restarted"]
events = events[restarts[-1] + 1 if restarts else 0:]
of = lambda stage: [e["meta"] for e in events if e["stage"] == stage]
rows = lambda name: list(csv.DictReader(open(f"{folder}/samples/{name}.csv")))
slots, samples = rows("0-energy-slots"), rows("0-energy")
plans = {m["arm"]: m for m in of("energy_plan")}
names = [arm["name"] for arm in plan["arms"]]
arms = sorted({int(s["arm"]) for s in slots})
assert len(slots) == wanted * len(arms), (len(slots), wanted, arms)
assert sum(int(s["samples"]) for s in slots) == len(samples)
for a in arms:
    assert sum(int(s["arm"]) == a for s in slots) == wanted, "windows are not shared out evenly"
last = 0
single = plan["workload"] == "command" and any(m.get("rows") == 1 for m in of("calibrate"))
in_block = len(arms) if single else 2 * len(arms)
for k, s in enumerate(slots):
    said, start, end = plans[names[int(s["arm"])]], int(s["start_ns"]), int(s["end_ns"])
    assert int(s["block"]) == k // in_block and s["phase"] == "1", s
    slowed = (end - start) * 1e-9 >= 1.5 * said["window_s"] # by other work; then it ends early
    assert int(s["samples"]) == said["samples_per_slot"] or slowed, (s, said)
    assert int(s["inner"]) == said["inner"], (s, said)
    assert start >= last and end > start, "windows overlap"
    held = [(int(r["start_ns"]), int(r["duration_ns"])) for r in samples if int(r["slot"]) == k]
    assert len(held) == int(s["samples"]) and start <= held[0][0] and sum(held[-1]) <= end, (s, held)
    last = end
sensors = {(m["device"], m["source"]): m for m in of("power_sensor")}
lost = {(m["device"], m["source"]) for m in of("power_fault") if m["lost"]}
told = {key: [(m["start_ns"], m["end_ns"]) for m in of("power_fault") if (m["device"], m["source"]) == key]
        for key in sensors}
assert sensors, "no sensor"
for (device, source), sensor in sensors.items():
    text = open(f"{folder}/samples/0-power-{device}-{source}.csv").read()
    assert text.endswith("\n")
    counter = sensor["kind"] == "counter"
    column = "energy_uj" if counter else "power_uw"
    readings = [(int(r["t_ns"]), int(r["half_ns"]), int(r[column])) for r in csv.DictReader(text.splitlines())]
    assert readings, source
    assert all(a[0] <= b[0] for a, b in zip(readings, readings[1:])), source + ": time goes back"
    if counter:
        assert readings[0][2] == 0 and all(a[2] <= b[2] for a, b in zip(readings, readings[1:])), source
    if (device, source) in lost:
        continue
    most = max(3 * sensor["period_ms"], 300) * 1e6
    for s in slots:
        inside = [r[0] for r in readings if int(s["start_ns"]) <= r[0] <= int(s["end_ns"])]
        edges = [int(s["start_ns"])] + inside + [int(s["end_ns"])]
        if any(a <= int(s["end_ns"]) and b >= int(s["start_ns"]) for a, b in told[device, source]):
            continue # on a busy machine a reading may be late, and the journal says so
        assert max(b - a for a, b in zip(edges, edges[1:])) < most, (source, s, len(inside))
idle = of("energy_idle")
assert idle and idle[-1]["when"] == "after" and idle[0]["when"] == "before", idle
assert all(m["end_ns"] - m["start_ns"] > 0.9e9 and 2.4e8 <= m["settle_ns"] <= 15e9 for m in idle), idle
for m in idle + of("energy_pre_roll"): # nothing of it lies in a window
    assert all(m["end_ns"] <= int(s["start_ns"]) or m["start_ns"] >= int(s["end_ns"]) for s in slots), m
done = of("energy_done")
assert len(done) == 1 and done[0]["windows"] == len(slots), done
stages = [e["stage"] for e in events]
assert stages.index("stop") < stages.index("energy_done") < stages.index("cell_done") < stages.index("run_done")
files = {os.path.basename(f) for f in glob.glob(folder + "/samples/0-power-*.csv") if "-before-" not in f}
assert files == {f"0-power-{d}-{s}.csv" for d, s in sensors}, files
PY
}
