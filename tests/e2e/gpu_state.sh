#!/usr/bin/env bash
# The state of the GPU over a run on the device cuda: what is recorded, what is made of it, and that nothing of it names
# the machine. Over the driver of host memory (tests/fake_cuda) and the scripted management library (tests/fake_nvml).
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 python3
mkdir driver
cp "${IFM_FAKE_NVML:?the folder of the fake management libraries}/fake_nvml.so" driver/libnvidia-ml.so.1
counts=(--stop repeats --repeats 40 --slot-steps 2 --warmup 1)

# measure SCRIPT FOLDER argument...: a run on the fake GPU
measure()
{
    local script=$1 folder=$2
    shift 2
    FAKE_CUDA="kernel_ns=200000" FAKE_NVML="$script" LD_LIBRARY_PATH="$PWD/driver:$IFM_FAKE_CUDA" \
        "$INFEROMETER" null --device cuda "${counts[@]}" --out "$folder" "$@" >log 2>&1 || fail "$folder: $(cat log)"
}

# The accumulator grows by 1 ms between the two readings of the cell; heat says nothing; another process computes.
measure "gpus=2 fail=1 ours=1 foreign=1 f74=0,5000000,6000000 no=75,269,270 celsius=33,40,61 f91=18" run
python3 - <<'PY' || fail "the journal or the numbers are not as scripted"
import json
events = [json.loads(line) for line in open("run/run.log")]
states = [e["meta"] for e in events if e["stage"] == "gpu_state"]
assert [(s["when"], s.get("at")) for s in states] == [
    ("before", None), ("cell", "start"), ("cell", "end"), ("after", None)], states
order = [e["stage"] for e in events]
assert order.index("gpu_state") > order.index("environment"), order
first, second = states[1]["gpus"][0], states[2]["gpus"][0]
assert first["measured"] and not states[1]["gpus"][1]["measured"]
assert states[1]["gpus"][1]["absent"] == "the GPU is lost: it fell off the bus", states[1]
assert first["accumulators"]["power_cap_ns"] == 5000000 and second["accumulators"]["power_cap_ns"] == 6000000
assert first["accumulators"]["sw_thermal_ns"]["absent"] == "this GPU does not support it", first
assert first["temperature_c"]["gpu"] == 40 and second["temperature_c"]["gpu"] == 61, (first, second)
took = second["read_ns"] - first["read_ns"]
assert 0 < took < 600e9, took
# Nothing is asked while a slot is open: both readings lie outside of every sample.
rows = open("run/samples/0-latency.csv").read().splitlines()
column = rows[0].split(",").index("start_ns")
starts = [int(row.split(",")[column]) for row in rows[1:]]
assert first["read_ns"] < min(starts) and max(starts) < second["read_ns"], (first["read_ns"], min(starts))
gpu = next(e["meta"]["fingerprint"]["gpu"] for e in events if e["stage"] == "environment")
assert gpu["devices"][0]["name"] == "NVIDIA H200" and gpu["devices"][0]["nvlinks"]["links"] == 18, gpu
derived = json.load(open("run/derived.json"))
numbers = {n["metric"]: n for n in derived["numbers"] if n["metric"].startswith("gpu_")}
assert abs(numbers["gpu_power_capped_percent"]["value"] - 100 * 1e6 / took) < 1e-9, numbers
assert numbers["gpu_thermal_throttled_percent"]["state"] == "absent", numbers
assert numbers["gpu_thermal_throttled_percent"]["reason"] == "this GPU does not support it", numbers
assert numbers["gpu_temperature_start_c"]["value"] == 40 and numbers["gpu_temperature_end_c"]["value"] == 61
assert any("the GPU is shared: up to 1 other process computed" in f["text"] for f in derived["findings"]), derived
PY
"$INFEROMETER" verify run >log 2>&1 || fail "verify: $(cat log)"

# ---- what is published names neither the GPU nor the machine nor the user ----
for secret in 5ec4e7ed 165422300777 0000:01:00.0 "$(hostname)" "$(id -un)" "$PWD"; do
    [ "${#secret}" -gt 4 ] || continue # "vm" and "root" are words of their own
    if grep -rlF --exclude=private.json -- "$secret" run; then
        fail "published: $secret"
    fi
done
uuid=$(printf %s GPU-5ec4e7ed-0000-1111-2222-333344445550 | sha256sum | cut -d' ' -f1)
grep -q "\"uuid_sha256\":\"$uuid\"" run/run.log || fail "the GPU has no identity"

# ---- a management library that is not there, and one from long ago, cost what they would have said ----
rm driver/libnvidia-ml.so.1
if ! installed libnvidia-ml.so.1; then
    measure "" without
    grep -q '"gpu_state".*"absent":"there is no NVIDIA driver' without/run.log || fail "without: no reason"
fi
cp "$IFM_FAKE_NVML/fake_nvml_old.so" driver/libnvidia-ml.so.1
measure "policy=0,0,1000000" old
grep -q '"accumulators_from":"violation status"' old/run.log || fail "old: its violation times are not read"

# ---- doctor ----
FAKE_NVML="cap=500 reasons=4 persistence=0" LD_LIBRARY_PATH=$PWD/driver "$INFEROMETER" doctor >doctor.txt
grep -q "^GPU power limit  *warn  *500 W, below the default of 700 W" doctor.txt || fail "doctor: $(cat doctor.txt)"
grep -q "^GPU throttling  *warn  *.*sw_power_cap" doctor.txt || fail "doctor: no throttling"
grep -q "^GPU persistence  *warn  *off" doctor.txt || fail "doctor: no persistence"
