#!/usr/bin/env bash
# attention on the device cuda, over a driver of host memory (tests/fake_cuda): arms, shapes, oracle, refusals.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 python3

counts=(--device cuda --stop repeats --repeats 12 --slot-steps 1 --warmup 1)
# The kernels run on the host, so that a step of many heads takes long there, and longer beside other work: by the
# script it takes 20 ms, which the driver sleeps (rule 4). Empty kernels, of which a clock is calibrated by hundreds, do
# not.
small=(--batch 1 --q-heads 2 --kv-heads 2 --seq-len 40)

# fake SCRIPT command...: with the driver of host memory
fake()
{
    local script=$1
    shift
    FAKE_CUDA="kernel_ns=20000000;ns=ifm_null:1000;sleeps=1;$script" LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$@"
}

# runs NAME ARGUMENTS...: a run that succeeds, verifies, and has small errors
runs()
{
    local name=$1
    shift
    fake "" "$INFEROMETER" attention "${counts[@]}" --out "$name" "$@" >log 2>&1 || fail "$name: $(cat log)"
    "$INFEROMETER" verify "$name" >log 2>&1 || fail "$name: $(cat log)"
    python3 - "$name" <<'PY' || fail "$name: checks"
import json, sys
checks = [e["meta"] for e in map(json.loads, open(sys.argv[1] + "/run.log")) if e["stage"] == "check"]
checks = [c for c in checks if "error_rms_rel" in c and c["arm"].split(".")[0] in ("naive", "ours", "mma", "cudnn")]
assert checks and all(0 <= c["error_rms_rel"] < 3e-3 for c in checks), checks
PY
}

# ---- shapes: grouped heads, causal, ragged down to an empty sequence, lengths that no tile divides, every format ----
runs f16 --batch 2 --seq-len 65 --q-heads 4 --kv-heads 2 --causal --arms naive
runs f32 --batch 1 --seq-len 129 --q-heads 2 --kv-heads 1 --storage f32 --arms naive
runs bf16 --batch 3 --seq-len 33 --q-heads 2 --kv-heads 2 --head-dim 96 --storage bf16 --ragged 1 --arms naive
# The ten configurations of the specification are planned as on a processor; host memory would take hours to run them.

# ---- our tiles, and cuDNN ----
runs tiles --batch 2 --seq-len 65 --q-heads 4 --kv-heads 2 --causal --ragged 0.6 --arms ours,naive
runs tiles_bf16 --batch 1 --seq-len 129 --q-heads 2 --kv-heads 1 --head-dim 224 --storage bf16 --arms ours
fake "" "$INFEROMETER" attention --device cuda --storage f32 --arms ours --out f32o >log 2>&1 && fail "f32 by tiles"
grep -q "our kernels for a GPU take f16 and bf16" log || fail "f32: $(cat log)"
runs library --batch 2 --seq-len 40 --q-heads 4 --kv-heads 2 --causal --layers 3 --arms cudnn,naive
runs library_bf16 --batch 2 --seq-len 33 --q-heads 2 --kv-heads 2 --storage bf16 --head-dim 128 --arms cudnn,naive
views=(--layout qkv_packed --q-heads 4 --kv-heads 2 --causal)
runs views "${views[@]}" --batch 2 --seq-len 65 --ragged 0.6 --arms ours,mma,naive
runs views_library "${views[@]}" --batch 2 --seq-len 40 --arms cudnn,naive
grep -q '"isa":"cuDNN 99.0.0"' library/run.log || fail "the record does not name the library"
FAKE_CUDNN=no_plan=1 runs second "${small[@]}" --arms cudnn,naive
# refuses SCRIPT WORDS: the arm is left out with cuDNN's words, and the other one measured
refuses()
{
    local status=0
    FAKE_CUDNN=$1 fake "" "$INFEROMETER" attention "${counts[@]}" "${small[@]}" --arms naive,cudnn --out "refused-$1" \
        >log 2>&1 || status=$?
    [ $status = 0 ] || fail "$1: the arm that is left was not measured: $(cat log)"
    grep -F '"stage":"arm_failed"' "refused-$1/run.log" | has -F -- "$2" || fail "$1: does not say '$2': $(cat log)"
}
refuses none=1 "cuDNN 99.0.0 has no engine for this attention"
refuses fails=cudnnBackendFinalize "cuDNN 99.0.0 refuses this attention (a tensor: CUDNN_STATUS_BAD_PARAM)"
fake "" "$INFEROMETER" attention --device cuda --ragged 0.5 --batch 2 --arms cudnn --out ragged >log 2>&1 &&
    fail "ragged sequences by cuDNN"
