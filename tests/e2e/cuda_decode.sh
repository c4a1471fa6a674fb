#!/usr/bin/env bash
# decode on the device cuda, over a driver of host memory (tests/fake_cuda): arms, shapes, oracle, refusals.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 python3

decode=(decode --device cuda --stop repeats --repeats 40 --slot-steps 2 --warmup 1 --seed 1)
small=(--compress 1 --kv-len 256 --batch 1 --q-heads 2 --kv-heads 2)

# fake SCRIPT command...: with the driver of host memory
fake()
{
    local script=$1
    shift
    FAKE_CUDA="kernel_ns=200000;$script" LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$@"
}

# runs NAME ARMS KERNELS ARGUMENTS...: a run that succeeds, verifies, and has small errors and the script's time in each
# of the arms, by these kernels
runs()
{
    local name=$1 arms=$2 kernels=$3
    shift 3
    fake "" "$INFEROMETER" "${decode[@]}" --out "$name" "$@" >log 2>&1 || fail "$name: $(cat log)"
    "$INFEROMETER" verify "$name" >verified 2>&1 || fail "$name: $(cat verified)"
    python3 - "$name" "$arms" "$kernels" <<'PY' || fail "$name: checks, kernels or times"
import json, sys
folder, arms, wanted = sys.argv[1], sys.argv[2].split(","), sys.argv[3].split(",")
events = [json.loads(line) for line in open(f"{folder}/run.log")]
checks = [e["meta"] for e in events if e["stage"] == "check"]
for arm in arms:
    mine = [c for c in checks if c["arm"] == arm]
    most = 1e-3 if arm == "cudnn" else 1e-5  # its outputs are f16
    assert mine and all(0 < c["error_max_rel"] < most and c["error_part"] < 0.01 for c in mine), (arm, mine)
kernels = {k["name"] for e in events if e["stage"] == "device" for k in e["meta"]["kernels"]}
assert wanted == [""] or set(wanted) <= kernels, kernels
times = {n["arm"]: round(n["value"], 3) for n in json.load(open(f"{folder}/derived.json"))["numbers"]
         if n["metric"] == "step_ns" and n.get("arm") in arms}
launch = 1600.0 if folder == "stream" else 0  # of each kernel that is in no graph
assert times == dict.fromkeys(arms, 200000.0 + launch), times
shape = json.load(open(f"{folder}/elastic_kv.json"))
assert shape["gpu"]["name"] == "Fake GPU" and shape["build"]["cuda_graphs"] == (launch == 0), shape
PY
}

# absent WORDS ARGUMENTS...: no arm runs, and why
absent()
{
    local words=$1
    shift
    rm -rf absent
    fake "" "$INFEROMETER" "${decode[@]}" --out absent "$@" >log 2>&1 && fail "it ran: $*: $(cat log)"
    grep -qF -- "$words" log || fail "does not say '$words': $(cat log)"
}

# ---- our kernels: clusters, units of a group of 17 heads, blocks that straddle ragged sequences ----
own=(--decode-arms naive,ours)
runs plain naive,f16 ifm_decode_naive,ifm_decode_split_128 "${own[@]}" --batch 2 --kv-len 300 --q-heads 4 --kv-heads 2
grep -q '^note: decode: naive runs without int8, int4, int2: the device cuda has kernels for f16 alone' log ||
    fail "decode does not say what it leaves out: $(cat log)"
runs ragged naive,f16 ifm_decode_naive,ifm_decode_split_128 "${own[@]}" --compress 1 --kv-len 261 --batch 3 \
    --q-heads 34 --kv-heads 2 --layout paged --ragged 1
runs dim naive ifm_decode_naive "${own[@]}" "${small[@]}" --head-dim 96
grep -q 'naive runs without ours: our split kernel has head dimensions 64 and 128' log || fail "dim: $(cat log)"
fake sms=132 "$INFEROMETER" "${decode[@]}" "${own[@]}" --compress 1 --kv-len 1024 --batch 1 --q-heads 2 --kv-heads 2 \
    --head-dim 64 --out cluster >log 2>&1 || fail "cluster: $(cat log)"
grep -q ifm_decode_cluster_64_8 cluster/run.log || fail "cluster: another kernel"

# ---- cuDNN: heads that share a cache, a last page that is not full, several layers ----
runs library cudnn,naive,f16 "" --decode-arms cudnn,naive,ours --compress 1 --batch 2 --kv-len 300 --q-heads 6 \
    --kv-heads 2 --head-dim 64 --layers 3
