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
runs plain naive,f16 ifm_decode_naive,ifm_decode_split_128 "${own[@]}" --compress 1 --batch 2 --kv-len 300 \
    --q-heads 4 --kv-heads 2
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
absent "the arm cudnn takes f16 caches alone" --decode-arms cudnn --formats int8
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
    has "^ *arms: $words$" <log || fail "not '$words': $(cat log)"
}
usual 'cudnn (baseline), f16'
usual 'f16 (baseline)' --ragged 0.5
usual 'f16 (baseline)' --layout paged
usual 'cudnn (baseline)' --head-dim 96
IFM_CUDNN=/nowhere usual 'f16 (baseline)'
grep -q cudnn log && fail "what was not asked for is told of: $(cat log)"
IFM_CUDNN=/nowhere usual 'naive (baseline)' --head-dim 96

# ---- compressed caches: each format, kernels of ours and the plain one, ragged and shuffled, both in one run ----
runs packed f16,int8,e4m3,int4,int2,half4 \
    ifm_packed_int8_128,ifm_packed_e4m3_128,ifm_packed_int4_128,ifm_packed_int2_128 \
    --formats f16,int8,e4m3,int4,int2,half4 --batch 2 --kv-len 700 --q-heads 4 --kv-heads 2 --layout paged --ragged 0.5
fake "" "$INFEROMETER" "${decode[@]}" --formats f16,int4 --batch 1 --kv-len 300 --q-heads 2 --kv-heads 2 --no-graphs \
    --out launched --verbose >log 2>&1 || fail "launched: $(cat log)"
grep -q 'no step used' log && fail "a form that is launched without a graph is called inactive: $(cat log)"
runs packed_plain naive,naive-int8,naive-int4,int8,int4 ifm_packed_plain,ifm_packed_many_int4_64 \
    --formats f16,int8,int4 "${own[@]}" --batch 1 --kv-len 420 --q-heads 10 --kv-heads 1 --head-dim 64
runs packed_dim naive,naive-int2 ifm_packed_plain --formats f16,int2 --decode-arms naive --batch 1 --kv-len 420 \
    --q-heads 2 --kv-heads 1 --head-dim 96
python3 - <<'PY' || fail "the ledger of a compressed cache is not what its pages are"
import json
arms = {a["name"]: a["ledger"] for a in json.load(open("packed_plain/plan.json"))["cells"][0]["arms"]}
page = 4 * 64 + 256 + 128 * 64  # scales and zeros, scales of V, codes
# 420 tokens: 32 of the sink, 3 whole pages, the newest of which stays
expected = 2 * page + (420 - 256) * 64 * 4
rows = arms["naive"]["bytes_read"] - 420 * 64 * 4
assert arms["int4"]["bytes_read"] - rows == expected, (arms, expected)
PY

# ---- what this device does not do ----
absent "take at most 64 layers in turn" --layers 65

# ---- inference cycles: a graph and launches of their own, side by side ----
cycle=(--inference --decode-tokens 3 --layers 2)
fake "" "$INFEROMETER" "${decode[@]}" "${small[@]}" "${cycle[@]}" --decode-arms naive,ours --decode-graphs true,false \
    --out cycle >log 2>&1 || fail "cycle: $(cat log)"
"$INFEROMETER" verify cycle >verified 2>&1 || fail "cycle: $(cat verified)"
python3 - <<'PY' || fail "cycle: arms, launches, outputs, ledger or times"
import json
events = [json.loads(line) for line in open("cycle/run.log")]
arms = {a["name"]: a for a in json.load(open("cycle/plan.json"))["cells"][0]["arms"] if a["role"] != "ceiling"}
names = ["naive-graph", "naive-no-graph", "f16-graph", "f16-no-graph"]
assert list(arms) == names, list(arms)
checks = {name: [e["meta"] for e in events if e["stage"] == "check" and e["meta"]["arm"] == name] for name in names}
assert all(c and all(x["error_max_rel"] < 1e-5 and x["error_part"] < 0.01 for x in c) for c in checks.values()), checks
for name in names[1::2]:  # bit for bit what the graph gives
    twin = name.replace("-no", "")
    assert arms[name]["equals"] == twin and arms[name]["equal_bound"] == 0, arms[name]
    assert {c["output_xxh3"] for c in checks[name]} == {c["output_xxh3"] for c in checks[twin]}
