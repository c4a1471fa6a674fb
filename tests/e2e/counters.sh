#!/usr/bin/env bash
# Counters of a GPU from the command to ncu.json, over a driver and a profiler of host memory (tests/fake_cuda,
# tests/fake_cupti): every number computed anew from the record, impossible ones refused, and every way in which there
# are none.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 python3

counts=(--device cuda --cap 300ms --warmup 1 --slot-steps 10 --counters) # ranges of 2 ms
# Kernels of host memory take as long as their work, and a calibration sees that: small shapes, and no ceilings, whose
# work is more than all that is looked at here.
f16=(--compress 1 --heads 4 --batch 1 --kv-len 256 --head-dim 64 --ceilings none
    --stop repeats --repeats 120)

# fake SCRIPT command...: with the driver and the profiler of host memory
fake()
{
    local script=$1
    shift
    FAKE_CUPTI=$script FAKE_CUDA="kernel_ns=200000" LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$@"
}

# reads NAME SCRIPT ARGUMENTS...: a run of the read probe that succeeds and verifies
reads()
{
    local name=$1 script=$2
    shift 2
    fake "$script" "$INFEROMETER" stream --probe read --size 64KiB "${counts[@]}" --out "$name" "$@" >log 2>&1 ||
        fail "$name: $(cat log)"
    "$INFEROMETER" verify "$name" >verified 2>&1 || fail "$name: $(cat verified)"
}

# absent NAME SCRIPT METRIC WORDS: the number is absent or refused, in these words
absent()
{
    local name=$1 script=$2 metric=$3 words=$4
    reads "$name" "$script"
    grep -qF -- "$words" <<<"$(number "$name" read.bulk "$metric")" ||
        fail "$name: $metric is $(number "$name" read.bulk "$metric")"
}

# ---- every number, from the record ----
fake "f16=1000;bf16=24;tf32=512;int8=2048;write=4096;fabric=1000;varies=10" \
    "$INFEROMETER" decode "${f16[@]}" "${counts[@]}" --out decode >log 2>&1 ||
    fail "decode: $(cat log)"
"$INFEROMETER" verify decode >log 2>&1 || fail "decode: $(cat log)"
cat >anew.py <<'PY'
import csv, json, math, sys
folder = sys.argv[1]
plan = json.load(open(folder + "/plan.json"))
cell = plan["cells"][0]
gpu = plan["machine"]["gpu"]
peak = 2e-6 * gpu["memory_clock_khz"] * gpu["memory_bus_bits"] / 8
leads = {}
for line in open(folder + "/run.log"):
    event = json.loads(line)
    if event["stage"] == "calibrate":
        leads[event["meta"]["arm"]] = event["meta"].get("lead", 1)
