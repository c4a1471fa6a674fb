#!/usr/bin/env bash
# Plugins on the device cuda, over a driver of host memory: the example as its README builds it, checked, verified, with
# its compiler in the record; how steps are launched; a machine without a GPU; and one arm that fails for each way in
# which a plugin can be wrong, while the others are measured.
source "$(dirname "$0")/lib.sh"
need python3 python3
need cc gcc
: "${IFM_PLUGINS:?the folder of the plugins that the build makes}"
cp "$IFM_PLUGINS/rmsnorm.so" "$IFM_PLUGINS/gpu.so" "$IFM_PLUGINS/dot.so" .
export XDG_CACHE_HOME=$PWD/cache
tried=0

# on_gpu SCRIPT command...: with the driver and the compiler of the tests
on_gpu()
{
    local script=$1
    shift
    FAKE_CUDA="kernel_ns=200000;$script" FAKE_NVRTC="log=$PWD/compiled" LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$@"
}

# refused STATUS WORDS command...: that exit status, and an error or a reason that holds the words
refused()
{
    local wanted=$1 words=$2 status=0
    shift 2
    "$@" >out 2>errors || status=$?
    [ "$status" = "$wanted" ] || fail "$*: exit status $status, not $wanted: $(cat errors)"
    cat out errors | tr '\n' ' ' | tr -s ' ' | has -F -- "$words" || fail "$*: does not say '$words': $(cat out errors)"
    tried=$((tried + 1))
}

number() # FOLDER ARM METRIC: its value, or its state
{
    python3 - "$@" <<'PY'
import json, sys
found = [n for n in json.load(open(sys.argv[1] + "/derived.json"))["numbers"]
         if n["arm"] == sys.argv[2] and n["metric"] == sys.argv[3]]
print(round(found[0]["value"], 1) if found[0]["state"] == "ok" else found[0]["state"])
PY
}

# ---- the example, as its README has it ----
mkdir -p by_hand/examples
cp -r "$IFM_SOURCE/examples/plugin_cuda" by_hand/examples/
cp -r "$IFM_SOURCE/include" by_hand/
sed -n 's/^    cc /cc /p' by_hand/examples/plugin_cuda/README.md >by_hand/examples/plugin_cuda/build.sh
(cd by_hand/examples/plugin_cuda && sh -e build.sh) || fail "the build line of the example's README does not work"
small=(--override rmsnorm.rows=4,8 --override rmsnorm.width=64 --override measure.stop=repeats
    --override measure.repeats=40)
on_gpu "" "$INFEROMETER" run -c by_hand/examples/plugin_cuda/rmsnorm.yaml "${small[@]}" --ceilings none --out run \
    >out 2>errors || fail "the example: $(cat errors)"
python3 - <<'PY' || fail "the record of the example"
import json
plan = json.load(open("run/plan.json"))
log = [json.loads(line) for line in open("run/run.log")]
assert [cell["name"] for cell in plan["cells"]] == ["rmsnorm rows=4", "rmsnorm rows=8"], plan["cells"]
for cell in plan["cells"]:
    assert [arm["chosen"] for arm in cell["arms"]] == [{"launch": "graph"}] * 2, cell
checks = [e["meta"] for e in log if e["stage"] == "check" and e["meta"]["arm"] in ("naive", "vector")]
assert len(checks) == 8 and all(c["finite"] and 0 < c["error_max_rel"] < 2e-6 for c in checks), checks
assert len({c["output_xxh3"] for c in checks}) == 2, checks
kernels = [{k["name"]: k["compiler"] for k in e["meta"]["kernels"]} for e in log if e["stage"] == "device"]
assert kernels == [{"rmsnorm_naive": "NVRTC 99.0, sm_90a", "rmsnorm_vector": "NVRTC 99.0, sm_90a"}] * 2, kernels
PY
[ "$(number run naive step_ns)" = 200000.0 ] || fail "naive: $(number run naive step_ns)"
on_gpu "" "$INFEROMETER" verify run --plugin by_hand/examples/plugin_cuda/rmsnorm.so >out 2>errors ||
    fail "verify: $(cat out errors)"
! grep -q 'not rebuilt' out || fail "verify with the plugin did not plan again: $(cat out)"
on_gpu "" "$INFEROMETER" rerun run --out again >out 2>errors || fail "rerun: $(cat errors)"
[ "$(grep -c '^rmsnorm.cu ' compiled)" = 1 ] || fail "its source was not compiled once and kept: $(cat compiled)"

# Steps launched each, by the user's word: the same outputs, and each launch adds its time.
on_gpu "" "$INFEROMETER" run -c by_hand/examples/plugin_cuda/rmsnorm.yaml "${small[@]}" --ceilings none --no-graphs \
    --out launches >out 2>errors || fail "--no-graphs: $(cat errors)"
[ "$(number launches naive step_ns)" = 201600.0 ] || fail "--no-graphs: $(number launches naive step_ns)"
for folder in run launches; do
    grep '"stage":"check"' $folder/run.log | grep -o '"output_xxh3":"[^"]*"' | sort -u >hashes-$folder
done
cmp -s hashes-run hashes-launches || fail "outputs differ by how steps are launched"

# ---- where it cannot run ----
[ -n "$(LD_LIBRARY_PATH='' "$INFEROMETER" doctor | sed -n '/^GPU .*ok/p')" ] ||
    refused 4 "there is no CUDA driver" env LD_LIBRARY_PATH='' "$INFEROMETER" run \
        -c by_hand/examples/plugin_cuda/rmsnorm.yaml --out never
