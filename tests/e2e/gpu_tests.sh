#!/usr/bin/env bash
# tools/gpu_tests.sh without a GPU: one named skip. Over a driver of host memory, with programs that are stand-ins: what
# passes and fails is counted, and its words are kept.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 python3
tests=$IFM_SOURCE/tools/gpu_tests.sh
mkdir dir
ln -s "$INFEROMETER" dir/inferometer
"$tests" --programs >programs
for name in test_hard_gemm_cuda test_planted_packed_cuda test_decode_cycle_cuda rmsnorm.so; do
    grep -q "/$name\$" programs || fail "no $name among the programs: $(cat programs)"
done
! grep -q 'test_device_cuda\|test_range_profiler_cuda' programs || fail "a program of the driver of host memory"
while read -r name; do
    printf '#!/bin/sh\necho "[       OK ] one"\n' >"dir/$(basename "$name")"
done <programs
chmod +x dir/*

# ends STATUS LAST-LINE command...
ends()
{
    local wanted=$1 last=$2 status=0
    shift 2
    "$@" >log 2>&1 || status=$?
    [ "$status" = "$wanted" ] || fail "exit status $status, not $wanted: $(cat log)"
    [[ $(tail -1 log) =~ $last ]] || fail "the last line is not '$last': $(cat log)"
}

if ! installed libcuda.so.1; then
    ends 77 '^0 passed, 0 failed, [4-9][0-9] skipped$' env LD_LIBRARY_PATH= "$tests" dir
    grep -q '^no GPU can be used: .*there is no CUDA driver' log || fail "no reason: $(cat log)"
fi
export LD_LIBRARY_PATH=$IFM_FAKE_CUDA OUT=$PWD/out
ends 0 '^2 passed, 0 failed, 0 skipped$' "$tests" dir '^test_(kv_pack|packed)_cuda$'
grep -q '^passed .* test_packed_cuda  *1 tests' log || fail "no line of a test: $(cat log)"
printf '#!/bin/sh\necho "[  FAILED  ] of a value"\nexit 1\n' >dir/test_packed_cuda
ends 1 '^1 passed, 1 failed, 0 skipped$' "$tests" dir '^test_(kv_pack|packed)_cuda$'
grep -q '^failed .* test_packed_cuda .*of a value' log || fail "the failure is not named: $(cat log)"
has 'of a value' <out/gpu_tests.log || fail "its words are not kept"
ends 1 '^0 passed, 1 failed, 0 skipped$' "$tests" dir '^nvrtc/test_hard_gemm_cuda$'
grep -q 'no kernel was made by NVRTC' log || fail "a program that needed no NVRTC: $(cat log)"
rm dir/test_kv_pack_cuda
ends 2 'test_kv_pack_cuda is missing: tools/portable.sh' "$tests" dir
ends 2 '^usage: ' "$tests"
echo "no GPU is a named skip; passed, failed and missing programs are told"