numbers = {(n.get("arm"), n["metric"]): n for n in json.load(open(folder + "/derived.json"))["numbers"]}
rows = list(csv.DictReader(open(folder + "/samples/0-counters-slots.csv")))
T = {17: 2.1098, 47: 2.0117, 23: 2.0687, 53: 2.0057, 11: 2.2010, 35: 2.0301, 83: 1.9890}
groups = set()
for index, arm in enumerate(cell["arms"]):
    if arm["role"] == "ceiling":
        assert not any(int(r["arm"]) == index for r in rows)
        continue
    ledger = arm["ledger"]
    mine = []
    for r in rows:
        if int(r["arm"]) == index:
            r = {k: int(v) if v else None for k, v in r.items()}
            r["steps"] = r["samples"] * r["inner"] + leads[arm["name"]]
            mine.append(r)
    assert len(mine) >= 21, len(mine)
    def values(of):
        out = []
        for r in mine:
            try:
                out.append(of(r))
            except TypeError:
                pass
        return out
    def check(metric, of):
        v = values(of)
        n = numbers[arm["name"], metric]
        assert n["state"] == "ok", n
        mean = sum(v) / len(v)
        assert math.isclose(n["value"], mean, rel_tol=1e-9, abs_tol=1e-9), (metric, n["value"], mean)
        assert n["n"] == len(v) and n["n_of"] == "ranges", n
        sd = math.sqrt(sum((x - mean) ** 2 for x in v) / (len(v) - 1))
        assert math.isclose(n["sd"], sd, rel_tol=1e-6, abs_tol=1e-9 * abs(mean)), (metric, n["sd"], sd)
        if "interval" in n and n["interval"] and sd > 1e-6 * abs(mean):
            half = (n["interval"][1] - n["interval"][0]) / 2
            assert math.isclose(half, T[len(v) - 1] * sd / math.sqrt(len(v)), rel_tol=1e-3), (metric, half, sd, len(v))
    bytes_ = ledger["bytes_read"] + ledger["bytes_written"]
    assert numbers[arm["name"], "dram_bytes_read"]["sd"] > 0.04 * numbers[arm["name"], "dram_bytes_read"]["value"]
    check("dram_bytes_read", lambda r: r["dram_read_bytes"] / r["steps"])
    check("dram_bytes_written", lambda r: r["dram_write_bytes"] / r["steps"])
    check("dram_bytes_over_ledger", lambda r: (r["dram_read_bytes"] + r["dram_write_bytes"]) / r["steps"] / bytes_)
    check("dram_throughput_percent",
          lambda r: 100 * (r["dram_read_bytes"] + r["dram_write_bytes"]) / r["counters_range_ns"] / peak)
    check("l2_hit_percent", lambda r: 100 * r["l2_hits"] / r["l2_accesses"])
    check("l2_fabric_percent", lambda r: 100 * r["l2_fabric_sectors"] / r["l2_sectors"])
    check("l2_write_sectors", lambda r: r["l2_write_sectors"] / r["steps"])
    check("warps_launched", lambda r: r["warps"] / r["steps"])
    check("range_step_ns", lambda r: r["counters_range_ns"] / r["steps"])
    check("clock_counted_mhz", lambda r: 1e3 * r["counters_cycles"] / r["counters_range_ns"])
    check("counters_cost_ns", lambda r: r["counters_cost_ns"] + 0)
    f16, bf16 = values(lambda r: r["tensor_f16_ops"] / r["steps"]), values(lambda r: r["tensor_bf16_ops"] / r["steps"])
    tf32 = values(lambda r: r["tensor_tf32_ops"] / r["steps"])
    check("tensor_int8_ops", lambda r: r["tensor_int8_ops"] / r["steps"])
    integers = numbers[arm["name"], "tensor_int8_ops"]["value"]
    assert integers >= 2048, integers
    flops = sum(f16) / len(f16) + sum(bf16) / len(bf16) + sum(tf32) / len(tf32)
    assert math.isclose(numbers[arm["name"], "tensor_flops"]["value"], flops, rel_tol=1e-9)
    def spread(v):
        mean = sum(v) / len(v)
        return math.sqrt(sum((x - mean) ** 2 for x in v) / (len(v) - 1))
    of_kinds = math.hypot(spread(f16), spread(bf16), spread(tf32))
    assert of_kinds > 0, of_kinds
    assert math.isclose(numbers[arm["name"], "tensor_flops"]["sd"], of_kinds, rel_tol=1e-6), of_kinds
    of_all = math.hypot(of_kinds, spread(values(lambda r: r["tensor_int8_ops"] / r["steps"]))) / ledger["flops"]
    assert math.isclose(numbers[arm["name"], "tensor_flops_over_ledger"]["sd"], of_all, rel_tol=1e-6), of_all
    over = numbers[arm["name"], "tensor_flops_over_ledger"]["value"]
    assert math.isclose(over, (flops + integers) / ledger["flops"], rel_tol=1e-9)
    assert flops >= 1536, flops
    # What limits it: shares of units, and idle slots shared out by what warps wait for.
    def one(metric, expected):
        n = numbers[arm["name"], metric]
        assert n["state"] == "ok" and math.isclose(n["value"], expected, rel_tol=1e-4, abs_tol=1e-9), (n, expected)
    for metric, expected in (("occupancy_percent", 25), ("issue_percent", 40), ("tensor_active_percent", 10),
                             ("bank_conflict_percent", 2), ("l2_busy_percent", 30), ("l2_link_percent", 20),
                             ("sm_idle_percent", 5),
                             ("occupancy_limit_percent", 60 * 0.75), ("wait_memory_percent", 60 * 6 / 12),
                             ("wait_dependency_percent", 60 * 2 / 12), ("wait_wgmma_percent", 60 * 1 / 12),
                             ("wait_barrier_percent", 60 * 1 / 12), ("wait_shared_percent", 0),
                             ("wait_arithmetic_percent", 0), ("wait_other_percent", 60 * 2 / 12)):
        one(metric, expected)
    # Seven sets, each with as many ranges as the others, and none that fills the columns of two.
    kinds = [("dram" if r["dram_read_bytes"] is not None else "") + ("f16" if r["tensor_f16_ops"] is not None else "")
             + ("bf16" if r["tensor_bf16_ops"] is not None else "")
             + ("tf32" if r["tensor_tf32_ops"] is not None else "")
             + ("limits" if r["limits_issue"] is not None else "") + ("one" if r["waits_memory"] is not None else "")
             + ("two" if r["waits_shared"] is not None else "") for r in mine]
    assert {k: kinds.count(k) for k in kinds} == dict.fromkeys(
        ("dram", "f16", "bf16", "tf32", "limits", "one", "two"), len(mine) // 7), kinds
ncu = json.load(open(folder + "/ncu.json"))
assert ncu["source"] == "CUPTI 13.0, chip GH100", ncu
assert len(ncu["summary"]["per_mode"]) == 2
for mode in ncu["summary"]["per_mode"]:
    for key, metric in (("dram__bytes_read.sum", "dram_bytes_read"), ("dram__bytes_write.sum", "dram_bytes_written"),
                        ("lts__t_sectors_op_write.sum", "l2_write_sectors"),
                        ("sm__warps_launched.sum", "warps_launched"), ("gpu__time_duration.sum", "range_step_ns"),
                        ("dram__throughput.avg.pct_of_peak", "dram_throughput_percent")):
        assert mode["ncu_metrics"][key] == numbers[mode["mode"], metric]["value"], (mode, key)
        assert mode["_sd"]["ncu_metrics." + key] == numbers[mode["mode"], metric]["sd"], (mode, key)
    assert mode["l2_hit_pct"] == numbers[mode["mode"], "l2_hit_percent"]["value"]
metrics = json.load(open(folder + "/metrics.json"))
assert metrics["l2_hit_pct"] == 25, metrics["l2_hit_pct"]
# Latency is that of the pass without counters: outputs before and after are the same, bit for bit.
checks = {}
for line in open(folder + "/run.log"):
    event = json.loads(line)
    if event["stage"] == "check" and event["meta"].get("done"):
        checks.setdefault(event["meta"]["arm"], set()).add(event["meta"]["output_xxh3"])
assert checks and all(len(hashes) == 1 for hashes in checks.values()), checks
PY
python3 anew.py decode >log 2>&1 || fail "numbers: $(cat log)"

# An arm whose matrix units do its operations cannot execute fewer than its ledger has; more are padding of its tiles.
# says FOLDER CONFIDENCE WORDS: of the arm f16 the confidence, and whether a finding has the words
says()
{
    python3 - "$@" <<'PY'
import json, sys
folder, confidence, words = sys.argv[1:]
arm = [a for a in json.load(open(folder + "/metrics.json"))["arms"] if a["arm"] == "f16"][0]
plan = [a for a in json.load(open(folder + "/plan.json"))["cells"][0]["arms"] if a["name"] == "f16"][0]
assert plan["matrix"] is True, plan
assert arm["flops_confidence"] == confidence, arm["flops_confidence"]
assert ("fewer" in arm["_absent"].get("flops_confidence", {}).get("reason", "")) == (confidence == "medium"), arm
found = [f for f in json.load(open(folder + "/derived.json"))["findings"]
         if f["arm"] == "f16" and "of the operations of the ledger" in f["text"]]
assert len(found) == (words != ""), found
assert all(words in f["text"] and f["severity"] == "warning" for f in found), found
PY
}
says decode medium "matrix units executed 0.0" >log 2>&1 || fail "too few operations are not doubted: $(cat log)"
for operations in 0 300000000; do
    fake "f16=$operations" "$INFEROMETER" decode "${f16[@]}" "${counts[@]}" --out operations$operations \
        >log 2>&1 || fail "$operations operations: $(cat log)"
done
[ "$(number operations0 f16 tensor_flops_over_ledger)" = 0 ] ||
    fail "none: $(number operations0 f16 tensor_flops_over_ledger)"
says operations0 medium "matrix units executed 0 of" >log 2>&1 || fail "no operation is not doubted: $(cat log)"
says operations300000000 high "" >log 2>&1 || fail "padding is doubted: $(cat log)"
grep -q 'above 1 is padding of tiles' operations300000000/report.md || fail "the report does not say padding"
grep -q 'above 1 is padding of tiles' decode/report.md && fail "the report says padding where there is none"
"$INFEROMETER" profile decode >shown 2>&1 || fail "profile: $(cat shown)"
python3 - <<'PY2' || fail "profile of a counted run: $(cat shown)"
import re
rows = [line.split("  ") for line in open("shown") if line.startswith("f16 ")]
rows = [[cell.strip() for cell in row if cell.strip()] for row in rows]
assert [row[1:3] for row in rows[:3]] == [["occupancy", "45.0 %"], ["instructions", "40.0 %"], ["L2", "30.0 %"]] or \
    [row[1:3] for row in rows[:3]] == [["occupancy", "45.0 %"], ["instructions", "40.0 %"],
                                       ["waits for L2 or memory", "30.0 %"]], rows
assert not any(row[1] == "inside the kernels" for row in rows), rows
PY2

# Reasons that are more than all waiting are refused, and a share above the whole; a unit near its peak stands first.
reads waiting "long_scoreboard=20"
grep -q "warps wait for a reason, of 12 that wait" <<<"$(number waiting read.bulk wait_other_percent)" ||
    fail "waiting: $(number waiting read.bulk wait_other_percent)"
[ -z "$(number waiting read.bulk wait_memory_percent)" ] || fail "a reason beyond all waiting is told"
reads above "conflicts=130"
grep -q "130 is above 101, which cannot be" <<<"$(number above read.bulk bank_conflict_percent)" ||
    fail "above: $(number above read.bulk bank_conflict_percent)"
fake "issue=20;conflicts=70;long_scoreboard=12;wait=0;gmma=0;barrier=0" \
    "$INFEROMETER" decode "${f16[@]}" "${counts[@]}" --out near >log 2>&1 || fail "near: $(cat log)"
"$INFEROMETER" profile near >shown 2>&1 || fail "near: $(cat shown)"
grep '^f16 ' shown | head -1 | grep -q 'bank conflicts *70.0 %' || fail "a busy unit is not the first: $(cat shown)"
grep '^f16 ' shown | sed -n 2p | grep -q 'waits for L2 or memory *80.0 %' || fail "no wait: $(cat shown)"

# Where something runs between the samples, the range is around the last one: a cycle of six kernels goes back to its
# start by one more, which is in no range; so do evictions of caches.
cycle=(decode --compress 1 --heads 1 --batch 1 --kv-len 256 --head-dim 64 --layers 2 --inference --decode-tokens 3
    "${counts[@]}")
many="requests=100000;hits=25000;misses=75000" # lookups enough for a share of one kernel
fake "$many" "$INFEROMETER" "${cycle[@]}" --out cycle >log 2>&1 || fail "cycle: $(cat log)"
"$INFEROMETER" verify cycle >log 2>&1 || fail "cycle: $(cat log)"
cat >apart.py <<'PY'
import csv, json, sys
folder, arm, kernels, ns = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
of = {n["metric"]: n for n in json.load(open(folder + "/derived.json"))["numbers"] if n.get("arm") == arm}
for metric, each in (("dram_bytes_read", 1 << 20), ("l2_write_sectors", 100), ("warps_launched", 8)):
    assert of[metric]["state"] == "ok" and of[metric]["value"] == kernels * each, of[metric]
    assert of[metric]["sd"] == 0, of[metric]
assert of["l2_hit_percent"]["value"] == 25, of["l2_hit_percent"]
assert ns * kernels < of["range_step_ns"]["value"] < ns * kernels + 50000, of["range_step_ns"]
rows = list(csv.DictReader(open(folder + "/samples/0-counters-slots.csv")))
assert all(int(r["samples"]) > 1 for r in rows), rows
PY
python3 apart.py cycle f16 6 200000 >log 2>&1 || fail "cycle: $(cat log)"
FAKE_CUPTI=$many FAKE_CUDA="kernel_ns=2000000" LD_LIBRARY_PATH="$IFM_FAKE_CUDA" "$INFEROMETER" stream --probe read \
    --size 64KiB "${counts[@]}" --cache cold --out cold >log 2>&1 || fail "cold: $(cat log)"
python3 apart.py cold read.bulk 1 2000000 >log 2>&1 || fail "cold: $(cat log)"
# The guard is of the sample that was counted, though the others were not slowed.
fake "slows=40000" "$INFEROMETER" "${cycle[@]}" --out slowly >log 2>&1 || fail "slowly: $(cat log)"
case $(number slowly f16 counters_slower_percent) in
    20 | 20.0* | 19.9999*) ;;
    *) fail "slowly: $(number slowly f16 counters_slower_percent)" ;;
