#!/usr/bin/env bash
# A full disk, an I/O error or a read-only folder at calls of the energy pass that change the folder: one clear error,
# no whole block and no whole row of readings lost, and once the fault is gone the pass goes on to a record that is
# whole. Calls at FAULT_FAULTS places (3) over a whole pass are struck.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/energy_lib.sh"
need python3 python3
[ -n "${IFM_FAULT:-}" ] || skip "a sanitizer cannot live beside a preloaded shim"
mkdir driver
cp "${IFM_FAKE_NVML:?the folder of the fake management libraries}/fake_nvml.so" driver/libnvidia-ml.so.1
export FAKE_CUDA="kernel_ns=200000" FAKE_NVML="average_rc=3 instant_rc=3 memory_rc=3 refresh_ms=10"
export LD_LIBRARY_PATH="$IFM_FAKE_CUDA:$PWD/driver"
start=(null --device cuda --stop repeats --repeats 40 --slot-steps 2 --warmup 1 --energy
    --energy-windows 3 --energy-idle 1s --pre-roll 20ms --energy-window 150ms --format csv --out one)

# measure ERRNO KEEP CALL: that call of the pass fails, 0 = none. How many there were: into the file `calls`.
measure()
{
    env LD_PRELOAD="$IFM_FAULT" IFM_FAULT_CALLS=write,sync,folder,rename,open,cut IFM_FAULT_BELOW=one \
        IFM_FAULT_DO="$1" IFM_FAULT_AT="$3" ${2:+IFM_FAULT_KEEP=1} IFM_FAULT_FROM='"power_sensor"' \
        IFM_FAULT_COUNT=calls "$INFEROMETER" "${start[@]}" >/dev/null 2>errors
}

# strike ERRNO KEEP CALL: one fault in a new folder; with KEEP all later calls fail too. Then without it to the end.
strike()
{
    local what="$1 at call $3" status=0
    rm -rf one before
    measure "$@" || status=$?
    [ "$(cat calls)" -ge "$3" ] || return 1
    if [ $status != 0 ]; then
        [ $status = 2 ] || [ $status = 5 ] || fail "$what: status $status: $(cat errors)"
        [ "$(grep -c '^error: ' errors)" = 1 ] || fail "$what: not one clear error: $(cat errors)"
        grep -q '^  hint: .' errors || fail "$what: the error does not say what to do: $(cat errors)"
        ! grep -q 'internal:' errors || fail "$what: $(cat errors)"
    fi
    cp -r one before
    "$INFEROMETER" run --resume one --format csv >/dev/null 2>errors || fail "$what, then --resume: $(cat errors)"
    python3 - <<'PY' || fail "$what: what was on disk is not there any more"
import glob
for name in glob.glob("before/samples/0-power-*") + ["before/run.log"]:
    text = open(name).read()
    whole = text[:text.rfind("\n") + 1]
    assert open(name.replace("before", "one", 1)).read().startswith(whole), name
PY
    check_energy one 4 || fail "$what: the record"
    "$INFEROMETER" verify one >errors 2>&1 || fail "$what, then verify: $(cat errors)"
}

# How many calls a pass makes depends on how fast the machine is: they are counted first, then a part of them is struck.
measure EIO "" 0 || fail "without a fault: $(cat errors)"
calls=$(cat calls)
faults=${FAULT_FAULTS:-3} struck=0
kinds=("ENOSPC keep" "EIO " "EROFS keep")
for ((i = 0; i < faults; i++)); do
    kind=${kinds[$((i % 3))]}
    for ((k = 7 + (calls - 7) * i / faults; k > 0; k -= 5)); do # a pass that makes fewer calls than the first one
        strike "${kind% *}" "${kind#* }" $k && struck=$((struck + 1)) && break
    done
done
[ $struck = "$faults" ] || fail "only $struck faults in $calls calls"
echo "$struck faults at calls of the energy pass that change the folder: nothing was lost, and each went on to its end"
