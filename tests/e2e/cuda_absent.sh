#!/usr/bin/env bash
# A build without the device cuda, as a user meets it: what asks for the device is one error that names the reason and
# the remedy, doctor and version say so, and everything else goes on, also with what a build with CUDA recorded.
source "$(dirname "$0")/lib.sh"
need python3 python3
[ -z "${IFM_FAKE_CUDA:-}" ] || skip "this build holds the device cuda"

# refused WORDS command...: exit status 4, one error that holds the words, a hint, and no folder
refused()
{
    local words=$1 status=0
    shift
    "$@" --out none >out 2>errors || status=$?
    [ "$status" = 4 ] || fail "$*: exit status $status, not 4: $(cat errors)"
    [ "$(grep -c '^error: ' errors)" = 1 ] || fail "$*: not one error: $(cat errors)"
    grep -qF -- "$words" errors || fail "$*: does not say '$words': $(cat errors)"
    grep -q '^  hint: .*toolkit' errors || fail "$*: the error does not say what to do: $(cat errors)"
    [ ! -e none ] || fail "$*: a run folder was made"
}
for workload in null stream decode attention gemm; do
    refused "this build is without CUDA" "$INFEROMETER" $workload --device cuda
done
printf 'workload: null\ndevice: {kind: cuda}\n' >gpu.yaml
refused "this build is without CUDA" "$INFEROMETER" run -c gpu.yaml
"$INFEROMETER" doctor 2>/dev/null | has '^\(GPU\|CUDA\)  *absent  *this build is without CUDA' ||
    fail "doctor does not say so"
"$INFEROMETER" version | has 'CUDA: not built in' || fail "version does not say so"

# The processor is measured as ever.
"$INFEROMETER" stream --probe copy --size 64KiB --threads 1 --repeats 40 --warmup 1 --out cpu >/dev/null 2>errors ||
    fail "cpu: $(cat errors)"
"$INFEROMETER" verify cpu >/dev/null 2>errors || fail "verify cpu: $(cat errors)"
! grep -q '"gpu_state"' cpu/run.log || fail "a GPU was asked for a run on the processor"

# A record of a GPU is verified, derived and shown here too; it is measured again where there is one.
driver=$(dirname "${IFM_BUILD_GCC:-none}/.")/tests/fake_cuda
[ -e "$driver/libcuda.so.1" ] || skip "all but the record of a GPU, which needs the gcc build with CUDA"
FAKE_CUDA="kernel_ns=200000" LD_LIBRARY_PATH=$driver "$IFM_BUILD_GCC/inferometer" null --device cuda --stop repeats \
    --repeats 40 --slot-steps 2 --warmup 1 --out gpu >/dev/null 2>errors || fail "gpu: $(cat errors)"
for command in verify derive report; do
    "$INFEROMETER" $command gpu >/dev/null 2>errors || fail "$command of a GPU's record: $(cat errors)"
done
refused "this build is without CUDA" "$INFEROMETER" rerun gpu
echo "refused in one sentence, said by doctor and version; the processor, and a GPU's record, as ever"
