#!/usr/bin/env bash
# The device cuda from the command to the report, over a driver of host memory (tests/fake_cuda): numbers, checks,
# verify, resume, an arm that the device fails under, and every way in which there is no driver.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 python3

counts=(--stop repeats --repeats 40 --slot-steps 2 --warmup 1)
steady="kernel_ns=200000"

# fake SCRIPT command...: with the driver of host memory
fake()
{
    local script=$1
    shift
    FAKE_CUDA="$steady;$script" LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$@"
}

# number FOLDER ARM METRIC: the value in derived.json, or its state when it is not "ok"
number()
{
    python3 - "$@" <<'PY'
import json, sys
folder, arm, metric = sys.argv[1:]
for n in json.load(open(folder + "/derived.json"))["numbers"]:
    if n.get("arm", "") == arm and n["metric"] == metric:
        print(round(n["value"], 3) if n["state"] == "ok" else n["state"])
PY
}

# refused WORDS command...: exit status other than 0, one error line that holds the words
refused()
{
    local words=$1 said
    shift
    if said=$("$@" 2>&1); then
        fail "accepted: $*"
    fi
    [ "$(grep -c '^error:' <<<"$said")" = 1 ] || fail "not one error: $said"
    grep -qF -- "$words" <<<"$said" || fail "does not say '$words': $said"
}

# ---- no driver, or not enough of one ----
if ! installed libcuda.so.1; then
    refused "there is no CUDA driver: libcuda.so.1 is not found" env LD_LIBRARY_PATH= FAKE_CUDA= \
        "$INFEROMETER" null --device cuda --out none
    [ ! -e none ] || fail "a run folder was made without a driver"
    env LD_LIBRARY_PATH= "$INFEROMETER" doctor | has '^\(GPU\|CUDA\)  *absent  *there is no CUDA driver' ||
        fail "doctor does not say that there is no driver"
fi
refused "it has no cuGraphUpload" fake lacks=cuGraphUpload "$INFEROMETER" null --device cuda --out none
refused "CUDA_ERROR_NO_DEVICE" fake init=100 "$INFEROMETER" null --device cuda --out none
refused "names no GPU" fake devices=0 "$INFEROMETER" null --device cuda --out none
refused "one thread drives the GPU" fake "" "$INFEROMETER" null --device cuda --threads 4 --out none
refused "are available" fake memory=1030 "$INFEROMETER" stream --probe read --size 64MiB --device cuda --out none
refused "processes share" fake "" "$INFEROMETER" null --device cuda --isolation processes --out none
fake "" "$INFEROMETER" doctor | has '^CUDA  *ok  *Fake GPU, compute capability 9.0' || fail "doctor: no GPU"
"$INFEROMETER" version | has '^CUDA: kernels ' || fail "version does not say what kernels there are"

# ---- whole runs ----
for probe in read write copy flops matrix; do
    fake "" "$INFEROMETER" stream --device cuda --probe $probe --size 64KiB "${counts[@]}" --out $probe >log 2>&1 ||
        fail "$probe: $(cat log)"
    "$INFEROMETER" verify $probe >log 2>&1 || fail "$probe: $(cat log)"
done
grep -q 'Fake GPU' read/report.html || fail "the page does not name the GPU"
grep -q 'lock gpu_clock, before the run' read/report.html || fail "the page says nothing of the GPU's clock"
! grep -q 'lock governor' read/report.html || fail "the page tells of a governor that no GPU obeys"
for arm in read.linear read.bulk; do
    [ "$(number read $arm step_ns)" = 200000.0 ] || fail "$arm: $(number read $arm step_ns) ns a step"
    [ "$(number read $arm error_max_rel)" = 0.0 ] || fail "$arm: error $(number read $arm error_max_rel)"
done
for arm in copy.flat copy.bulk copy.memcpy; do
    [ "$(number copy $arm error_max_rel)" = 0.0 ] || fail "$arm: error $(number copy $arm error_max_rel)"
done
[ "$(number flops flops.fma error_max_rel)" = 0.0 ] || fail "flops: error $(number flops flops.fma error_max_rel)"
fake "" "$INFEROMETER" stream --device cuda --probe copy --cache cold --size 64KiB "${counts[@]}" --out cold \
    >log 2>&1 || fail "cold: $(cat log)"
fake "" "$INFEROMETER" stream --device cuda --probe copy --isolation buffers --size 64KiB "${counts[@]}" --out sets \
    >log 2>&1 || fail "sets of buffers: $(cat log)"

# A graph takes what its kernels take; launches by themselves add 1600 ns each. Neither mixes with the other.
fake "" "$INFEROMETER" null --device cuda "${counts[@]}" --out null >log 2>&1 || fail "null: $(cat log)"
fake "" "$INFEROMETER" null --device cuda --no-graphs "${counts[@]}" --out launches >log 2>&1 ||
    fail "launches: $(cat log)"
