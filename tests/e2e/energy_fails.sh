#!/usr/bin/env bash
# A GPU of host memory (tests/fake_cuda) fails under an arm in the energy pass: the others go on without it.
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

# ---- the device fails under an arm in the pass: what there is of the cell is set aside as a whole ----
# It fails once there are windows: a header and one row.
fails="fails=ifm_copy_bulk:1;fails_rows=failed/samples/0-energy-slots.csv:2"
recorded fake "$fails" "$two" "$INFEROMETER" stream --probe copy --size 64KiB "${counts[@]}" "${energy[@]}" \
    --energy-window 100ms --out failed >/dev/null 2>log || fail "failed: $(cat log)"
for name in latency latency-slots energy energy-slots power-gpu0-nvml_energy power-gpu0-nvml_samples; do
    case $name in
    *-slots) aside=${name%-slots}-before-1-slots ;;
    *) aside=$name-before-1 ;;
    esac
    [ -s "failed/samples/0-$aside.csv" ] || fail "failed: $name was not set aside: $(ls failed/samples)"
done
check_energy failed 4 || fail "failed: the record"
! cut -d, -f3 failed/samples/0-energy-slots.csv | has -x 1 || fail "failed: the record holds the failed arm"
"$INFEROMETER" verify failed >log 2>&1 || fail "failed: $(cat log)"
echo "the device failed under an arm in the energy pass: the others were measured anew, and nothing is lost"