grep -q "takes sequences of one length" log || fail "ragged: $(cat log)"
fake "" "$INFEROMETER" attention --device cuda --storage f32 --arms cudnn --out f32x >log 2>&1 && fail "f32 by cuDNN"
grep -q "cuDNN's attention takes f16 and bf16" log || fail "f32: $(cat log)"
IFM_CUDNN=/nowhere fake "" "$INFEROMETER" attention --device cuda --arms cudnn --out absent >log 2>&1 &&
    fail "cuDNN that is not there"
grep -q "there is no library cuDNN at IFM_CUDNN=/nowhere (pip install" log || fail "absent: $(cat log)"
fake "" "$INFEROMETER" doctor | has '^GPU attention library  *ok  *cuDNN 99.0.0' || fail "doctor does not name cuDNN"
IFM_CUDNN=/nowhere fake "" "$INFEROMETER" doctor | has '^GPU attention library  *absent .*IFM_CUDNN=/nowhere' ||
    fail "doctor does not say that cuDNN is absent"

# ---- without --arms: the library where it takes the shape, then ours, else the plain kernel ----
usual() # WORDS ARGUMENTS...: the arms of a dry run begin with the words
{
    local words=$1
    shift
    fake "" "$INFEROMETER" attention "${counts[@]}" --seq-len 40 --dry-run "$@" >log 2>&1 || fail "usual: $(cat log)"
    has "^ *arms: $words$" <log || fail "not '$words': $(cat log)"
}
usual 'cudnn (baseline), ours'
usual 'ours (baseline)' --ragged 0.5 --batch 2
usual 'naive (baseline)' --storage f32
IFM_CUDNN=/nowhere usual 'ours (baseline)'
usual 'cudnn.*'
has '^ *ceilings: .*matrix.bf16$' <log || fail "no matrix ceiling: $(cat log)"
usual 'naive.*' --arms naive
has '^ *ceilings: .*flops.fma$' <log || fail "another ceiling: $(cat log)"

# ---- what this device does not do ----
fake "" "$INFEROMETER" attention --device cuda --isa avx2 --out isa >log 2>&1 && fail "an instruction set on a GPU"
grep -q "instruction sets are a processor's" log || fail "isa: $(cat log)"
fake "" "$INFEROMETER" attention --device cuda --arms openblas --out blas >log 2>&1 && fail "OpenBLAS on a GPU"
grep -q "attention has no implementation openblas on this device" log || fail "openblas: $(cat log)"


# ---- layers that steps take in turn: more than the cache holds, as many as graphs take, as many as memory has ----
python3 - <<'PY' || fail "layers: not what the cache asks for, or cache-resident"
import json
for name in "f16", "bf16", "tiles":
    plan = json.load(open(name + "/plan.json"))
    l2, cell = plan["machine"]["gpu"]["l2_bytes"], plan["cells"][0]
    for arm in (a for a in cell["arms"] if a["role"] != "ceiling"):
        one = arm["ledger"]["bytes_read"] + arm["ledger"]["bytes_written"]
        assert arm["working_set"] == int(arm["chosen"]["layers"]) * one, arm
        assert arm["working_set"] >= 4 * l2 > arm["working_set"] - one or arm["chosen"]["layers"] == "1", (l2, arm)
    assert not cell["cache_resident"], cell["cache_resident"]
