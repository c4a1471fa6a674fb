#!/usr/bin/env bash
# bench/counters.sh INFEROMETER OUT: what counters say of traffic that is known, on a GPU: a set that the L2 holds, in
# ranges of three lengths and in four sizes; a decode cycle and cold caches, whose range is the last sample alone; the
# link between the L2's halves; a trace of a cycle; the GPU's own monitor beside both; counters that another program
# holds. Three minutes. Ends with a table, and with "as expected" or with what is not.
set -u
inferometer=$(readlink -f "$1") out=$2
mkdir -p "$out" && cd "$out" || exit 2
common=(--device cuda --warmup 1 --ceilings none)
run()
{
    local name=$1
    shift
    "$inferometer" "$@" "${common[@]}" --out "$name" >"$name.txt" 2>&1 || echo "$name: exit $?"
    echo "$name: $(("$(date +%s)" - began)) s, $("$inferometer" verify "$name" 2>&1 | tail -1)"
}
began=$(date +%s)
"$inferometer" doctor >doctor.txt 2>&1
for mib in 4 8 16 24; do
    run resident$mib stream --probe read --size ${mib}MiB --cap 500ms --counters
done
run resident16x5 stream --probe read --size 16MiB --cap 500ms --counters --override measure.slot_min=10ms
run resident16x25 stream --probe read --size 16MiB --cap 500ms --counters --override measure.slot_min=50ms

alone=(decode --compress 1 --batch 1 --q-heads 32 --kv-heads 8 --head-dim 128 --kv-len 4096 --layers 1
    --decode-arms ours --cap 500ms --counters) # 16 MiB too, and no other arm runs between
run alone "${alone[@]}"
run alonex5 "${alone[@]}" --override measure.slot_min=10ms

# One cache of 16 MiB stays in the L2: a cycle reads it from memory once where it was evicted, else not at all.
small=(decode --compress 1 --batch 1 --q-heads 32 --kv-heads 8 --head-dim 128 --kv-len 4096 --layers 1 --inference
    --decode-tokens 256 --cap 1s)
run warm "${small[@]}" --counters
run cold "${small[@]}" --counters --cache cold
# Four caches of 134 MB do not.
cycle=(decode --compress 1 --batch 8 --q-heads 32 --kv-heads 8 --head-dim 128 --kv-len 4096 --layers 4 --inference
    --decode-tokens 16 --slot-steps 3 --cap 1s)
run plain "${cycle[@]}"
run cycle "${cycle[@]}" --counters --trace

# The GPU's own monitor beside the range profiler, and beside the recorder.
timeout 30 nvidia-smi dmon --gpm-metrics 2,10 -d 1 >monitor.txt 2>&1 &
monitor=$!
run far stream --probe read --size 4GiB --cap 1s --counters
kill $monitor 2>/dev/null
"$inferometer" trace --out recorded -- "$inferometer" stream --probe read --size 4GiB --cap 3s "${common[@]}" \
    --out inner >recorded.txt 2>&1 || echo "recorded: exit $?"
# Two at a time: one of them reads counters.
"$inferometer" stream --probe read --size 1GiB --cap 1s --counters "${common[@]}" --out first >first.txt 2>&1 &
first=$!
sleep 2.5
run second stream --probe read --size 1GiB --cap 500ms --counters
wait $first
grep -h 'its own monitor' recorded.txt
sort monitor.txt | uniq -c | head -20
grep -h 'counters absent' -A 2 first.txt second.txt
python3 - <<'PY'
import csv, json
bad = []
def numbers(folder):
    return {(n.get("arm"), n["metric"]): n for n in json.load(open(folder + "/derived.json"))["numbers"]}
def events(folder):
    return [json.loads(line) for line in open(folder + "/run.log")]
def arms(folder):
    return json.load(open(folder + "/plan.json"))["cells"][0]["arms"]
def told(n):
    if n is None or n["state"] != "ok":
        return "-" if n is None else "%s: %s" % (n["state"], n["reason"])
    half = (n["interval"][1] - n["interval"][0]) / 2 if n.get("interval") else 0
    return "%.6g +- %.2g" % (n["value"], half)
def value(folder, arm, metric):
    n = numbers(folder).get((arm, metric))
    return n["value"] if n and n["state"] == "ok" else float("nan")
def expect(what, value, low, high):
    if not low <= value <= high:
        bad.append("%s: %.6g, not %g to %g" % (what, value, low, high))

print("\n== a set that the L2 holds: of a range, and of a step; requests that missed, bytes from memory")
head = ("run            arm          steps a range    hits %  missed/range  missed/step  "
        "read/range B  read/step B  far %")