refused 4 "rmsnorm has no implementation for the device cpu yet; the device cuda runs it" \
    "$INFEROMETER" rmsnorm --plugin ./rmsnorm.so --out cpu
refused 4 "dot has no implementation for the device cuda yet; the device cpu runs it" \
    on_gpu "" "$INFEROMETER" dot --plugin ./dot.so --device cuda --out no_code
refused 4 "rows of up to 8192 values, a multiple of 4" \
    on_gpu "" "$INFEROMETER" rmsnorm --plugin ./rmsnorm.so --device cuda --impl vector --width 63 --out odd
IFM_NVRTC=/nowhere on_gpu "" "$INFEROMETER" version | has 'kernels as sources' ||
    refused 3 "it is a source for a GPU, and there is no run-time compiler NVRTC at IFM_NVRTC=/nowhere" \
        env IFM_NVRTC=/nowhere LD_LIBRARY_PATH="$IFM_FAKE_CUDA" XDG_CACHE_HOME=/dev/null/none "$INFEROMETER" rmsnorm \
        --plugin ./rmsnorm.so --device cuda --rows 4 --width 64 --ceilings none --out nvrtc

# A plugin for both devices, on the processor.
"$INFEROMETER" gpu --plugin ./gpu.so --ceilings none --stop repeats --repeats 40 --out both >out 2>errors ||
    fail "a plugin for both devices on the processor: $(cat errors)"
grep '"check"' both/run.log | has '"finite":true' || fail "both: no check"

# ---- faults: the arm fails or is refused, the others are measured ----
study() # FAULT LAUNCHED
{
    cat >study.yaml <<YAML
plugin: gpu.so
workload: gpu
device: {kind: cuda}
ceilings: none
arms:
  - {name: good, baseline: true}
  - {name: bad, set: {gpu.fault: $1, gpu.launched: $2}}
measure: {stop: repeats, repeats: 24, blocks_min: 6, warmup: 1, warmup_cap: 50ms, slot_min: 0s, slot_steps: 2}
YAML
}

# fault NAME LAUNCHED WORDS [ARGUMENTS...]: the arm `bad` ends for a reason that holds the words; "right": it has a time
fault()
{
    local name=$1 launched=$2 words=$3 status=0 folder
    shift 3
    tried=$((tried + 1))
    folder=fault-$tried-$name
    study "$name" "$launched"
    on_gpu "${script:-}" "$INFEROMETER" run -c study.yaml --out "$folder" --quiet "$@" >out 2>errors || status=$?
    cp errors errors-run
    [ -s "$folder/verdict.json" ] || fail "$folder: status $status without a verdict: $(cat errors)"
    python3 - "$folder" "$words" <<'PY' || fail "$folder ($name, launched: $launched): $(cat errors)"
import json, re, sys
folder, words = sys.argv[1:]
found = {n["arm"]: n for n in json.load(open(folder + "/derived.json"))["numbers"] if n["metric"] == "step_ns"}
assert found["good"]["state"] == "ok", found
assert (found["bad"]["state"] == "ok") == (words == "right"), found["bad"]
assert words == "right" or re.search(words, found["bad"]["reason"]), found["bad"]
failed = [json.loads(line)["meta"] for line in open(folder + "/run.log") if '"stage":"arm_failed"' in line]
assert all(f["arm"] == "bad" and f["remedy"] for f in failed), failed
PY
    on_gpu "" "$INFEROMETER" verify "$folder" >out 2>&1 || fail "$folder: verify: $(cat out)"
}

for launched in false true; do
    fault none $launched right
    fault unwritten $launched 'nothing of arm bad was at work|rule-10'
    fault half $launched 'rule-10'
    fault launch $launched 'cuLaunchKernel'
    fault address $launched 'CUDA_ERROR_ILLEGAL_ADDRESS'
    fault no_code $launched 'does not load the device code'
    fault no_kernel $launched 'there is no kernel plugin_none'
    fault context $launched 'left another CUDA context current'
    fault outside $launched 'output lies outside'
    fault arguments $launched 'wrong arguments are refused'
done
fault waits false 'capturing a step'
fault waits true right
fault second false 'nothing of arm bad was at work|rule-10'
fault second true 'rule-10' --override measure.inner=2 # each sample has a step that works: the rounds see the other
fault stream false 'nothing of arm bad was at work|rule-10' # a graph leaves out what went elsewhere
fault late true 'CUDA_ERROR_ILLEGAL_ADDRESS'
# As on real GPUs: not even a reset helps, so a new process goes on, with the plugin, wherever the arm failed.
for name in address late; do
    script='stuck=1' fault $name true 'CUDA_ERROR_ILLEGAL_ADDRESS'
    grep -q 'a new one goes on with' errors-run || fail "stuck, $name: no new process"
done
fault none false right --isolation buffers
study none true
on_gpu "" "$INFEROMETER" run -c study.yaml --out said --quiet >out 2>errors || fail "no_graph: $(cat errors)"
grep -c '"launch": "steps"' said/plan.json | has -x 1 || fail "the plan does not say that steps are launched"
[ "$(number said bad step_ns)" = 201600.0 ] || fail "launched: $(number said bad step_ns)"
echo "plugins on a GPU of host memory: the example, and $tried commands that are refused or fail one arm"
