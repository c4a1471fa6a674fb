#!/usr/bin/env bash
# gemm on the device cuda, over a driver of host memory (tests/fake_cuda): arms, formats, shapes, oracle, refusals.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 python3

counts=(--device cuda --stop repeats --repeats 40 --slot-steps 2 --warmup 1)

# fake SCRIPT command...: with the driver of host memory
fake()
{
    local script=$1
    shift
    FAKE_CUDA="kernel_ns=200000;$script" LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$@"
}

# runs NAME ARMS ARGUMENTS...: a run of these arms that succeeds, verifies, and has small errors
runs()
{
    local name=$1 arms=$2
    shift 2
    fake "" "$INFEROMETER" gemm "${counts[@]}" --out "$name" "$@" >log 2>&1 || fail "$name: $(cat log)"
    "$INFEROMETER" verify "$name" >log 2>&1 || fail "$name: $(cat log)"
    python3 - "$name" "$arms" <<'PY' || fail "$name: checks"
import json, sys
name, arms = sys.argv[1:]
checks = [e["meta"] for e in map(json.loads, open(name + "/run.log")) if e["stage"] == "check"]
seen = {}
for c in checks:
    if "error_rms_rel" in c and "." not in c["arm"] or c["arm"].split(".")[0] in ("naive", "cublaslt"):
        most = 2.5e-3 if "bf16" in c["arm"] else 4e-4
        assert 0 < c["error_rms_rel"] < most and c["finite"], c
        seen[c["arm"]] = c["output_xxh3"]
assert sorted(seen) == sorted(arms.split()), (seen, arms)
PY
}

# ---- formats, groups, activations, a depth that no pair of groups divides ----
runs naive "naive.f16 naive.bf16 naive.int8 naive.int4" --m 3 --n 128 --k 192 --gemm-arms naive
runs group "naive.int8 naive.int4" --m 1 --n 64 --k 320 --group 32 --weights int8,int4 --gemm-arms naive
# The library, whose products are a kernel of the fake driver: the baseline in f16 whatever is compared with it.
runs library "cublaslt.f16 cublaslt.bf16" --m 5 --n 64 --k 128 --gemm-arms cublaslt
runs beside "cublaslt.f16 naive.int4" --m 1 --n 64 --k 128 --weights int4 --gemm-arms naive,cublaslt
grep -q '"isa":"cuBLASLt 99.0.0"' library/run.log || fail "the record does not name the library"
runs alone "cublaslt.f16" --n 64 --k 64 --weights f16 --gemm-arms cublaslt --no-graphs

# ---- a library that is not there, or fails ----
export IFM_CUBLASLT=$PWD/none
fake "" "$INFEROMETER" gemm --device cuda --n 64 --k 64 --gemm-arms cublaslt --out absent >log 2>&1 &&
    fail "cuBLASLt where there is none"
grep -qF "there is no library cuBLASLt at IFM_CUBLASLT=$PWD/none (pip install" log || fail "absent: $(cat log)"
fake "" "$INFEROMETER" gemm --device cuda --n 64 --k 64 --weights f16 --gemm-arms cublaslt,naive --dry-run >log 2>&1 ||
    fail "without the library: $(cat log)"
grep -qF "a library has no arm here: there is no library cuBLASLt" log || fail "its absence is not told of: $(cat log)"
"$INFEROMETER" version | has '^CUDA: there is no library cuBLASLt' || fail "version says nothing of cuBLASLt"
unset IFM_CUBLASLT
LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$INFEROMETER" version | has '^CUDA: cuBLASLt 99.0.0' || fail "version: no cuBLASLt"
fake "" "$INFEROMETER" doctor | has '^GPU matrix library  *ok  *cuBLASLt 99.0.0' || fail "doctor: no cuBLASLt"
for script in fails=cublasLtCreate fails=cublasLtMatmulAlgoGetHeuristic none=1 fails=cublasLtMatmul; do
    FAKE_CUBLASLT=$script fake "" "$INFEROMETER" gemm "${counts[@]}" --n 64 --k 64 --weights f16 \
        --gemm-arms cublaslt,naive --out "lib-$script" >log 2>&1 || true
    cat "lib-$script/run.log" >>log
    grep -q 'cuBLASLt 99.0.0 \(cannot be set up\|has no algorithm\|does not multiply\)' log ||
        fail "$script is not told of: $(cat log)"
    grep -q 'leave cublaslt out of gemm.arms' log || fail "$script: no remedy: $(cat log)"
done

# ---- memory or a kernel that is not there costs an arm, never the cell ----
# left NAME SCRIPT REASON: naive.f16 is left out with that reason, naive.int4 is measured
left()
{
    fake "$2" "$INFEROMETER" gemm "${counts[@]}" --n 512 --k 512 --layers 1 --weights f16,int4 --gemm-arms naive \
        --ceilings none --out "$1" >log 2>&1 || fail "$1: $(cat log)"
    "$INFEROMETER" verify "$1" >verified 2>&1 || fail "$1: $(cat verified)"
    grep '"stage":"arm_failed".*"naive.f16"' "$1/run.log" | has -F -- "$3" || fail "$1: $(cat log)"
    [ "$(grep -c '"stage":"arm_failed"' "$1/run.log")" = 1 ] || fail "$1: more than one arm is left out"
    [ "$(number "$1" naive.int4 step_ns)" = 200000 ] || fail "$1: $(number "$1" naive.int4 step_ns)"
    case "$(number "$1" naive.f16 step_ns)" in absent*) ;; *) fail "$1: a time of the arm that is left out" ;; esac
}
left memory oom_over=300000 CUDA_ERROR_OUT_OF_MEMORY
left kernel missing=ifm_gemm_naive_f16 "there is no kernel ifm_gemm_naive_f16"

# ---- what this device does not do ----
refused()
{
    local words=$1
    shift
    fake "" "$INFEROMETER" gemm --device cuda --n 64 --k 64 --out refused "$@" >log 2>&1 && fail "accepted: $*"
    rm -rf refused
    grep -qF -- "$words" log || fail "does not say '$words': $(cat log)"
}
refused "instruction sets are a processor's" --isa avx2
refused "nothing multiplies f32 weights on the device cuda" --weights f32 --gemm-arms naive
refused "at most 64 weight matrices" --layers 65
refused "none of gemm.arms runs on this device" --gemm-arms openblas

# ---- a wrong kernel is refused, whichever element; what the reference says does not count where the host knows it ----
fake wrong=ifm_gemm_naive_f16 "$INFEROMETER" gemm "${counts[@]}" --n 64 --k 64 --weights f16 --gemm-arms naive \
    --out wrong >log 2>&1 && fail "a wrong result is no failure"
grep -q "naive.f16: the arm's output is wrong" log || fail "a wrong element was not refused: $(cat log)"
fake wrong=fake_cublaslt "$INFEROMETER" gemm "${counts[@]}" --n 64 --k 64 --weights bf16 --gemm-arms cublaslt \
    --out wrong-library >log 2>&1 && fail "a wrong product of the library is no failure"
grep -q "cublaslt.bf16: the arm's output is wrong" log || fail "a wrong element was not refused: $(cat log)"
fake wrong=ifm_gemm_reference "$INFEROMETER" gemm "${counts[@]}" --n 64 --k 64 --weights f16 --gemm-arms naive \
    --out reference >log 2>&1 || fail "a wrong reference beside the host's: $(cat log)"
echo "gemm on a GPU of host memory: formats, shapes, checks, refusals"