PY
fake "" "$INFEROMETER" attention --device cuda --layers 65 --out more >log 2>&1 && fail "65 layers"
tr -s '\n ' ' ' <log | has "at most 64 layers in turn: lower attention.layers" || fail "65 layers: $(cat log)"
fake oom_over=60000 "$INFEROMETER" attention "${counts[@]}" "${small[@]}" --layers 8 --arms ours --out full >log 2>&1 ||
    true
grep -F '"stage":"cell_failed"' full/run.log | has 'lower attention.layers, which is 8 here' || fail "full: $(cat log)"

# ---- a wrong kernel is refused, whichever element; so this also says which kernel an arm takes ----
few=(--device cuda --stop repeats --repeats 6 --slot-steps 1 --warmup 1 --ceilings none)
# is_wrong KERNEL ARM ARGUMENTS...: with a fault planted into the kernel the arm is refused
wrongs=0
is_wrong()
{
    local kernel=$1 arm=$2
    wrongs=$((wrongs + 1))
    shift 2
    fake "wrong=$kernel" "$INFEROMETER" attention "${few[@]}" --out "wrong-$wrongs" --arms "$arm" "$@" \
        >log 2>&1 && fail "$arm with a fault in $kernel is no failure: $(cat log)"
    grep -q "$arm: the arm's output is wrong" log || fail "$arm: a fault in $kernel was not refused: $(cat log)"
}
is_wrong ifm_attention_naive_f16 naive --seq-len 40
# ours takes wgmma where there is a kernel for the head and the length suits it, else mma, as without that kernel
one=(--batch 1 --q-heads 1 --kv-heads 1)
short=("${one[@]}" --seq-len 128)
long=("${one[@]}" --seq-len 257)
is_wrong ifm_hopper_f16_64_1 ours "${long[@]}"
is_wrong ifm_hopper_f16_64_1 ours "${one[@]}" --seq-len 129
is_wrong ifm_hopper_f16_64_2 ours "${one[@]}" --seq-len 385 # one wave of larger blocks, on two multiprocessors
is_wrong ifm_hopper_bf16_128_2 ours "${one[@]}" --seq-len 256 --storage bf16 --head-dim 128
is_wrong ifm_flash_f16_64 ours "${short[@]}"
is_wrong ifm_flash_f16_64 ours "${one[@]}" --seq-len 193
is_wrong ifm_flash_f16_64 ours "${one[@]}" --seq-len 256
is_wrong ifm_flash_f16_64 mma "${long[@]}"
is_wrong ifm_flash_f16_32 ours "${long[@]}" --head-dim 32
is_wrong ifm_attention_naive_f16_strided naive --seq-len 40 --layout qkv_packed
is_wrong ifm_hopper_f16_64_1_strided ours "${long[@]}" --layout qkv_packed
is_wrong ifm_flash_f16_64_strided ours "${short[@]}" --layout qkv_packed
fake "wrong=ifm_hopper_f16_64_1" "$INFEROMETER" attention "${few[@]}" "${long[@]}" --out both --arms mma,ours \
    >log 2>&1 && fail "a fault in the kernel of one of two arms is no failure"
grep -q "ours: the arm's output is wrong" log || fail "not ours was refused: $(cat log)"
grep -q "mma: the arm's output is wrong" log && fail "mma was refused for the kernel of ours: $(cat log)"
fake "missing=ifm_hopper_f16_64_1" "$INFEROMETER" attention "${few[@]}" "${long[@]}" --out without --arms ours \
    >log 2>&1 || fail "ours without a kernel by wgmma: $(cat log)"
runs tiles_wgmma --batch 2 --seq-len 257 --q-heads 2 --kv-heads 1 --causal --ragged 0.6 --arms ours,mma
echo "attention on a GPU of host memory: shapes, checks, refusals"
