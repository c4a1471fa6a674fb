#!/usr/bin/env bash
# Every test of the tree that wants a real GPU, from a folder of tools/portable.sh. Builds nothing, changes no setting
# of the GPU; six minutes of an H100 with 16 CPUs. Nobody else may use the GPU meanwhile: one test takes all its memory.
#
#   cmake --preset portable && cmake --build build-portable
#   tools/portable.sh DIR $(tools/gpu_tests.sh --programs)
#   tools/gpu_tests.sh DIR [REGEX]      all tests, or those whose names match
#
# One line a test, then "N passed, N failed, N skipped"; all that they print is in gpu_tests.log, in $OUT or here. Exit
# status: 0 passed, 1 not, 2 usage, 77 there is no GPU. IFM_GPU_JOBS tests run side by side, but for those `alone`.
set -uo pipefail
here=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/..")

# Programs that run on a GPU: the others with that name script a driver of host memory.
programs()
{
    grep -L 'fake_gpu\.h\|dlsym' "$here"/tests/unit/test_*_cuda.c | while read -r source; do
        basename "$source" .c
    done
}

if [ "${1:-}" = --programs ]; then
    programs | sed 's,^,tests/,'
    echo tests/plugins/rmsnorm.so
    exit
fi
[ -d "${1:-}" ] || {
    echo "usage: tools/gpu_tests.sh DIR [REGEX]; DIR is of tools/portable.sh DIR \$(tools/gpu_tests.sh --programs)" >&2
    exit 2
}
dir=$(readlink -f "$1") only=${2:-.}
lab=$dir/inferometer
for needed in inferometer rmsnorm.so $(programs); do
    [ -e "$dir/$needed" ] || {
        echo "error: $dir/$needed is missing: tools/portable.sh $dir \$(tools/gpu_tests.sh --programs)" >&2
        exit 2
    }
done
mkdir -p "${OUT:-.}"
log=$(readlink -f "${OUT:-.}")/gpu_tests.log
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache PYTHONDONTWRITEBYTECODE=1
{ date -u +%FT%TZ; "$lab" version; } >"$log" 2>&1

# ---- tests, functions that run in a folder of their own: 0 passed, 77 skipped; the last line is shown ----

fail() { echo "$*"; exit 1; }
skip() { echo "$*"; exit 77; }
found() { [ -n "$(command -v "$1")" ] || skip "needs $1"; }

program() # NAME
{
    "$dir/$1" >out 2>&1
    local status=$?
    cat out
    ! grep 'there is no run-time compiler NVRTC' out || skip "there is no NVRTC"
    [ $status = 0 ] || fail "exit status $status: $(grep -m 1 'ERROR\|FAILED' out)"
    echo "$(grep -c 'OK \]' out) tests, $(grep -c 'SKIPPED \]' out) of them skipped by the program"
}

# The same checks of kernels that NVRTC made just now: its cache is empty before, and is not after.
by_nvrtc() # NAME
{
    export IFM_TEST_KERNELS=nvrtc XDG_CACHE_HOME=$PWD/cache
    program "$1"
    [ -n "$(ls cache/inferometer/kernels)" ] || fail "no kernel was made by NVRTC"
}

# A run of the product, which holds every output against its oracle, and its verification.
ran() # FOLDER ARGUMENTS...
{
    "$lab" "${@:2}" --out "$1" || fail "$1: exit status $?"
    "$lab" verify "$1" || fail "$1: not verified"
}

# number FOLDER ARM METRIC
number()
{
    python3 -c 'import json, sys
for n in json.load(open(sys.argv[1] + "/derived.json"))["numbers"]:
    if n.get("arm") == sys.argv[2] and n["metric"] == sys.argv[3]:
        print("%.10g" % n["value"] if n["state"] == "ok" else n["state"] + ": " + n["reason"])' "$@"
}

# Whatever this machine lacks, it says so.
doctor()
{
    "$lab" doctor
    [ $? -lt 128 ] || fail "doctor dies"
    echo "done"
}

