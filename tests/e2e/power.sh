#!/usr/bin/env bash
# `inferometer power` over a management library of the tests: what it finds, what is absent and why, and a meter's file.
source "$(dirname "$0")/lib.sh"
need python3 python3
fake=${IFM_FAKE_NVML:?the folder of the fake management libraries}
mkdir driver
cp "$fake/fake_nvml.so" driver/libnvidia-ml.so.1
printf 't_s,power_w\n0,500\n0.1,510\n' >meter.csv

# How often the counter moves is seen by looking: where a busy machine kept this from it, it looks again.
for _ in 1 2 3 4 5 6; do
    FAKE_NVML="gpus=2 fail=1 watts=350 refresh_ms=40 memory_rc=3" LD_LIBRARY_PATH=$PWD/driver \
        "$INFEROMETER" power --seconds 0.5 --format json --meter meter.csv --rated-w 100 >seen.json
    python3 -c 'import json, sys
rows = json.load(open("seen.json"))["rows"]
[row] = [row for row in rows if (row["device"], row["source"]) == ("gpu0", "nvml_energy")]
sys.exit(row["state"] != "ok" or not 30 < row["refresh_ms"] < 60 or not 250 < row["power_w"] < 450)' && break
done
python3 - <<'PY'
import json
rows = json.load(open("seen.json"))["rows"]
found = {(row["device"], row["source"]): row for row in rows if row["state"] == "ok"}
absent = {row["source"]: row for row in rows if row["state"] == "absent"}
energy = found["gpu0", "nvml_energy"]
assert energy["kind"] == "counter" and 250 < energy["power_w"] < 450, energy
assert 30 < energy["refresh_ms"] < 60, energy
assert found["gpu0", "nvml_samples"]["power_w"] == 350, found
assert found["cpu", "tdp"]["kind"] == "estimate" and found["board", "meter"]["kind"] == "meter", found
assert found["board", "meter"]["power_w"] is None, "nothing came while it was watched"
assert absent["nvml_memory"]["reason"] == "gpu0: this GPU does not support it", absent
assert absent["nvml"]["reason"].startswith("gpu1: "), absent
assert all(row["reason"] and row["remedy"] for row in absent.values()), absent
PY

FAKE_NVML="" LD_LIBRARY_PATH=$PWD/driver "$INFEROMETER" power --seconds 0.05 >table.txt
grep -q "gpu0 .*nvml_energy" table.txt || fail "the table lacks the energy counter"
grep -q "not added" table.txt || fail "the table does not say what is a part"
FAKE_NVML="freeze_ms=0" LD_LIBRARY_PATH=$PWD/driver "$INFEROMETER" power --seconds 0.4 >table.txt
grep -q "gpu0 *nvml_energy *still" table.txt || fail "a counter that stands still passes for a working one"
mkdir none
printf 'no library' >none/libnvidia-ml.so.1
LD_LIBRARY_PATH=$PWD/none "$INFEROMETER" power --seconds 0.05 >table.txt
unwrapped <table.txt | has "libnvidia-ml.so.1 cannot be opened" || fail "a library that cannot be opened is not named"
FAKE_NVML="" LD_LIBRARY_PATH=$PWD/driver "$INFEROMETER" doctor >doctor.txt
grep -q "GPU power (NVML) *ok *gpu0: nvml_energy, nvml_samples" doctor.txt || fail "doctor does not name the sensors"
echo "sensors, absences, the meter and doctor's rows are as scripted"