esac
# A run of a version that counted the whole slot keeps no such number.
cp -r cycle earlier
python3 - <<'PY'
import hashlib, re
lines, before = open("earlier/run.log").read().splitlines(), None
for i, line in enumerate(lines):
    line = line.replace(',"counted":"sample"', "")
    if before is not None: # each line holds the hash of the one before it
        line = re.sub(r'"prev":"[0-9a-f]{64}"', '"prev":"%s"' % hashlib.sha256(before.encode()).hexdigest(), line)
    lines[i] = before = line
open("earlier/run.log", "w").write("\n".join(lines) + "\n")
PY
sed -i "s/$(sha256sum <cycle/run.log | cut -c1-64)/$(sha256sum <earlier/run.log | cut -c1-64)/" earlier/manifest.sha256
"$INFEROMETER" report earlier >shown 2>&1 || fail "earlier: $(cat shown)"
grep -q "counters absent: counters also counted what runs between the samples" shown || fail "earlier: $(cat shown)"

# Shown with its sentence; a page that opens.
grep -q 'over ledger' decode/report.md || fail "the report shows no counters"
grep -q 'f16, sd' decode/report.md || fail "the report shows no spread"
grep -q 'counted live in a pass of its own' decode/report.html || fail "the page does not say how counters were read"