baselines()
{
    found python3
    ran gemm gemm --device cuda --m 16 --n 14336 --k 4096 --weights f16,int8 --cap 1s --ceilings none >table
    ran attention attention --device cuda --batch 4 --seq-len 512 --cap 1s --ceilings none >>table
    ran decode decode --device cuda --batch 8 --kv-len 4096 --compress 1,2 --cap 1s --ceilings none >>table
    cat table
    for words in 'x over f16, ' 'cublaslt.f16' 'cudnn'; do
        grep -qF -- "$words" table || skip "no arm of a library: '$words' is not printed"
    done
    echo "ratios to the library and to our own f16 are printed"
}

lost_library()
{
    found python3
    IFM_CUBLASLT=/nowhere ran run gemm --device cuda --m 4 --n 4096 --k 4096 --weights f16 --cap 500ms --ceilings none
    [[ $(number run f16 step_ns) = [0-9]* ]] || fail "ours without the library: $(number run f16 step_ns)"
    echo "ours runs where the library is not"
}

# A run is interrupted, all memory but a little is taken, and the run goes on: with the arm that fits.
lost_memory()
{
    found python3
    local slots=0 status=0 pid hog
    "$lab" gemm --device cuda --m 1 --n 32768 --k 16384 --layers 1 --weights f16,int4 --gemm-arms ours \
        --ceilings none --repeats 5000 --out run >first 2>&1 &
    pid=$!
    while kill -0 $pid 2>/dev/null && [ "$slots" -lt 8 ]; do
        sleep 0.1
        slots=$(cat run/samples/*-slots.csv 2>/dev/null | grep -c '^[0-9]')
    done
    kill -INT $pid && wait $pid
    cat first
    python3 "$here/tools/gpu_hog.py" 700 >hog &
    hog=$!
    while kill -0 $hog 2>/dev/null && [ ! -s hog ]; do
        sleep 0.1
    done
    grep . hog || fail "the GPU's memory was not taken"
    "$lab" run --resume run || status=$?
    kill $hog && wait $hog
    [ $status = 0 ] || fail "the run did not go on: exit status $status"
    "$lab" verify run || fail "not verified"
    grep '"arm_failed".*"f16"' run/run.log | grep 'available\|OUT_OF_MEMORY' || fail "the arm was not left out"
    [[ $(number run int4 step_ns) = [0-9]* ]] || fail "the arm that fits: $(number run int4 step_ns)"
    echo "the arm that does not fit is left out, the other is measured"
}

counters()
{
    found python3
    ran read stream --device cuda --probe read --size 4GiB --ceilings none --cap 1s --counters
    ran gemm gemm --device cuda --m 256 --n 8192 --k 8192 --weights f16 --cap 1s --ceilings none --counters
    local bytes flops
    bytes=$(number read read.linear dram_bytes_read) flops=$(number gemm f16 tensor_flops)
    [[ $bytes != absent* ]] || skip "$bytes"
    awk -v b="$bytes" -v f="$flops" 'BEGIN { b /= 4294967296; f /= 34359738368
        print "bytes counted over bytes read: " b ", operations over 2 m n k: " f
        exit !(b > 0.995 && b < 1.005 && f > 0.9999 && f < 1.0001) }'
}

activity()
{
    found python3
    "$here/bench/trace.sh" "$lab" "$PWD/trace" | tee out
    [ "$(tail -1 out)" = exact ] || fail "launches are not exact: $(tail -1 out)"
}

plugin()
{
    cp "$dir/rmsnorm.so" "$here/examples/plugin_cuda/rmsnorm.yaml" .
    ran rmsnorm run -c rmsnorm.yaml --override measure.cap=1s
}

# Kernels of small shapes under a tool of compute-sanitizer, which must find nothing.
sanitized() # TOOL COMMAND...
{
    local sanitizer=/usr/local/cuda/bin/compute-sanitizer
    sanitizer=$(command -v compute-sanitizer || echo $sanitizer)
    [ -x "$sanitizer" ] || skip "needs compute-sanitizer"
    "$sanitizer" --tool "$1" --target-processes all --error-exitcode 99 "${@:2}" >out 2>&1
    local status=$?
    cat out
    grep 'ERROR SUMMARY\|RACECHECK SUMMARY' out | sort | uniq -c >summary
    [ $status = 0 ] || fail "exit status $status; $(grep -m 1 '========= \(Error\|Race\|Warn\|Invalid\|Uninit\)' out)"
    grep -q ' 0 errors\| 0 hazards' summary || fail "the tool says nothing"
    ! grep -v ' 0 errors\| 0 hazards' summary || fail "$(grep -v ' 0 errors\| 0 hazards' summary | head -1)"
    echo "nothing found"
}

few=(--ceilings none --no-graphs --inner 1 --stop repeats --repeats 3 --warmup 1 --cap 2s)
checked() # TOOL WORKLOAD ARGUMENTS...
{
    sanitized "$1" "$lab" "$2" --device cuda "${few[@]}" --out run "${@:3}"
}

# ---- the runner ----

n_jobs=0
tally() # NAME STATUS SECONDS
{
    local word=failed
    [ "$2" != 0 ] || word=passed
    [ "$2" != 77 ] || word=skipped
    printf '%-7s %5.1f s  %-40s %s\n' $word "$3" "$1" "$(tail -1 "$work/$1/log" | cut -c 1-150)"
    echo $word >"$work/$1/word"
}

one() # NAME FUNCTION ARGUMENTS...
{
    local begun=$EPOCHREALTIME status
    mkdir -p "$work/$1"
    (cd "$work/$1" && "${@:2}") >"$work/$1/log" 2>&1
    status=$?
    tally "$1" $status "$(awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')"
    {
        flock 9
        echo "======== $1"
        cat "$work/$1/log"
    } 9>"$work/lock" >>"$log"
}

job() # NAME FUNCTION ARGUMENTS...: beside others
{
    [[ $1 =~ $only ]] || return 0
    n_jobs=$((n_jobs + 1))
    while [ "$(jobs -rp | wc -l)" -ge "${IFM_GPU_JOBS:-12}" ]; do
        wait -n
    done
    one "$@" &
}

alone()
{
    wait
    job "$@"
    wait
}

has_gpu() { "$lab" null --device cuda --dry-run >"$work/gpu" 2>&1; }

all()
{
    local name tool
    local cycle=(--inference --decode-tokens 6 --batch 1 --q-heads 8 --kv-heads 2 --layers 1 --decode-arms ours
        --kv-len 540) # with four more tokens a page is full, and packed
    for name in test_hard_gemm_cuda test_planted_gemm_cuda; do # the longest first
        job "nvrtc/$name" by_nvrtc $name
        job "$name" program $name
    done
    job racecheck/test_decode_cycle_cuda sanitized racecheck "$dir/test_decode_cycle_cuda"
    # More items a block than stages: warps fill these for one another. f16 would take minutes, so packed kernels alone.
    job racecheck/packed_ring sanitized racecheck --kernel-regex kns=ifm_packed "$lab" decode --device cuda \
        "${few[@]}" --out run --compress 2,4 --batch 1 --q-heads 4 --kv-heads 1 --layers 1 --kv-len 65536 \
        --decode-arms ours
    # On 132 multiprocessors two blocks each, of two units.
    job racecheck/packed_pair sanitized racecheck --kernel-regex kns=ifm_packed "$lab" decode --device cuda \
        "${few[@]}" --out run --compress 4 --batch 66 --q-heads 8 --kv-heads 8 --layers 1 --kv-len 300 \
        --decode-arms ours
    # More chunks than slots, of two panels a block, the last of one unit; with all kernels it takes twice as long.
    job racecheck/gemm_row sanitized racecheck --kernel-regex kns=ifm_gemm_row "$lab" gemm --device cuda "${few[@]}" \
        --out run --m 1 --n 4096 --k 8384 --layers 1 --weights int4 --gemm-arms ours
    for tool in memcheck initcheck; do
        job $tool/gemm_row checked $tool gemm --m 1 --n 4096 --k 8384 --layers 1 --weights int4 --gemm-arms ours
        job $tool/cycle checked $tool decode --compress 1 "${cycle[@]}" --layout contiguous,paged
        job $tool/cycle_packed checked $tool decode --compress 2,4,8 "${cycle[@]}"
        job $tool/packed_pair checked $tool decode --compress 4 --batch 66 --q-heads 8 --kv-heads 8 --layers 1 \
            --kv-len 300 --decode-arms ours
        job $tool/packed_formats checked $tool decode --formats int8,e4m3,int4,int2,half4 --batch 3 --q-heads 6 \
            --kv-heads 2 --layers 1 --kv-len 700 --head-dim 64,128 --ragged 0.7 --layout paged --decode-arms ours
    done
    for tool in racecheck memcheck initcheck; do
        job $tool/packed sanitized $tool "$dir/test_packed_cuda"
        job $tool/decode checked $tool decode --compress 1 --batch 2 --q-heads 8 --kv-heads 2 --kv-len 513 --layers 1
        job $tool/decode_long checked $tool decode --compress 1 --batch 1 --q-heads 8 --kv-heads 2 --kv-len 4096 \
            --layers 1 --decode-arms ours
        job $tool/decode_parts checked $tool decode --compress 1 --batch 1 --q-heads 8 --kv-heads 8 --kv-len 7823 \
            --layers 1 --decode-arms ours
        job $tool/decode_paged checked $tool decode --compress 1 --batch 3 --q-heads 4 --kv-heads 4 --kv-len 700 \
            --layers 1 --head-dim 64 --layout paged --ragged 0.7 --decode-arms ours,naive
        job $tool/attention checked $tool attention --batch 1 --q-heads 2 --kv-heads 1 --seq-len 257 \
            --layers 2 --arms ours,mma,naive
        job $tool/attention_128 checked $tool attention --batch 1 --q-heads 2 --kv-heads 1 --seq-len 385 \
            --head-dim 128 --layers 1 --causal --storage bf16 --arms ours,mma
        job $tool/attention_views checked $tool attention --batch 2 --q-heads 4 --kv-heads 2 --seq-len 257 \
            --layers 2 --layout qkv_packed --ragged 0.6 --causal --arms ours,mma,naive
        job $tool/gemm_mma checked $tool gemm --m 3 --n 640 --k 320 --layers 1 --gemm-arms ours,naive --group 64
        # Four blocks that share k, with unequal shares.
        job $tool/gemm_parts checked $tool gemm --m 67 --n 4096 --k 4224 --layers 1 --weights f16 --gemm-arms ours
        job $tool/gemm_wgmma checked $tool gemm --m 64,128,256 --n 512 --k 1024 --layers 1 --gemm-arms ours
        job $tool/gemm_wide checked $tool gemm --m 64,128,256 --n 8512 --k 192 --layers 1 --weights f16,bf16 \
            --gemm-arms ours
        job $tool/gemm_tma checked $tool gemm --m 65,129 --n 8576 --k 448 --layers 1 --weights f16,bf16 \
            --gemm-arms ours
    done
    for name in test_{hard,planted}_{attention,decode,packed}_cuda test_{packed,decode_cycle}_cuda; do
        job "nvrtc/$name" by_nvrtc "$name"
    done
    for name in $(programs); do
        [[ $name = test_*_gemm_cuda ]] || job "$name" program "$name"
    done
    job doctor doctor
    job baselines baselines
    job lost_library lost_library
    job plugin plugin
    alone counters counters
    alone activity activity
    alone lost_memory lost_memory
}

if ! has_gpu; then
    job() { [[ ! $1 =~ $only ]] || n_jobs=$((n_jobs + 1)); }
    all
    echo "no GPU can be used: $(sed -n 's/^error: //p' "$work/gpu" | head -1)"
    echo "0 passed, 0 failed, $n_jobs skipped"
    exit 77
fi
all
wait
count() { find "$work" -maxdepth 3 -name word -exec cat {} + | grep -c "$1"; }
echo "$(count passed) passed, $(count failed) failed, $(count skipped) skipped"
[ "$(count failed)" = 0 ] && [ "$(count passed)" -gt 0 ]
