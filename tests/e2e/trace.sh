#!/usr/bin/env bash
# Activity of a GPU from the command to trace.json, over a driver and a profiler of host memory (tests/fake_cuda,
# tests/fake_cupti): exact launch counts, every number computed anew from the record, lost records, a process that dies,
# and every way in which there is no trace.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 python3

# Kernels of host memory take as long as their work, and a calibration sees that: small shapes, and no ceilings, whose
# work is more than all that is looked at here.
small=(--heads 4 --batch 1 --kv-len 256 --head-dim 64 --compress 1,4 --ceilings none
    --stop repeats --repeats 120)
traces=(--device cuda --cap 300ms --warmup 1 --slot-steps 10 --trace)

# fake SCRIPT command...: with the driver and the profiler of host memory
fake()
{
    local script=$1
    shift
    FAKE_CUPTI=$script FAKE_CUDA="${cuda:-kernel_ns=200000}" LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$@"
}

# reads NAME SCRIPT ARGUMENTS...: a run of the read probe that succeeds and verifies
reads()
{
    local name=$1 script=$2
    shift 2
    fake "$script" "$INFEROMETER" stream --probe read --size 64KiB "${traces[@]}" --out "$name" "$@" >log 2>&1 ||
        fail "$name: $(cat log)"
    "$INFEROMETER" verify "$name" >verified 2>&1 || fail "$name: $(cat verified)"
}

# absent NAME SCRIPT WORDS: no number of the trace, in these words; the latency is there
absent()
{
    local name=$1 script=$2 words=$3
    reads "$name" "$script"
    for metric in kernels_launched graph_kernels graph_launches call_time_ns; do
        grep -qF -- "$words" <<<"$(number "$name" read.bulk $metric)" ||
            fail "$name: $metric is $(number "$name" read.bulk $metric)"
    done
    [ -z "$(number "$name" read.bulk trace_cost_ns)" ] || fail "$name: a cost of what was not recorded"
    [ "$(number "$name" read.bulk step_ns)" = 200000 ] || fail "$name: no latency"
}

# ---- every number, from the record ----
fake "" "$INFEROMETER" decode "${small[@]}" "${traces[@]}" --out decode >log 2>&1 ||
    fail "decode: $(cat log)"
"$INFEROMETER" verify decode >verified 2>&1 || fail "decode: $(cat verified)"
grep -q 'kernels in graphs' log || fail "decode: no table: $(cat log)"
cat >anew.py <<'PY'
import csv, json, math, sys
folder = sys.argv[1]
cell = json.load(open(folder + "/plan.json"))["cells"][0]
events = [json.loads(line) for line in open(folder + "/run.log")]
leads = {e["meta"]["arm"]: e["meta"].get("lead", 1) for e in events if e["stage"] == "calibrate"}
numbers = {(n.get("arm"), n["metric"]): n for n in json.load(open(folder + "/derived.json"))["numbers"]}

def slots(kind):
    return list(csv.DictReader(open(folder + "/samples/0-%s-slots.csv" % kind)))

def step(kind, arm):
    durations = [int(r["duration_ns"]) for r in csv.DictReader(open(folder + "/samples/0-%s.csv" % kind))]
    at, time, steps = 0, 0, 0
    for r in slots(kind):
        n = int(r["samples"])
        if int(r["arm"]) == arm and r["phase"] == "1":
            time += sum(durations[at:at + n])
            steps += n * int(r["inner"])
        at += n
    return time / steps

activity = list(csv.DictReader(open(folder + "/samples/0-trace-activity.csv")))
METRICS = {"kernels_launched": "kernels", "graph_kernels": "graph_kernels", "graph_launches": "graph_launches",
           "launch_calls": "launches", "gpu_copies": "copies", "gpu_waits": "waits", "driver_calls": "calls",
           "kernel_time_ns": "kernel_ns", "call_time_ns": "call_ns", "launch_time_ns": "launch_ns",
           "wait_time_ns": "wait_ns", "graph_kernel_time_ns": "graph_kernel_ns"}