print(head)
points = {}
for folder in ("resident4", "resident8", "resident16", "resident24", "resident16x5", "resident16x25", "alone",
               "alonex5"):
    plan = json.load(open(folder + "/plan.json"))["cells"][0]["arms"]
    leads = {e["meta"]["arm"]: e["meta"].get("lead", 1) for e in events(folder) if e["stage"] == "calibrate"}
    for index, arm in enumerate(plan):
        rows = [r for r in csv.DictReader(open(folder + "/samples/0-counters-slots.csv"))
                if int(r["arm"]) == index and r["l2_hits"]]
        if not rows:
            continue
        mean = lambda c: sum(int(r[c]) for r in rows) / len(rows)
        steps = sum(int(r["samples"]) * int(r["inner"]) for r in rows) / len(rows) + leads[arm["name"]]
        missed, read = mean("l2_misses"), mean("dram_read_bytes")
        hits = 100 * mean("l2_hits") / mean("l2_accesses")
        far = 100 * mean("l2_fabric_sectors") / mean("l2_sectors")
        print("%-14s %-12s %13.0f  %8.4f  %12.0f  %11.1f  %12.0f  %11.0f  %5.2f" % (
            folder, arm["name"], steps, hits, missed, missed / steps, read, read / steps, far))
        print("    misses of each range: %s" % " ".join(r["l2_misses"] for r in rows))
        if folder[:10] in ("resident16", "alone", "alonex5"):
            points.setdefault(arm["name"], []).append((steps, missed, read, hits))
for arm, p in points.items():
    n, x = len(p), sum(q[0] for q in p) / len(p)
    for what, i in (("requests missed", 1), ("bytes read", 2)):
        y = sum(q[i] for q in p) / n
        slope = sum((q[0] - x) * (q[i] - y) for q in p) / sum((q[0] - x) ** 2 for q in p)
        print("16 MiB, %s, %s of a range of N steps: %.4g + %.4g N" % (arm, what, y - slope * x, slope))
    if arm != "read.linear": # whose threads change place: what the near half holds of it varies from run to run
        expect("hits of 16 MiB by %s" % arm, min(q[3] for q in p), 99, 100)

columns = ("dram_bytes_read", "dram_bytes_over_ledger", "l2_hit_percent", "l2_fabric_percent", "l2_link_percent",
           "step_ns", "range_step_ns", "counters_slower_percent", "graph_kernels", "kernels_launched",
           "kernel_time_ns", "gpu_idle_percent", "trace_slower_percent", "error_max_rel")
for folder in ("warm", "cold", "plain", "cycle", "far"):
    read = [e["meta"] for e in events(folder) if e["stage"] in ("counters_read", "traced")]
    print("\n== %s: %s" % (folder, " ".join("%s %d of %d %s" % (m["source"], m["read"], m["slots"], m.get("reason", ""))
                                            for m in read)))
    found = numbers(folder)
    for arm in arms(folder):
        ledger = arm["ledger"]
        print("%s: ledger read %d written %d" % (arm["name"], ledger["bytes_read"], ledger["bytes_written"]))
        for metric in columns:
            if (arm["name"], metric) in found:
                print("    %-26s %s" % (metric, told(found[arm["name"], metric])))
kv = 2 * 8 * 128 * 2 # bytes of a token's K and V in one sequence
cold = value("cold", "f16", "dram_bytes_read") - value("warm", "f16", "dram_bytes_read")
expect("memory read by a cold cycle beyond a warm one, over its cache", cold / (kv * (4096 + 256)), 0.9, 2)
expect("bytes over ledger of a cycle", value("cycle", "f16", "dram_bytes_over_ledger"), 0.99, 1.03)
ratio = value("cycle", "f16", "step_ns") / value("plain", "f16", "step_ns")
print("\nlatency of a cycle, with --counters --trace over without: %.4f" % ratio)
expect("latency with instruments over without", ratio, 0.98, 1.02)
expect("kernels of a cycle", value("cycle", "f16", "graph_kernels"), 64, 64)
expect("kernel time over the step", value("cycle", "f16", "kernel_time_ns") / value("cycle", "f16", "step_ns"), 0.5, 2)
for arm in ("read.linear", "read.bulk"):
    expect("bytes over ledger of 4 GiB by " + arm, value("far", arm, "dram_bytes_over_ledger"), 0.999, 1.001)
    expect("hits of 4 GiB by " + arm, value("far", arm, "l2_hit_percent"), 0, 1)
    expect("far side of 4 GiB by " + arm, value("far", arm, "l2_fabric_percent"), 30, 36)
trace = json.load(open("cycle/trace.json"))["traceEvents"]
ranges = {}
for e in trace:
    if e["ph"] == "B":
        ranges[e["name"]] = ranges.get(e["name"], 0) + 1
print("trace.json of the cycle: %d events, ranges %s" % (len(trace), ranges))
for folder in ("warm", "cold", "cycle", "far"):
    hashes = {}
    for e in events(folder):
        if e["stage"] == "check" and e["meta"].get("done"):
            hashes.setdefault(e["meta"]["arm"], set()).add(e["meta"]["output_xxh3"])
        if e["stage"] == "traced":
            hashes.setdefault(e["meta"]["arm"], set()).add(e["meta"].get("outputs"))
    if any(len(h) != 1 for h in hashes.values()):
        bad.append("%s: outputs %s" % (folder, hashes))
print("\n".join(["NOT AS EXPECTED"] + bad) if bad else "as expected")
PY