runs = {e["meta"]["arm"]: (e["meta"]["feature"], e["meta"]["runs"]) for e in events if e["stage"] == "feature"}
for name in names:  # launches: of ours one a token in a layer, else two
    feature, n = runs[name]
    assert feature == ("the launch without a graph" if "-no-" in name else "the replay of graphs"), runs
    assert n >= 40 and ("-no-" not in name or n % (6 if name.startswith("f16") else 12) == 0), runs
kernels = {k["name"] for e in events if e["stage"] == "device" for k in e["meta"]["kernels"]}
assert {"ifm_decode_advance", "ifm_decode_rewind", "ifm_decode_naive", "ifm_decode_split_128"} <= kernels, kernels
row, tokens = 2 * 2 * 128, 257 + 258 + 259  # bytes of K and V of a token in a head
for arm in arms.values():
    ledger = arm["ledger"]
    assert ledger["bytes_read"] == 2 * (2 * tokens * row + 3 * 4 * 2 * 128 + 3 * 2 * 2 * row), ledger
    assert ledger["bytes_written"] == 2 * (3 * 2 * row + 3 * 4 * 2 * 128), ledger
    assert ledger["tokens_generated"] == 3 and ledger.get("layers", 0) == 0, ledger
times = {n["arm"]: n["value"] for n in json.load(open("cycle/derived.json"))["numbers"] if n["metric"] == "step_ns"}
for name in names:  # 12 kernels of 200 us, of ours 6; 1.6 us for each in no graph
    launches, each = 6 if name.startswith("f16") else 12, 201600.0 if "-no-" in name else 200000.0
    assert round(times[name], 3) == launches * each, times
rate = {n["arm"]: n["value"] for n in json.load(open("cycle/derived.json"))["numbers"]
        if n["metric"] == "tokens_generated_per_s"}
assert abs(rate["f16-graph"] - 3 / 1.2e-3) < 1e-6, rate
PY
# compressed caches that grow: a page of each pair leaves its ring at the third token, behind kernels of its own
fake "" "$INFEROMETER" "${decode[@]}" --formats f16,int4,int8,half4 --batch 2 --kv-len 285 --q-heads 4 --kv-heads 2 \
    --sink 32 --inference --decode-tokens 4 --layers 2 --decode-graphs true,false --out grown >log 2>&1 ||
    fail "grown: $(cat log)"
"$INFEROMETER" verify grown >verified 2>&1 || fail "grown: $(cat verified)"
python3 - <<'PY' || fail "grown: arms, launches, outputs, ledger or times"
import json
events = [json.loads(line) for line in open("grown/run.log")]
arms = {a["name"]: a for a in json.load(open("grown/plan.json"))["cells"][0]["arms"] if a["role"] != "ceiling"}
checks = {name: [e["meta"] for e in events if e["stage"] == "check" and e["meta"]["arm"] == name] for name in arms}
for form in ["f16", "int4", "int8", "half4"]:
    graph, launched = form + "-graph", form + "-no-graph"
    assert all(x["error_max_rel"] < 1e-5 and x["error_part"] < 0.01 for x in checks[graph] + checks[launched]), checks
    assert arms[launched]["equals"] == graph and arms[launched]["equal_bound"] == 0, arms[launched]
    assert len({c["output_xxh3"] for c in checks[graph] + checks[launched]}) == 1, checks
kernels = {k["name"] for e in events if e["stage"] == "device" for k in e["meta"]["kernels"]}
assert {"ifm_packed_int4_128", "ifm_kv_pack_int4", "ifm_kv_pack_int8", "ifm_kv_arrange"} <= kernels, kernels
assert "ifm_kv_advance" not in kernels, kernels
times = {n["arm"]: n["value"] for n in json.load(open("grown/derived.json"))["numbers"] if n["metric"] == "step_ns"}
# a kernel a token in a layer, and of a compressed cache 2 for the page of all layers; half of the tokens fill none yet
launches = {"f16": 4 * 2, "int4": 4 * 2 + 2, "int8": 4 * 2 + 2, "half4": 4 * 2}
for form, n in launches.items():
    assert round(times[form + "-graph"], 3) == n * 200000.0, (form, times)
    assert round(times[form + "-no-graph"], 3) == n * 201600.0, (form, times)
PY
# names that say how, where the device does otherwise: no arm of graphs
fake "" "$INFEROMETER" "${decode[@]}" "${small[@]}" "${cycle[@]}" --decode-graphs true,false --no-graphs --out none \
    --verbose >log 2>&1
