#!/usr/bin/env bash
# The energy pass on a GPU of host memory (tests/fake_cuda) under the management library of the tests: one GPU of two,
# and a sensor that is lost halfway.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/energy_lib.sh"
need python3 python3
mkdir driver
cp "${IFM_FAKE_NVML:?the folder of the fake management libraries}/fake_nvml.so" driver/libnvidia-ml.so.1
counts=(--device cuda --stop repeats --repeats 40 --slot-steps 2 --warmup 1 --format csv)
energy=(--energy --energy-windows 3 --energy-idle 1s --pre-roll 100ms --energy-window 300ms)
two="average_rc=3 instant_rc=3 memory_rc=3 refresh_ms=20" # the counter and the ring: calibration takes half a second

# fake CUDA NVML command...
fake()
{
    local cuda=$1 nvml=$2
    shift 2
    FAKE_CUDA="$cuda;kernel_ns=200000" FAKE_NVML="$nvml" LD_LIBRARY_PATH="$IFM_FAKE_CUDA:$PWD/driver" "$@"
}

# ---- the other GPU fails: nobody asks it ----
# Its steps are long: each is a sample, with a random pause behind it.
recorded fake "kernel_ns=6000000" "$two gpus=2 fail=1 watts=400" "$INFEROMETER" null "${counts[@]}" "${energy[@]}" \
    --out whole >/dev/null 2>log || fail "whole: $(cat log)"