[ "$(number null null step_ns)" = 200000.0 ] || fail "null: $(number null null step_ns)"
[ "$(number launches null step_ns)" = 201600.0 ] || fail "launches: $(number launches null step_ns)"
grep -q '"graphs":false' launches/run.log || fail "the journal does not say how steps were launched"
fake "" "$INFEROMETER" stream --device cuda --probe copy --no-graphs --size 64KiB "${counts[@]}" --out apart \
    >log 2>&1 || fail "copy without graphs: $(cat log)"
python3 - null launches copy apart <<'PY' || fail "--no-graphs changes more than how steps are launched"
import json, sys

def leaves(value, path=""):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        return {path: value}
    return {k: v for key, member in items for k, v in leaves(member, f"{path}.{key}").items()}

for with_graphs, without in (sys.argv[1:3], sys.argv[3:5]):
    one, other = (leaves(json.load(open(f"{name}/plan.json"))) for name in (with_graphs, without))
    assert one.keys() == other.keys(), one.keys() ^ other.keys()
    differ = {key for key in one if one[key] != other[key]} - {".run_id", ".config_hash"}
    assert differ and all(key.endswith(".settings.device.graphs") for key in differ), differ
    outputs = [[(e["meta"]["arm"], e["meta"].get("output_xxh3")) for e in map(json.loads, open(f"{name}/run.log"))
                if e["stage"] == "check"] for name in (with_graphs, without)]
    assert outputs[0] == outputs[1], outputs
PY
"$INFEROMETER" compare null launches --format csv >log 2>&1 || true
grep -q 'refused,rule-12: device.graphs is true in the reference and false here' log ||
    fail "graphs and launches were compared: $(cat log)"

# ---- the real clock, kernels and what a launch costs ----
fake "khz=ifm_read_bulk:1755000" "$INFEROMETER" stream --device cuda --probe read --size 64KiB "${counts[@]}" \
    --out clock >log 2>&1 || fail "clock: $(cat log)"
"$INFEROMETER" verify clock >log 2>&1 || fail "clock: $(cat log)"
# The stamp itself, 1 us in 400, runs at the highest clock.
[[ $(number clock read.linear clock_sm_mhz) = 1980.0 ]] || fail "linear: $(number clock read.linear clock_sm_mhz) MHz"
[[ $(number clock read.bulk clock_sm_mhz) = 175[5-7].* ]] || fail "bulk: $(number clock read.bulk clock_sm_mhz) MHz"
[ "$(number clock read.bulk step_ns)" = 200000.0 ] || fail "a stamp is in a sample: $(number clock read.bulk step_ns)"
fake "reset_at=30" "$INFEROMETER" stream --device cuda --probe read --size 64KiB "${counts[@]}" --out reset >log 2>&1 ||
    fail "reset: $(cat log)"
grep -q '"clock_unread".*"reason":"the cycle counters of most multiprocessors went back' reset/run.log ||
    fail "a counter that was reset is not told of"
grep -l absent <(number reset read.linear clock_sm_mhz; number reset read.bulk clock_sm_mhz) >/dev/null ||
    fail "a counter that was reset gave a clock"
"$INFEROMETER" verify reset >log 2>&1 || fail "reset: $(cat log)"
python3 - clock/run.log launches/run.log <<'PY' || fail "facts of the device"
import json, sys
for name in sys.argv[1:]:
    [device] = [e["meta"] for e in map(json.loads, open(name)) if e["stage"] == "device"]
    kernels = {k["name"]: k for k in device["kernels"]}
    assert "ifm_stamp" not in kernels, kernels
    for kernel in kernels.values():
        assert 0 < kernel["occupancy"] <= 1 and kernel["registers"] == 32, kernel
    assert abs(device["graph_node_ns"]["median"] - 200000) < 1, device
    assert abs(device["launch_ns"]["median"] - 201600) < 1, device
    assert device["event_pair_ns"]["n"] >= 5, device
    assert ("ifm_read_bulk" in kernels) == name.startswith("clock"), kernels
    assert ("ifm_null" in kernels) == name.startswith("launches"), kernels
PY
grep -q 'name ifm_read_bulk,[^<]* occupancy [01][.][0-9]' clock/report.html || fail "the page tells no occupancy"
grep -q 'launch_ns median' clock/report.html || fail "the page does not tell what a launch costs"

# ---- power: levels where NVML gives them, the reason where it does not ----
grep -q '"stage":"converge".*"reason":".*libnvidia-ml' read/run.log || fail "no word of why power was not read"
! grep -q '"stage":"pre_roll"' read/run.log || fail "pre-rolls are told of where no level is known"
if [ -e "${IFM_FAKE_NVML:-}/fake_nvml.so" ]; then
    mkdir -p nvml
    ln -sf "$IFM_FAKE_NVML/fake_nvml.so" nvml/libnvidia-ml.so.1
    FAKE_NVML="watts=300" FAKE_CUDA="$steady;bus=0000:00:07.0" LD_LIBRARY_PATH="$IFM_FAKE_CUDA:$PWD/nvml" \
        "$INFEROMETER" stream --device cuda --probe read --size 64KiB "${counts[@]}" --out levels >log 2>&1 ||
        fail "levels: $(cat log)"
    [ "$(grep -c '"stage":"converge".*"source":"nvml_samples".*"steady":true.*"watts":300.0' levels/run.log)" = 2 ] ||
        fail "levels: $(grep converge levels/run.log)"
    grep -q '"stage":"pre_roll".*"arms":\[\].*within 5 %' levels/run.log || fail "$(grep pre_roll levels/run.log)"
    "$INFEROMETER" verify levels >log 2>&1 || fail "levels: $(cat log)"