has -F "no step used the replay of graphs" <log || fail "an arm of graphs without one is active: $(cat log)"
# as arms of a study, the lock read back
cat >study.yaml <<'YAML'
workload: decode
ceilings: none
decode: {kv_len: 256, batch: 1, q_heads: 2, kv_heads: 2, compress: 1, layers: 2, inference: true, decode_tokens: 3}
arms:
  - {name: graph, baseline: true, set: {decode.graphs: true}}
  - {name: launches, set: {decode.graphs: [false]}}
  - {name: still, set: {decode.append: none}}
measure: {slot_steps: 1, warmup: 1, stop: repeats, repeats: 12}
YAML
fake "" "$INFEROMETER" run -c study.yaml --device cuda --seed 1 --out study >log 2>&1 || fail "study: $(cat log)"
"$INFEROMETER" verify study >verified 2>&1 || fail "study: $(cat verified)"
python3 - <<'PY' || fail "study: what must equal what"
import json
arms = {a["name"]: a for a in json.load(open("study/plan.json"))["cells"][0]["arms"]}
assert arms["launches"]["equals"] == "graph" and arms["launches"]["equal_bound"] == 0, arms["launches"]
assert arms["still"]["equals"] == "" and arms["still"]["ledger"]["bytes_written"] == 2 * 3 * 4 * 2 * 128, arms["still"]
PY
# the specification's JSON: the passes with the library, the cycle without, one configuration
fake "" "$INFEROMETER" decode --device cuda --stop repeats --repeats 12 --warmup 1 --seed 1 "${small[@]}" \
    "${cycle[@]}" --json --out json >json.out 2>log || fail "json: $(cat log)"
python3 - <<'PY' || fail "json: $(cat json.out)"
import json
said = json.load(open("json.out"))
assert "cells" not in said and said["arm"] == "f16", said
assert said["results"]["attention_time_ms"] == 0.2 and said["build"]["cuda_graphs"], said
cycle = said["inference_cycle"]
assert cycle["tokens"] == 3 and abs(cycle["elastic_total_ms"] - 1.2) < 1e-9, cycle
assert abs(cycle["tokens"] / cycle["elastic_tokens_per_sec"] - 1.2e-3) < 1e-9, cycle
PY
# so too where a new process goes on without an arm, as --json is a flag of this command
fake 'fails=ifm_decode_naive:30;stuck=1' "$INFEROMETER" "${decode[@]}" "${small[@]}" --decode-arms naive,ours --json \
    --out stuck >json.out 2>log || fail "json by a new process: $(cat log)"
grep -q 'a new one goes on with' log || fail "json: no new process: $(cat log)"
python3 -c 'import json; assert json.load(open("json.out"))["benchmark_type"] == "elastic_kv_decode"' ||
    fail "json: $(cat json.out)"
fake "" "$INFEROMETER" "${decode[@]}" "${small[@]}" --decode-graphs false --out alone >log 2>&1 ||
    fail "alone: $(cat log)"
grep -q '"cuda_graphs": false' alone/elastic_kv.json || fail "alone: the JSON says that there were graphs"
absent "has a plan for caches of one length, and those of a cycle grow" "${cycle[@]}" --decode-arms cudnn
absent "a cycle on the device cuda is one graph, of at most 128 layers" --inference --decode-tokens 512 --layers 33

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
for kernel in ifm_decode_advance ifm_decode_rewind; do
    fake "wrong=$kernel" "$INFEROMETER" "${decode[@]}" "${small[@]}" "${cycle[@]}" --decode-arms naive \
        --out "wrong-$kernel" >log 2>&1 && fail "a fault in $kernel is no failure: $(cat log)"
    grep -q "naive: the arm's output is wrong" log || fail "a fault in $kernel was not refused: $(cat log)"
done
for kernel in ifm_packed_int4_128 ifm_kv_pack_int4 ifm_kv_arrange; do
    fake "wrong=$kernel" "$INFEROMETER" "${decode[@]}" --formats f16,int4 --batch 1 --kv-len 285 --q-heads 2 \
        --kv-heads 2 --sink 32 --inference --decode-tokens 4 --layers 2 --out "wrong-$kernel" >log 2>&1 &&
        fail "a fault in $kernel is no failure: $(cat log)"
    grep -q "int4: the arm's output is wrong" log || fail "a fault in $kernel was not refused: $(cat log)"
done
echo "decode on a GPU of host memory: arms, shapes, checks, refusals"