for index, arm in enumerate(cell["arms"]):
    if arm["role"] == "ceiling":
        continue
    mine = [r for r in slots("trace") if int(r["arm"]) == index]
    assert len(mine) >= 6, len(mine)
    steps = [int(r["samples"]) * int(r["inner"]) + leads[arm["name"]] for r in mine]
    for metric, column in METRICS.items():
        values = [int(r["trace_" + column]) / s for r, s in zip(mine, steps)]
        n = numbers[arm["name"], metric]
        assert n["state"] == "ok", n
        assert math.isclose(n["value"], sum(values) / len(values), rel_tol=1e-9, abs_tol=1e-12), (metric, n)
        assert n["n"] == len(mine) and n["n_of"] == "slots", n
    idle = [100 * (1 - int(r["trace_busy_ns"]) / int(r["trace_span_ns"])) for r in mine]
    assert math.isclose(numbers[arm["name"], "gpu_idle_percent"]["value"], sum(idle) / len(idle), abs_tol=1e-9)
    kernels = numbers[arm["name"], "kernels_launched"]["value"] + numbers[arm["name"], "graph_kernels"]["value"]
    cost = (step("trace", index) - step("latency", index)) / kernels
    assert math.isclose(numbers[arm["name"], "trace_cost_ns"]["value"], cost, rel_tol=1e-9, abs_tol=1e-6), cost
    # The rows of the last slot are its columns.
    rows = [r for r in activity if int(r["arm"]) == index]
    work = [r for r in rows if r["kind"] == "kernel" and r["name"] != "ifm_stamp"]
    last = mine[-1]
    assert sum(r["graph"] == "0" for r in work) == int(last["trace_kernels"])
    assert sum(r["graph"] != "0" for r in work) == int(last["trace_graph_kernels"])
    assert sum(int(r["end_ns"]) - int(r["start_ns"]) for r in work) == int(last["trace_kernel_ns"])
    assert len(rows) == int(last["trace_records"])
    nodes = sum(int(r["end_ns"]) - int(r["start_ns"]) for r in work if r["graph"] != "0")
    assert nodes == int(last["trace_graph_kernel_ns"]) > 0, nodes
    assert sum(r["name"] == "cuGraphLaunch" for r in rows) == int(last["trace_graph_launches"])
    # Time of calls is that of launches, of waits, and the rest.
    own = {r["correlation"] for r in rows if r["name"] == "ifm_stamp"}
    calls = [(r["name"], int(r["end_ns"]) - int(r["start_ns"])) for r in rows
             if r["kind"] == "call" and r["correlation"] not in own and r["name"] != "cuEventRecord"]
    launching = sum(ns for name, ns in calls if name in ("cuLaunchKernel", "cuGraphLaunch"))
    waiting = sum(ns for name, ns in calls if name == "cuStreamSynchronize")
    # Calls of the record that began behind the slot are not its own.
    assert launching == int(last["trace_launch_ns"]), (launching, last)
    assert int(last["trace_wait_ns"]) <= waiting, (waiting, last)
    assert int(last["trace_launch_ns"]) + int(last["trace_wait_ns"]) <= int(last["trace_call_ns"]), last
    # Outputs are the same with and without recording, bit for bit.
    before = [e["meta"]["output_xxh3"] for e in events if e["stage"] == "check" and e["meta"]["arm"] == arm["name"]][0]
    traced = [e["meta"] for e in events if e["stage"] == "traced" and e["meta"]["arm"] == arm["name"]]
    assert [t["outputs"] for t in traced] == [before]
trace = json.load(open(folder + "/trace.json"))["traceEvents"]
assert sum(e.get("ph") == "X" for e in trace) == sum(r["kind"] not in ("begin", "end") for r in activity)
names = {e["pid"]: e["args"]["name"] for e in trace if e["ph"] == "M"}
assert set(names.values()) == {a["name"] for a in cell["arms"] if a["role"] != "ceiling"}, names
# Each arm's slot is a range of ours, begun and ended.
for pid, name in names.items():
    assert [e["ph"] for e in trace if e["pid"] == pid and e["ph"] in "BE"] == ["B", "E"], name
    assert [e["name"] for e in trace if e["pid"] == pid and e["ph"] == "B"] == [name]
PY
python3 anew.py decode >log 2>&1 || fail "numbers: $(cat log)"

# ---- exact counts: 10 000 launches and more, and the kernels of graphs apart from the launches of graphs ----
cuda="kernel_ns=1000;launch_ns=100" reads launches "" --no-graphs --inner 1000
[ "$(number launches read.bulk kernels_launched)" = 1 ] ||
    fail "launches: $(number launches read.bulk kernels_launched)"