check_energy whole 4 || fail "whole: the record"
python3 - <<'PY' || fail "whole: the pauses"
import csv, json
plan = next(e["meta"] for e in map(json.loads, open("whole/run.log")) if e["stage"] == "energy_plan")
step_ms = 1e3 * plan["window_s"] / plan["samples_per_slot"] - plan["pause_ms"] / 2  # 6, on a busy machine more
assert plan["inner"] == 1 and step_ms > 5.9, plan
assert abs(plan["pause_ms"] - min(0.1 * step_ms, 20)) < 1e-3, plan
reader = csv.DictReader(open("whole/samples/0-energy.csv"))
rows = [(int(r["slot"]), int(r["start_ns"]), int(r["duration_ns"])) for r in reader]
pauses = sorted(b[1] - a[1] - a[2] for a, b in zip(rows, rows[1:]) if a[0] == b[0])
assert pauses[-1] > 0.3e6 and pauses[len(pauses) // 2] > pauses[0] >= 0, pauses
PY
[ "$(grep -c '"power_sensor"' whole/run.log)" -ge 2 ] || fail "whole: sensors are missing"
grep -q '"power_absent".*"nvml_memory".*does not support' whole/run.log || fail "whole: no word of what is absent"
# On a busy machine the thread that reads may be late: a gap is told, and its windows are left out.
! grep '"power_fault"' whole/run.log | has -v '"lost":null' || fail "whole: $(grep power_fault whole/run.log)"
"$INFEROMETER" verify whole >log 2>&1 || fail "whole: $(cat log)"
python3 - <<'PY' || fail "whole: the readings are not those of the load"
import csv
reader = csv.DictReader(open("whole/samples/0-power-gpu0-nvml_energy.csv"))
rows = [(int(r["t_ns"]), int(r["energy_uj"])) for r in reader]
watts = (rows[-1][1] - rows[0][1]) * 1e-6 / ((rows[-1][0] - rows[0][0]) * 1e-9)
assert 390 < watts < 410, watts
assert all(int(r["power_uw"]) == 400000000 for r in csv.DictReader(open("whole/samples/0-power-gpu0-nvml_samples.csv")))
PY

# ---- the GPU's own monitor, in windows of a second; and none, where a window is shorter or the GPU has no monitor ----
monitored() # NAME NVML WINDOW: where other work left no window whole, once more
{
    local try status=0
    for try in 1 2 3; do
        rm -rf "$1"
        fake "" "$two gpus=1 watts=400 $2" "$INFEROMETER" null "${counts[@]}" --energy --energy-windows 3 \
            --energy-idle 1s --pre-roll 100ms --energy-window "$3" --out "$1" >/dev/null 2>log && status=0 || status=$?
        [ $status = 3 ] || break
    done
    [ $status = 0 ] || fail "$1: exit status $status in try $try: $(cat log)"
    "$INFEROMETER" verify "$1" >log 2>&1 || fail "$1: $(cat log)"
}
monitored busy "gpm=40,80,25,10" 1200ms
monitored brief "gpm=40,80,25,10" 300ms
monitored blind "" 300ms
python3 - <<'PY' || fail "the GPU's own monitor"
import csv, json
def numbers(folder):
    return {n["metric"]: n for n in json.load(open(folder + "/derived.json"))["numbers"] if n.get("arm") == "null"}
busy, brief, blind = numbers("busy"), numbers("brief"), numbers("blind")
for metric, percent in (("memory", 40), ("sm", 80), ("occupancy", 25), ("tensor", 10)):
    number = busy["gpm_" + metric + "_percent"]
    assert number["value"] == percent and number["n"] >= 3, number
    for folder, words in ((brief, "no window lasted a second"), (blind, "has no monitor of its parts")):
        number = folder["gpm_" + metric + "_percent"]
        assert number["state"] == "absent" and words in number["reason"] and number["remedy"], number
rows = list(csv.DictReader(open("busy/samples/0-energy-slots.csv")))
assert busy["gpm_cost_ns"]["value"] == sum(int(r["gpm_cost_ns"]) for r in rows) / len(rows), busy["gpm_cost_ns"]
assert "gpm_cost_ns" not in brief and "gpm_cost_ns" not in blind
latency = open("busy/samples/0-latency-slots.csv").readline()
assert "gpm" not in latency, latency # no time is measured beside it
PY

# ---- the GPU under test cannot be asked ----
fake "" "$two gpus=2 fail=0" "$INFEROMETER" null "${counts[@]}" "${energy[@]}" --out mute >/dev/null 2>log ||
    fail "mute: $(cat log)"
grep -q '"power_absent".*"source":"nvml","reason":"the GPU that is measured: the GPU is lost' mute/run.log ||
    fail "mute: $(grep power_absent mute/run.log)"
if ! grep -q '"power_sensor"' mute/run.log; then
    grep -q '"energy_done","ok":false.*"windows":0' mute/run.log || fail "mute: windows without a sensor"
fi

# ---- the counter is lost halfway, once a window is recorded: a fact, and the run goes on ----
recorded fake "" "$two lost_rows=lost/samples/0-energy-slots.csv:2" "$INFEROMETER" null "${counts[@]}" \
    "${energy[@]}" --energy-windows 6 --out lost >/dev/null 2>log || fail "lost: $(cat log)"
python3 - <<'PY' || fail "lost: $(grep -E 'power_fault|energy_done' lost/run.log)"
import csv, json
events = [json.loads(line) for line in open("lost/run.log")]
faults = [e["meta"] for e in events if e["stage"] == "power_fault" and e["meta"]["lost"]]
assert sorted(f["source"] for f in faults) == ["nvml_energy", "nvml_samples"], faults
done = [e for e in events if e["stage"] == "energy_done"]
assert len(done) == 1, done
last = [int(r["t_ns"]) for r in csv.DictReader(open("lost/samples/0-power-gpu0-nvml_energy.csv"))][-1]
fault = next(f for f in faults if f["source"] == "nvml_energy")
assert fault["start_ns"] <= last <= fault["end_ns"] and "fell off the bus" in fault["lost"], (fault, last)
slots = list(csv.DictReader(open("lost/samples/0-energy-slots.csv")))
assert slots and done[0]["meta"]["windows"] == len(slots), (done, len(slots))
if not any(e["stage"] == "power_sensor" and e["meta"]["device"] != "gpu0" for e in events):
    assert not done[0]["ok"] and "lost" in done[0]["meta"]["reason"], done
PY

# What is published names neither the cards, whether they work or not, nor where the run and its libraries lie.
for secret in 5ec4e7ed 165422300777 0000:01:00.0 "$PWD" "$IFM_FAKE_CUDA"; do
    if grep -rlF --exclude=private.json -- "$secret" whole mute lost; then
        fail "published: $secret"
    fi
done

echo "one GPU of two, one that cannot be asked, a sensor lost halfway: the record says what happened"