# ---- nothing enters a latency ----
reads plain ""
[ "$(number plain read.bulk step_ns)" = 200000 ] || fail "step_ns is $(number plain read.bulk step_ns)"
fake "" "$INFEROMETER" stream --probe read --size 64KiB --device cuda --cap 300ms --warmup 1 --slot-steps 10 \
    --out without >log 2>&1 || fail "without: $(cat log)"
[ ! -e without/ncu.json ] || fail "ncu.json of a run that did not count"
[ ! -e without/samples/0-counters.csv ] || fail "a pass of counters that nobody asked for"
cp plain/ncu.json without/
"$INFEROMETER" verify without >log 2>&1 && fail "a stray ncu.json is verified"

# The share of sectors, of two passes.
reads sectors "sectors=400000;sectorhits=300000;sectormisses=100000;fabric=100000"
[ "$(number sectors read.bulk l2_sector_hit_percent)" = 75 ] || fail "$(number sectors read.bulk l2_sector_hit_percent)"

# The guard: where counting costs more than 10 %, no number is made of the pass's times.
reads slowed "slows=80000"
[ "$(number slowed read.bulk counters_slower_percent)" = 40 ] ||
    fail "$(number slowed read.bulk counters_slower_percent)"
[ "$(number slowed read.bulk step_ns)" = 200000 ] || fail "slowed: the latency is $(number slowed read.bulk step_ns)"
[ "$(number slowed read.bulk dram_bytes_read)" = 1048576 ] || fail "slowed: $(number slowed read.bulk dram_bytes_read)"
for metric in range_step_ns dram_throughput_percent; do
    grep -q "steps took 40 % longer while counters were read" <<<"$(number slowed read.bulk $metric)" ||
        fail "slowed: $metric is $(number slowed read.bulk $metric)"