[ "$(number launches read.bulk graph_kernels)" = 0 ] || fail "launches: kernels in graphs without graphs"
[ "$(number launches read.bulk launch_time_ns)" = 100 ] ||
    fail "launches: $(number launches read.bulk launch_time_ns) ns"
python3 - <<'PY' || fail "launches: $(head -3 launches/samples/0-trace-slots.csv)"
import csv
rows = list(csv.DictReader(open("launches/samples/0-trace-slots.csv")))
steps = [int(r["samples"]) * int(r["inner"]) + 1 for r in rows]
assert rows and all(int(r["trace_kernels"]) == int(r["trace_launches"]) == n > 10000 for r, n in zip(rows, steps)), rows
PY
cuda="kernel_ns=10000" reads graphs "" --inner 64
[ "$(number graphs read.bulk graph_kernels)" = 1 ] || fail "graphs: $(number graphs read.bulk graph_kernels)"
python3 - <<'PY' || fail "graphs: $(head -3 graphs/samples/0-trace-slots.csv)"
import csv
rows = list(csv.DictReader(open("graphs/samples/0-trace-slots.csv")))
assert rows and all(int(r["trace_graph_kernels"]) == int(r["samples"]) * 64 + 1 for r in rows), rows
assert all(int(r["trace_graph_launches"]) == int(r["samples"]) + 1 and r["trace_launches"] == "0" for r in rows), rows
PY

# ---- samples apart: what runs between them is recorded, and is of no step ----
# cycle NAME SCRIPT ARGUMENTS...: one arm, six kernels of 0.2 ms a step in a graph
cycle()
{
    local name=$1 script=$2
    shift 2
    fake "$script" "$INFEROMETER" decode "${small[@]}" --compress 1 --inference --decode-tokens 3 --layers 2 \
        "${traces[@]}" --slot-steps 3 --out "$name" "$@" >log 2>&1 || fail "$name: $(cat log)"
    "$INFEROMETER" verify "$name" >verified 2>&1 || fail "$name: $(cat verified)"
}
cat >apart.py <<'PY'
import csv, json, sys
folder, expected = sys.argv[1], json.loads(sys.argv[2])
numbers = {n["metric"]: n for n in json.load(open(folder + "/derived.json"))["numbers"] if n.get("arm") == sys.argv[3]}
for metric, value in expected.items():
    assert numbers[metric]["state"] == "ok" and abs(numbers[metric]["value"] - value) < 1e-9, numbers[metric]
kernels, step = numbers["kernel_time_ns"]["value"], numbers["step_ns"]["value"]
assert kernels <= 1.01 * step, (kernels, step)
# The rows have what is left out, and each sample as a range inside the slot's.
rows = [r for r in csv.DictReader(open(folder + "/samples/0-trace-activity.csv")) if r["arm"] == "0"]
last = [r for r in csv.DictReader(open(folder + "/samples/0-trace-slots.csv")) if r["arm"] == "0"][-1]
assert sum(r["name"] == "sample" for r in rows) == int(last["samples"]), last
work = [r for r in rows if r["kind"] in ("kernel", "fill", "copy") and r["name"] != "ifm_stamp"]
counted = sum(int(last["trace_" + c]) for c in ("kernels", "graph_kernels", "copies"))
assert counted < len(work), (counted, len(work))
PY
cycle cycle ""
python3 apart.py cycle '{"kernels_launched": 0, "graph_kernels": 6, "graph_launches": 1, "launch_calls": 0,
    "gpu_copies": 0, "driver_calls": 1, "gpu_waits": 0, "kernel_time_ns": 1200000, "gpu_gap_percent": 0,
    "gpu_idle_percent": 0}' f16 \
    >log 2>&1 || fail "a cycle: $(cat log)"
grep -q '"name":"ifm_decode_rewind"' cycle/trace.json || fail "a cycle's way back is not in the trace"
reads cold "" --cache cold
python3 apart.py cold \
    '{"graph_kernels": 1, "kernels_launched": 0, "gpu_copies": 0, "kernel_time_ns": 200000}' read.bulk \
    >log 2>&1 || fail "cold caches: $(cat log)"
# Work whose call is not recorded may be of either.
cycle nobody "forgets=call"
grep -q "has no record of its call" <<<"$(number nobody f16 graph_kernels)" ||
    fail "nobody: $(number nobody f16 graph_kernels)"
