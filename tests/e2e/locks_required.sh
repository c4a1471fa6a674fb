#!/usr/bin/env bash
# Rule 8: where real locks are required and one is open, nothing is measured; the status is 4 and the knobs are named.
# What a lock of a GPU's clocks makes of that, where the tests' driver can be had.
source "$(dirname "$0")/lib.sh"

# A GPU: its own knobs are what counts, and `lock` holds them for the run.
if [ -n "${IFM_FAKE_CUDA:-}" ] && command -v python3 >/dev/null; then
    mkdir driver
    cp "$IFM_FAKE_NVML/fake_nvml.so" driver/libnvidia-ml.so.1
    measure=("$INFEROMETER" null --device cuda --locks required --ceilings none --repeats 60)
    gpu()
    {
        LD_LIBRARY_PATH=$IFM_FAKE_CUDA:$PWD/driver FAKE_NVML="bus=0000:01:00.0 limit=691" \
            FAKE_NVML_STATE=$PWD/settings INFEROMETER_LOCKS=$PWD/locks.json "$@"
    }
    status=0
    gpu "${measure[@]}" --out open >/dev/null 2>errors || status=$?
    [ "$status" = 4 ] || fail "a GPU without locks: exit status $status, not 4: $(cat errors)"
    grep -q 'not locked: gpu_clock, memory_clock, persistence$' errors || fail "a GPU's knobs: $(cat errors)"
    status=0
    gpu "$INFEROMETER" lock --gpu-clock 1500 --memory-clock 1593 --persistence -- "${measure[@]}" --out locked \
        >/dev/null 2>errors || status=$?
    [ "$status" = 0 ] || fail "a GPU under locks: exit status $status: $(cat errors)"
    [ ! -e locks.json ] || fail "the locks were not given back"
    python3 - <<'PY'
import json
knobs = [json.loads(line)["meta"]["knobs"] for line in open("locked/run.log") if '"stage":"locks"' in line]
assert len(knobs) == 2 and all(knob["locked"] for row in knobs for knob in row), knobs
assert {"gpu_clock": "1500 MHz"}.items() <= {knob["knob"]: knob["value"] for knob in knobs[1]}.items(), knobs
assert json.load(open("locked/metrics.json"))["env"]["fixed_clock"] is True
PY
fi

status=0
"$INFEROMETER" null --locks required --ceilings none --repeats 60 --out out >/dev/null 2>errors || status=$?
[ "$status" != 0 ] || skip "every lock of this machine is locked"
[ "$status" = 4 ] || fail "exit status $status, not 4: $(cat errors)"
grep -q 'locks are required, and not locked: ' errors || fail "no knob is named: $(cat errors)"
# An open device pins its threads: affinity is never what is missing.
! grep -q 'not locked:.*affinity' errors || fail "the affinity was read before the device pinned it: $(cat errors)"
[ ! -e out ] || fail "a folder without a measurement is left: $(ls out)"
mkdir there
"$INFEROMETER" null --locks required --ceilings none --repeats 60 --out there >/dev/null 2>errors &&
    fail "measured in there"
[ -d there ] && [ -z "$(ls -A there)" ] || fail "the folder that was there is not as it was: $(ls -A there)"
echo "$(sed -n 's/.*not locked: //p' errors): nothing was measured"