done
grep -B4 'that pass is apart from the latencies, and its times are not used' slowed/derived.json |
    grep -q rule-04 || fail "nobody says so"
reads mild "slows=16000"
[ "$(number mild read.bulk counters_slower_percent)" = 8 ] || fail "$(number mild read.bulk counters_slower_percent)"
grep -q 'its times are not used' mild/derived.json && fail "8 % are too much"
python3 - <<'PY' || fail "mild: $(grep -A9 counters_slower_percent mild/derived.json)"
import json
of = {n["metric"]: n for n in json.load(open("mild/derived.json"))["numbers"] if n.get("arm") == "read.bulk"}
assert of["counters_slower_percent"]["interval"] is not None and of["range_step_ns"]["state"] == "ok", of
PY

# Factors of 8 bits are counted beside bf16.
reads eight "f16=1000;bf16=24;fp8=8"
[ "$(number eight read.bulk tensor_flops)" = 1032 ] || fail "8 bits: $(number eight read.bulk tensor_flops)"

# A dry run counts the ranges of every set: 0.2 s a set at least, and 30 ms each. That is 2.6 s, and what the steps take
# here comes on top: 7 s in all on an idle machine, more on a busy one; twenty would be ranges that are not counted.
fake "" "$INFEROMETER" stream --probe read --size 64KiB "${counts[@]}" --dry-run >dry 2>&1 || fail "dry run: $(cat dry)"
python3 - <<'PY' || fail "later passes: $(cat dry)"
import re
later = float(re.search(r"later\s+passes\s+([0-9.]+)\s+s", open("dry").read()).group(1))
assert 2.6 <= later <= 20, later
PY