# A run of a version that counted all of it keeps no such number.
cp -r cycle earlier
python3 - <<'PY'
import hashlib, re
lines, before = open("earlier/run.log").read().splitlines(), None
for i, line in enumerate(lines):
    line = line.replace(',"counted":"samples"', "")
    if before is not None: # each line holds the hash of the one before it
        line = re.sub(r'"prev":"[0-9a-f]{64}"', '"prev":"%s"' % hashlib.sha256(before.encode()).hexdigest(), line)
    lines[i] = before = line
open("earlier/run.log", "w").write("\n".join(lines) + "\n")
PY
sed -i "s/$(sha256sum <cycle/run.log | cut -c1-64)/$(sha256sum <earlier/run.log | cut -c1-64)/" earlier/manifest.sha256
"$INFEROMETER" report earlier >shown 2>&1 || fail "earlier: $(cat shown)"
grep -q 'trace absent: what runs between the samples was counted too' shown || fail "earlier: $(cat shown)"

# ---- what is not whole ----
absent lost "loses=3" "records of a slot were lost"
absent some "loses=1;loses_at=9" "slots were not read: 1 records of a slot were lost"
absent refused "refuses=39" "another profiler is attached"
reads empty "forgets=kernel"
[ "$(number empty read.bulk graph_kernels)" = 0 ] || fail "empty: $(number empty read.bulk graph_kernels)"
grep -q "no work in a slot" <<<"$(number empty read.bulk gpu_idle_percent)" || fail "empty: an idle share"
absent crash "crashes=4" "was ended by signal 6"
grep -q '"stage":"pass_done","ok":false' crash/run.log || fail "crash: the journal does not say that the pass failed"
absent library "version=120600" "the library is CUPTI 12.6, and the driver supports CUDA 13.0"
IFM_CUPTI=$PWD/nowhere fake "" "$INFEROMETER" stream --probe read --size 64KiB "${traces[@]}" --out gone >log 2>&1 ||
    fail "gone: $(cat log)"
grep -q "there is no library CUPTI" <<<"$(number gone read.bulk graph_kernels)" || fail "gone: no reason"
[ ! -e gone/trace.json ] || fail "gone: a trace of nothing"
"$INFEROMETER" null --trace --cap 200ms --out cpu >log 2>&1 || fail "cpu: $(cat log)"
grep -q 'trace absent: no instrument of this version records this device' log || fail "cpu: $(cat log)"

# ---- the guard: where recording costs more than 10 %, no number is made of the pass's times ----
reads slowed "slows=80000"
[ "$(number slowed read.bulk trace_slower_percent)" = 40 ] || fail "$(number slowed read.bulk trace_slower_percent)"
[ "$(number slowed read.bulk step_ns)" = 200000 ] || fail "slowed: the latency is $(number slowed read.bulk step_ns)"
for metric in gpu_idle_percent call_time_ns launch_time_ns wait_time_ns; do
    grep -q "steps took 40 % longer while activity was recorded" <<<"$(number slowed read.bulk $metric)" ||
        fail "slowed: $metric is $(number slowed read.bulk $metric)"
done
[ "$(number slowed read.bulk kernel_time_ns)" = 200000 ] || fail "$(number slowed read.bulk kernel_time_ns)"
[ "$(number slowed read.bulk gpu_gap_percent)" = 0 ] || fail "$(number slowed read.bulk gpu_gap_percent)"
grep -q 'that pass is apart from the latencies, and its times are not used' slowed/derived.json || fail "nobody says so"
reads mild "slows=16000"
grep -q 'its times are not used' mild/derived.json && fail "8 % are too much"
[ "$(number mild read.bulk trace_slower_percent)" = 8 ] || fail "$(number mild read.bulk trace_slower_percent)"
case $(number mild read.bulk gpu_idle_percent) in
    6.* | 7.*) ;;
    *) fail "mild: idle $(number mild read.bulk gpu_idle_percent)" ;;
esac
cuda="kernel_ns=10000;launch_ns=30000" reads gaps "slows=8000" --no-graphs --inner 64
case $(number gaps read.bulk gpu_gap_percent) in
    74.* | 75*) ;;
    *) fail "gaps: $(number gaps read.bulk gpu_gap_percent)" ;;
esac

# ---- nobody asked; edits are found ----
fake "" "$INFEROMETER" stream --probe read --size 64KiB --device cuda --cap 300ms --warmup 1 --out without >log 2>&1 ||
    fail "without: $(cat log)"