grep -q '"isa":"cuDNN 99.0.0"' library/run.log || fail "the record does not name the library"
runs stream cudnn "" --decode-arms cudnn "${small[@]}" --head-dim 96 --no-graphs
python3 - <<'PY' || fail "queries and outputs of cuDNN do not count half"
import json
arms = {a["name"]: a["ledger"] for a in json.load(open("library/plan.json"))["cells"][0]["arms"]}
rows = 2 * 6 * 64  # of one layer
assert arms["naive"]["bytes_read"] - arms["cudnn"]["bytes_read"] == 2 * rows, arms
assert arms["naive"]["bytes_written"] == 4 * rows and arms["cudnn"]["bytes_written"] == 2 * rows, arms
PY
absent "takes caches whose tokens lie in a row" --decode-arms cudnn "${small[@]}" --layout paged
absent "takes caches of one length" --decode-arms cudnn "${small[@]}" --ragged 0.5
absent "has kernels for f16 alone" --decode-arms cudnn --formats int8
IFM_CUDNN=/nowhere absent "there is no library cuDNN at IFM_CUDNN=/nowhere (pip install" --decode-arms cudnn \
    "${small[@]}"
IFM_CUDNN=/nowhere runs others naive,f16 "" --decode-arms cudnn,naive,ours "${small[@]}"
grep -q '^note: decode: naive runs without cudnn: there is no library cuDNN' log || fail "others: $(cat log)"
# refuses SCRIPT WORDS: the arm is left out with cuDNN's words, and the other one measured
refuses()
{
    FAKE_CUDNN=$1 fake "" "$INFEROMETER" "${decode[@]}" "${small[@]}" --decode-arms cudnn,ours --out "refused-$1" \
        >log 2>&1 || fail "$1: the arm that is left was not measured: $(cat log)"
    grep -F '"stage":"arm_failed"' "refused-$1/run.log" | has -F -- "$2" || fail "$1: does not say '$2': $(cat log)"
}
refuses none=1 "cuDNN 99.0.0 has no engine for this attention"
refuses fails=cudnnBackendFinalize "cuDNN 99.0.0 refuses this attention (a tensor: CUDNN_STATUS_BAD_PARAM)"

# ---- without --decode-arms: the library where it takes the cell, then ours, else the plain kernel ----
usual() # WORDS ARGUMENTS...: the arms of a dry run begin with the words
{
    local words=$1
    shift
    fake "" "$INFEROMETER" "${decode[@]}" --compress 1 --kv-len 300 --dry-run "$@" >log 2>&1 || fail "usual: $(cat log)"
    has "^ *arms: $words" <log || fail "not '$words': $(cat log)"
}
usual 'cudnn (baseline), f16 (variant), read'
usual 'f16 (baseline), read' --ragged 0.5
usual 'f16 (baseline), read' --layout paged
usual 'cudnn (baseline), read' --head-dim 96
IFM_CUDNN=/nowhere usual 'f16 (baseline), read'
grep -q cudnn log && fail "what was not asked for is told of: $(cat log)"
IFM_CUDNN=/nowhere usual 'naive (baseline), read' --head-dim 96

# ---- what this device does not do ----
absent "absent: the device cuda has kernels for f16 alone" --formats int8
absent "the device cuda appends nothing in this version" --inference
absent "take at most 64 layers in turn" --layers 65

# ---- a wrong kernel is refused ----
# is_wrong KERNEL ARM: with a fault planted into the kernel that arm is refused, and no other
is_wrong()
{
    fake "wrong=$1" "$INFEROMETER" "${decode[@]}" "${small[@]}" --decode-arms cudnn,naive,ours --out "wrong-$1" \
        >log 2>&1 && fail "a fault in $1 is no failure: $(cat log)"
    grep -q "$2: the arm's output is wrong" log || fail "a fault in $1 was not refused: $(cat log)"
    python3 - "wrong-$1" "$2" <<'PY' || fail "a fault in $1: not $2 alone is off"
import json, sys
checks = [e["meta"] for e in map(json.loads, open(sys.argv[1] + "/run.log")) if e["stage"] == "check"]
off = {c["arm"] for c in checks if c.get("error_max_rel", 0) > 0.01}
assert off == {sys.argv[2]}, off
PY
}
is_wrong fake_cudnn cudnn
is_wrong ifm_decode_naive naive
is_wrong ifm_decode_split_128 f16
echo "decode on a GPU of host memory: arms, shapes, checks, refusals"