# ---- what cannot be ----
absent dropped "dropped=1" dram_bytes_read "dropped the range"
absent incomplete "incomplete=1" dram_bytes_read "wants another pass"
absent passes "passes=2" dram_bytes_read "need 2 passes here"
absent none "ranges=0" dram_bytes_read "0 ranges where one was counted"
absent nan "nan=dram__bytes_read.sum" dram_bytes_read "which is no count"
absent huge "huge=dram__bytes_read.sum" dram_bytes_read "which is no count"
absent negative "negative=lts__t_sectors.sum" dram_bytes_read "which is no count"
absent stale "stale=sm__warps_launched.sum" warps_launched "which is no count"
absent busy "fails=cuptiRangeProfilerEnable:26" dram_bytes_read "another program holds the GPU's counters"
absent start "fails=cuptiRangeProfilerStart:7" dram_bytes_read "counters failed with 7 (FAKE_INVALID_OPERATION)"
absent pop "fails=cuptiRangeProfilerPopRange:7" dram_bytes_read "ending a range failed"
absent over "hits=2000;misses=0" l2_hit_percent "more lookups hit than there were"
absent sums "hits=400" l2_hit_percent "are not"
absent few "requests=10;hits=5;misses=5" l2_hit_percent "too few for a share"
absent peak "read=1073741824000" dram_throughput_percent "is above 102"
absent passes_differ "sectors=400000;sectorhits=300000;sectormisses=50000" l2_sector_hit_percent "missed in another, of"
absent fewsectors "" l2_sector_hit_percent "too few for a share of two passes"
absent sectornan "nan=lts__t_sectors_lookup_miss.sum" l2_sector_hit_percent "which is no count"
absent far "fabric=5000" l2_fabric_percent "is above 100"
reads short "" --slot-steps 1 --override measure.slot_min=0s --inner 1
grep -q "its edges need 1 ms" <<<"$(number short read.bulk dram_bytes_read)" ||
    fail "short: $(number short read.bulk dram_bytes_read)"
grep -qE '"slots":[0-9]+,"read":0,"reason":"CUPTI dropped the range"' dropped/run.log ||
    fail "the journal does not say that ranges were dropped"
# The other numbers of a range with an impossible share stand.
[ "$(number over read.bulk dram_bytes_read)" = 1048576 ] || fail "over: $(number over read.bulk dram_bytes_read)"

# Data that no cache holds, of which the memory moved too little; and enough.
reads little "read=65536" --size 512KiB
grep -q 'the memory moved 0.125 of the bytes' little/derived.json || fail "too few bytes are not doubted"
reads enough "read=524288" --size 512KiB
grep -q 'the memory moved' enough/derived.json && fail "a step that moves its bytes is doubted"

# ---- no counters at all: the run is as good without them ----
absent denied "fails=cuptiProfilerGetCounterAvailability:35" dram_bytes_read "administrators alone"
for words in 'NVreg_RestrictProfilingToAdminUsers=0' 'with CAP_PERFMON;' 'cap-add=SYS_ADMIN'; do
    grep -q "$words" denied/derived.json || fail "the remedy lacks $words"