fi

# ---- what a GPU does not have ----
fake "" "$INFEROMETER" stream --device cuda --isa avx2 --out isa >log 2>&1 && fail "an instruction set on a GPU"
grep -q "instruction sets are a processor's" log || fail "isa: $(cat log)"

# ---- a wrong kernel is refused ----
fake wrong=ifm_read_bulk "$INFEROMETER" stream --device cuda --probe read --size 64KiB "${counts[@]}" --out wrong \
    >log 2>&1 && fail "a wrong result is no failure"
grep -q "read.bulk: the arm's output is wrong" log || fail "a wrong sum was not refused: $(cat log)"
[ "$(number wrong read.bulk step_ns)" = refused ] || fail "wrong: $(number wrong read.bulk step_ns)"
[ "$(number wrong read.linear step_ns)" = 200000.0 ] || fail "the right arm: $(number wrong read.linear step_ns)"

# ---- the device fails under one arm: the others go on without it ----
fake fails=ifm_copy_bulk:60 "$INFEROMETER" stream --device cuda --probe copy --size 64KiB "${counts[@]}" --out sticky \
    >log 2>&1 || fail "sticky: $(cat log)"
grep -q '"arm_failed".*"copy.bulk".*CUDA_ERROR_ILLEGAL_ADDRESS' sticky/run.log || fail "sticky: no fact of the failure"
[ "$(grep -c '"cell_restarted"' sticky/run.log)" = 1 ] || fail "sticky: the cell was not restarted once"
[ -s sticky/samples/0-latency-before-1.csv ] || fail "sticky: the blocks before the failure are gone"
"$INFEROMETER" verify sticky >log 2>&1 || fail "sticky: $(cat log)"
for arm in copy.flat copy.memcpy; do
    [ "$(number sticky $arm step_ns)" = 200000.0 ] || fail "$arm after a failure: $(number sticky $arm step_ns)"
done
[ "$(number sticky copy.bulk step_ns)" = absent ] || fail "copy.bulk: $(number sticky copy.bulk step_ns)"
! cut -d, -f3 sticky/samples/0-latency-slots.csv | has -x 1 || fail "sticky: the record holds the failed arm"

# At once: before there was a record.
fake fails=ifm_copy_bulk:1 "$INFEROMETER" stream --device cuda --probe copy --size 64KiB "${counts[@]}" --out early \
    >log 2>&1 || fail "early: $(cat log)"
[ "$(number early copy.flat step_ns)" = 200000.0 ] || fail "early: $(number early copy.flat step_ns)"

# All of them.
fake fails=any:1 "$INFEROMETER" stream --device cuda --probe copy --size 64KiB "${counts[@]}" --out all >log 2>&1 &&
    fail "a run without any arm succeeded"
grep -q 'every arm failed; the last' log || fail "all: $(cat log)"

# Not even a reset helps, as on real GPUs: a new process goes on without the arm, and the command ends as usual.
fake 'fails=ifm_copy_bulk:60;stuck=1' "$INFEROMETER" stream --device cuda --probe copy --size 64KiB "${counts[@]}" \
    --out stuck --format csv >stuck.csv 2>log || fail "stuck: $(cat log)"
grep -q 'a new one goes on with' log || fail "stuck: no word of a new process: $(cat log)"
grep -q 'copy.flat.*step_ns' stuck.csv || fail "stuck: no table of the format: $(cat stuck.csv)"
grep -q '"stage":"resume"' stuck/run.log || fail "stuck: the new process did not resume"
"$INFEROMETER" verify stuck >log 2>&1 || fail "stuck: $(cat log)"
[ "$(number stuck copy.flat step_ns)" = 200000.0 ] || fail "stuck: $(number stuck copy.flat step_ns)"
[ "$(number stuck copy.bulk step_ns)" = absent ] || fail "stuck: $(number stuck copy.bulk step_ns)"

# ---- an interrupted run goes on ----
FAKE_CUDA="kernel_ns=2000000" LD_LIBRARY_PATH="$IFM_FAKE_CUDA" cut_short INT cut 12 \
    "$INFEROMETER" stream --device cuda --probe copy --size 64KiB "${counts[@]}" --out cut
[ $status = 130 ] || fail "exit status $status after SIGINT, not 130: $(cat errors)"
fake "" "$INFEROMETER" run --resume cut >log 2>&1 || fail "resume: $(cat log)"
"$INFEROMETER" verify cut >log 2>&1 || fail "cut: $(cat log)"
grep -q '"stage":"run_done"' cut/run.log || fail "the resumed run is not complete"
echo "stream and null on a GPU of host memory: numbers, checks, failures and their words"