[ ! -e without/trace.json ] || fail "a trace that nobody asked for"
cp graphs/trace.json without/
"$INFEROMETER" verify without >log 2>&1 && fail "a stray trace.json is verified"
cp -r graphs edited && rm edited/manifest.sha256
sed -i 's|,ifm_|,IFM_|' edited/samples/0-trace-activity.csv
"$INFEROMETER" derive edited >log 2>&1 && fail "an edited trace is derived"
grep -q 'not the one that run.log tells of' log || fail "edited: $(cat log)"

# ---- profile: the largest shares, each a number of the run ----
cat >shares.py <<'PY'
import json, subprocess, sys
inferometer, folder, wanted = sys.argv[1], sys.argv[2], set(sys.argv[3].split(","))
text = subprocess.run([inferometer, "profile", "--format", "json", folder], capture_output=True, text=True)
assert text.returncode == 0, text
rows = json.loads(text.stdout)["rows"]
numbers = json.load(open(folder + "/derived.json"))["numbers"]
arms = {}
for r in rows:
    arms.setdefault(r["arm"], []).append(r)
for arm, mine in arms.items():
    found = [r for r in mine if r["share"] is not None]
    assert [r["rank"] for r in found] == list(range(1, len(found) + 1)) and len(found) <= 3, mine
    assert [r["share"] for r in found] == sorted((r["share"] for r in found), reverse=True), mine
    assert {r["limit"] for r in found} >= wanted, mine
    for r in found:
        own = [n for n in numbers if n["metric"] == r["metric"] and n.get("arm", "") in (arm, "")]
        assert own[0]["state"] == "ok" and own[0]["value"] == r["share"], (r, own)
        assert bool(r["do"]) == (r["share"] >= 30) and r["of"] and r["from"], r
    for r in mine:
        assert r["share"] is not None or r["reason"], r
PY
python3 shares.py "$INFEROMETER" decode "launch gaps" >log 2>&1 || fail "profile: $(cat log)"
# Nothing inside the kernels limits, so that what is outside of them stands first.
fake "occupancy=100;issue=0;tensor=0;active=100;conflicts=0;l2=0;link=0;eligible=16" "$INFEROMETER" decode \
    "${small[@]}" "${traces[@]}" --counters --out both >log 2>&1 || fail "both: $(cat log)"
fake "" "$INFEROMETER" decode "${small[@]}" --device cuda --cap 300ms --warmup 1 --out bare >log 2>&1 ||
    fail "bare: $(cat log)"
cuda="kernel_ns=10000;launch_ns=30000" fake "slows=8000" "$INFEROMETER" decode "${small[@]}" \
    "${traces[@]}" --no-graphs --out launches_gaps >log 2>&1 || fail "launches_gaps: $(cat log)"
"$INFEROMETER" profile launches_gaps | has 'launch gaps .*the time of a step  *trace and time' ||
    fail "profile: no gaps: $("$INFEROMETER" profile launches_gaps)"
python3 shares.py "$INFEROMETER" both "launch gaps,memory" >log 2>&1 || fail "profile of both: $(cat log)"
"$INFEROMETER" profile both | has 'memory .*the memory.s peak  *counters' || fail "profile: no counters"
"$INFEROMETER" profile bare | has 'launch gaps  *absent' || fail "profile: a share without a trace"
"$INFEROMETER" profile bare | has '[-][-]trace' || fail "profile: no remedy"
"$INFEROMETER" profile >log 2>&1 && fail "a profile of nothing"
"$INFEROMETER" profile both decode >log 2>&1 && fail "a profile of two"
"$INFEROMETER" profile . >log 2>&1 && fail "a profile of no run"