done
[ "$(number denied read.bulk step_ns)" = 200000 ] || fail "denied: no latency"
grep -q '"reason":"nothing_to_count","blocks":0' denied/run.log || fail "denied: blocks of a pass that counts nothing"
absent mig "fails=cuptiProfilerGetCounterAvailability:43" dram_bytes_read "the GPU is divided (MIG)"
absent wsl "level=wsl" dram_bytes_read "WSL"
absent virtual "level=virtual;disabled=1" dram_bytes_read "the host of this virtual machine"
absent secret "level=confidential" dram_bytes_read "confidential computing"
absent old "level=architecture" dram_bytes_read "no counters that can be read"
absent chip "chip=GX999" dram_bytes_read "no list of counters for the chip GX999"
fake "chip=GX999" "$INFEROMETER" doctor | has '^GPU counters (CUPTI)  *absent  *this build has no list' ||
    fail "doctor: an unknown chip"
absent library "version=120600" dram_bytes_read "the library is CUPTI 12.6, and the driver supports CUDA 13.0"
absent lacks "chip=TU102" tensor_flops "the chip TU102 does not count it in one pass"
[ "$(number lacks read.bulk dram_bytes_read)" = 1048576 ] || fail "TU102: $(number lacks read.bulk dram_bytes_read)"
IFM_CUPTI=$PWD/nowhere fake "" "$INFEROMETER" stream --probe read --size 64KiB "${counts[@]}" --out gone >log 2>&1 ||
    fail "gone: $(cat log)"
grep -q "there is no library CUPTI" <<<"$(number gone read.bulk dram_bytes_read)" ||
    fail "gone: $(number gone read.bulk dram_bytes_read)"
fake "" "$INFEROMETER" doctor | has '^GPU counters (CUPTI)  *ok  *CUPTI 13.0, chip GH100' || fail "doctor: no library"
IFM_CUPTI=$PWD/nowhere fake "" "$INFEROMETER" doctor |
    has '^GPU counters (CUPTI)  *absent  *there is no library CUPTI' || fail "doctor: absent"

# ---- ranges that are too short: what helps depends on what says how long slots are ----
fake "" "$INFEROMETER" stream --probe read --size 64KiB --device cuda --warmup 1 --repeats 12 --counters --out dealt \
    >log 2>&1 || fail "dealt: $(cat log)"
grep -q "a range of counters lasted" <<<"$(number dealt read.bulk dram_bytes_read)" ||
    fail "dealt: $(number dealt read.bulk dram_bytes_read)"
grep -q "more --repeats" dealt/report.csv || fail "dealt: $(grep dram_bytes_read dealt/report.csv)"

# ---- a device without such counters; processes of their own ----
"$INFEROMETER" null --counters --cap 200ms --out cpu >log 2>&1 || fail "cpu: $(cat log)"
grep -q 'counters absent: \|instructions' log || fail "cpu: $(cat log)"
fake "" "$INFEROMETER" null --device cuda --isolation processes --counters --out apart >log 2>&1 &&
    fail "counters of arms in processes of their own"
# Beside a gate, whose number is there now.
printf 'gates:\n  - {metric: l2_hit_percent, op: at_least, threshold: 80}\n' >gates.yaml
fake "hits=900;misses=100" "$INFEROMETER" stream -c gates.yaml --probe read --size 64KiB "${counts[@]}" --out gated \
    >log 2>&1 || fail "gated: $(cat log)"
grep -q '"outcome": *"pass"' gated/verdict.json || fail "gated: $(cat gated/verdict.json)"

# ---- interrupted inside the pass, and gone on with ----
cut_short INT cut 20:0-counters-slots.csv env FAKE_CUDA=kernel_ns=200000 LD_LIBRARY_PATH="$IFM_FAKE_CUDA" \
    "$INFEROMETER" stream --probe read --size 64KiB "${counts[@]}" --override measure.blocks_min=60 --out cut
[ $status = 130 ] || fail "interrupted: exit $status"
fake "" "$INFEROMETER" run --resume cut >log 2>&1 || fail "resume: $(cat log)"
"$INFEROMETER" verify cut >log 2>&1 || fail "resumed: $(cat log)"
[ "$(number cut read.bulk dram_bytes_read)" = 1048576 ] || fail "resumed: $(number cut read.bulk dram_bytes_read)"
[ "$(slots_of cut 0-counters-slots.csv)" = 1680 ] || fail "resumed: $(slots_of cut 0-counters-slots.csv) ranges"
echo "numbers follow from the record, impossible ones are refused, and no counters are no failure"