# ---- any program, by injection ----
program=("$INFEROMETER" stream --probe read --size 64KiB --device cuda --cap 200ms --warmup 1 --out inner)
fake "" "$INFEROMETER" trace --format json --out outer -- "${program[@]}" >listing 2>log || fail "trace: $(cat log)"
python3 - <<'PY' || fail "trace: $(cat listing)"
import csv, glob, json
text = open("listing").read()
row = json.loads(text[text.index("{\n"):])["rows"][0]
files = glob.glob("outer/activity-*.csv")
assert len(files) == 1, files
rows = [r for r in csv.DictReader(open(files[0])) if r["kind"] == "kernel" and r["name"] != "ifm_stamp"]
assert len(rows) == row["kernels"] > 100, (len(rows), row)
assert sum(r["graph"] != "0" for r in rows) == row["graph_kernels"]
assert sum(int(r["end_ns"]) - int(r["start_ns"]) for r in rows) == row["kernel_ns"]
trace = json.load(open("outer/trace.json"))["traceEvents"]
assert {e["name"] for e in trace if e["ph"] == "B"} >= {"latency", "read.bulk", "read.linear"}
# What the program does inside its own ranges, of each: warm-up's slots are before the pass.
of = {r["range"]: r for r in json.loads(text[text.index("{\n"):])["rows"][1:]}
assert of["latency"]["times"] == 1 and of["read.bulk"]["times"] >= 6, of
for arm in ("read.bulk", "read.linear"):
    inside, all = of[arm], [r for r in rows if r["name"] == "ifm_" + arm.replace(".", "_")]
    assert 0 < inside["kernels"] * inside["times"] <= len(all), (inside, len(all))
    assert abs(inside["kernel_ns"] - 200000 * inside["kernels"]) < 1, inside
    assert inside["range_ns"] >= inside["kernel_ns"] > 0 and inside["process"] == row["process"], inside
parts = sum(of[arm]["kernels"] * of[arm]["times"] for arm in ("read.bulk", "read.linear"))
assert parts < row["kernels"] and 0 < of["latency"]["kernels"] < row["kernels"], (parts, of["latency"], row)
PY
# Ranges by name, of two processes whose rows are given: those that overlap, too many, and without a name of their own.
cat >ranges.sh <<'SH'
for process in 7 8; do
    {
        echo kind,start_ns,end_ns,correlation,place,graph,bytes,name
        printf '%s\n' begin,1000,1000,1,5,0,0,batch call,1001,1002,1,5,0,0,cuLaunchKernel \
            begin,1500,1500,2,5,0,0,batch kernel,1600,1650,1,7,0,0,k call,1700,1701,2,5,0,0,cuLaunchKernel \
            end,2000,2000,1,5,0,0, call,2100,2101,3,5,0,0,cuLaunchKernel
        [ $process = 7 ] || echo call,2200,2201,4,5,0,0,cuLaunchKernel # of nothing
        printf '%s\n' end,2500,2500,2,5,0,0, kernel,2600,2640,2,7,0,0,k kernel,2700,2710,3,7,0,0,k
        for name in {10..23}; do
            echo "begin,${name}000,${name}000,$name,5,0,0,step $name"
            echo "end,${name}${name}0,${name}${name}0,$name,5,0,0,"
        done
        printf '%s\n' "begin,29000,29000,29,5,0,0,step 10" end,29001,29001,29,5,0,0, \
            "begin,30000,30000,30,5,0,0,(one of too many names)" end,39000,39000,30,5,0,0, \
            whole,0,0,0,0,0,0,
    } >"$IFM_TRACE_DIR/activity-$process.csv"
done
SH
fake "" "$INFEROMETER" trace --format json --out ranges -- bash ranges.sh >listing 2>log || fail "ranges: $(cat log)"
python3 - <<'PY' || fail "ranges: $(cat listing)"
import json
text = json.load(open("listing"))
for process in ("7", "8"):
    rows = [r for r in text["rows"] if r["process"] == process and r["range"]]
    assert len(rows) == 12 and not any("too many" in r["range"] for r in rows), rows
    batch = rows[0]
    assert (batch["range"], batch["times"], batch["range_ns"], batch["kernels"]) == ("batch", 2, 750, 1.5), batch
    assert batch["launch_calls"] == (1.5 if process == "7" else None), batch
    assert ("launch calls absent" in batch["reason"]) == (process == "8") and not rows[1]["reason"], rows
    assert "overlap" in batch["reason"], batch
    assert f"Process {process}: 3 more names, of 4 ranges, took less time." in text["notes"], text["notes"]
    assert any(n.startswith(f"Process {process}: ranges in no row") and "too many: 1;" in n for n in text["notes"])
assert any("other threads" in n for n in text["notes"]), text["notes"]
PY
# The GPU's own monitor beside the recorder.
mkdir nvml
cp "${IFM_FAKE_NVML:?the folder of the fake management libraries}/fake_nvml.so" nvml/libnvidia-ml.so.1
FAKE_NVML="gpus=2 gpm=40,80,25,10" FAKE_CUDA="kernel_ns=200000" LD_LIBRARY_PATH="$PWD/nvml:$IFM_FAKE_CUDA" \
    "$INFEROMETER" trace --out watched -- sh -c 'sleep 1; exec "$@"' sh "${program[@]/inner/inner4}" >log 2>&1 ||
    fail "watched: $(cat log)"
has 'GPU 1, its own monitor, in the [1-9].* s of the program: memory 40 %, multiprocessors 80 %, warps 25 %' <log ||
    fail "watched: $(cat log)"
FAKE_NVML="gpus=1" FAKE_CUDA="kernel_ns=200000" LD_LIBRARY_PATH="$PWD/nvml:$IFM_FAKE_CUDA" \
    "$INFEROMETER" trace --out unwatched -- "${program[@]/inner/inner5}" >log 2>&1 || fail "unwatched: $(cat log)"
has 'its own monitor: absent: this GPU has no monitor of its parts' <log || fail "unwatched: $(cat log)"
fake "loses=2" "$INFEROMETER" trace --out partial -- "${program[@]/inner/inner2}" >log 2>&1 ||
    fail "partial: $(cat log)"
grep -q 'records were lost' log || fail "partial: $(cat log)"
# More launch calls than kernels: the number is absent, with the reason in the row and below the table.
fake "forgets=kernel" "$INFEROMETER" trace --out twice -- "${program[@]/inner/inner6}" >log 2>&1 ||
    fail "twice: $(cat log)"
has 'launch calls absent: [1-9][0-9]* were recorded for 0 kernels' <log || fail "twice: $(cat log)"
fake "forgets=kernel" "$INFEROMETER" trace --format json --out twice2 -- "${program[@]/inner/inner7}" >listing 2>log ||
    fail "twice2: $(cat log)"
grep -A30 '"launch_calls": null' listing | grep -q '"reason": "launch calls absent' || fail "twice2: $(cat listing)"
IFM_CUPTI=$PWD/nowhere fake "" "$INFEROMETER" trace --out blind -- "${program[@]/inner/inner3}" >log 2>&1 ||
    fail "blind: $(cat log)"
grep -q 'there is no library CUPTI' log || fail "blind: $(cat log)"
if python3 -c 'import ctypes; ctypes.CDLL("libcuda.so.1")' 2>/dev/null; then
    echo "not tried here: a machine without a driver"
else # the program runs all the same, and the reason is said once, before it
    code=0
    "$INFEROMETER" trace --out driverless -- sh -c 'echo it ran' >log 2>&1 || code=$?
    [ "$code" = 4 ] || fail "driverless: $(cat log)"
    grep -q '^it ran$' log || fail "driverless: the program did not run: $(cat log)"
    grep -q '^warning: there is no CUDA driver' log || fail "driverless: $(cat log)"
    grep -q '^error: sh: it ran, and nothing was recorded of it' log || fail "driverless: $(cat log)"
    [ "$(grep -c 'no CUDA driver' log)" = 1 ] || fail "driverless: $(cat log)"
    grep -q 'hint: install the NVIDIA driver' log || fail "driverless: $(cat log)"
fi
fake "" "$INFEROMETER" trace --out nothing -- true >log 2>&1 && fail "a program without CUDA was traced"
grep -q 'no process of the program started the CUDA driver' log || fail "nothing: $(cat log)"
fake "" "$INFEROMETER" trace --out outer -- true >log 2>&1 && fail "a trace over another one"
"$INFEROMETER" trace --out x >log 2>&1 && fail "nothing was traced"
grep -q 'there is no command after --' log || fail "no command: $(cat log)"

# ---- interrupted inside the pass, and gone on with ----
cut_short INT cut 10:0-trace-slots.csv env FAKE_CUDA=kernel_ns=200000 LD_LIBRARY_PATH="$IFM_FAKE_CUDA" \
    "$INFEROMETER" stream --probe read --size 64KiB "${traces[@]}" --override measure.blocks_min=60 --out cut
[ $status = 130 ] || fail "interrupted: exit $status"
fake "" "$INFEROMETER" run --resume cut >log 2>&1 || fail "resume: $(cat log)"
"$INFEROMETER" verify cut >log 2>&1 || fail "resumed: $(cat log)"
[ "$(number cut read.bulk graph_kernels)" = 1 ] || fail "resumed: $(number cut read.bulk graph_kernels)"
echo "counts are exact, numbers follow from the record, and what is not whole is no number"
