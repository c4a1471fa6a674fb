#!/usr/bin/env bash
# bench/trace.sh INFEROMETER OUT: what tracing counts on a GPU, and its cost. Launches of a slot must be exact to one,
# of 10 001 calls and of graphs, our outputs the same with recording and without; ends with "exact" or says what is not.
set -u
inferometer=$1 out=$2
mkdir -p "$out"
common=(--device cuda --warmup 20 --trace)
run()
{
    local name=$1
    shift
    "$inferometer" "$@" "${common[@]}" --out "$out/$name" >"$out/$name.txt" 2>&1 || echo "$name: exit $?"
    "$inferometer" verify "$out/$name" 2>&1 | tail -1
}
run calls stream --probe read --size 1MiB --no-graphs --inner 1000 --slot-steps 10 --cap 5s
run graphs stream --probe read --size 1MiB --inner 1000 --slot-steps 10 --cap 5s
run decode decode --batch 8 --kv-len 4096 --cap 5s --counters
run gemm gemm --cap 5s --counters
python3 - "$out" <<'PY'
import csv, json, os, sys
out, bad = sys.argv[1], []
for name in ("calls", "graphs", "decode", "gemm"):
    folder = os.path.join(out, name)
    try:
        numbers = json.load(open(folder + "/derived.json"))["numbers"]
        events = [json.loads(line) for line in open(folder + "/run.log")]
        gpu = json.load(open(folder + "/plan.json"))["machine"]["gpu"]["name"]
    except (OSError, KeyError) as e:
        bad.append("%s: %s" % (name, e))
        continue
    traced = [e["meta"] for e in events if e["stage"] == "traced"]
    print(name, gpu, [(t["arm"], t["source"], t["slots"], t["read"], t.get("reason")) for t in traced])
    checks = {}
    for e in events:
        if e["stage"] == "check" and e["meta"].get("done"):
            checks.setdefault(e["meta"]["arm"], e["meta"]["output_xxh3"])
    for t in traced:
        if t.get("outputs") != checks.get(t["arm"]):
            differs = "%s %s: outputs %s, else %s" % (name, t["arm"], t.get("outputs"), checks.get(t["arm"]))
            if t["arm"].startswith(("cudnn", "cublaslt")):
                print("  a library's own sums: " + differs)  # cuDNN 9.14 gave two sets of bits on 2026-11-28
            else:
                bad.append(differs)
    arms = sorted({t["arm"] for t in traced})
    for arm in arms:
        mine = {n["metric"]: n for n in numbers if n.get("arm") == arm}
        line = ["  %-14s" % arm]
        for metric in ("step_ns", "kernels_launched", "graph_kernels", "graph_launches", "launch_calls", "gpu_copies",
                       "gpu_waits", "driver_calls", "kernel_time_ns", "call_time_ns", "gpu_idle_percent",
                       "trace_slower_percent", "trace_cost_ns"):
            n = mine.get(metric)
            told = "-" if n is None else "%.6g" % n["value"] if n["state"] == "ok" else n["reason"]
            line.append("%s=%s" % (metric, told))
        print(" ".join(line))
    if name in ("calls", "graphs"):
        slots = list(csv.DictReader(open(folder + "/samples/0-trace-slots.csv")))
        wanted = {int(r["samples"]) * int(r["inner"]) for r in slots}
        column = "trace_kernels" if name == "calls" else "trace_graph_kernels"
        seen = sorted({(int(r["samples"]) * int(r["inner"]), r[column], r["trace_launches"], r["trace_graph_launches"])
                       for r in slots})
        print("  (steps, %s, launches, graph launches) of %d slots: %s" % (column, len(slots), seen))
        if len({s[1:] for s in seen}) != 1 or any(not s[1] or int(s[1]) - s[0] != 1 for s in seen):
            bad.append("%s: not exact: %s" % (name, seen))
    try:
        trace = json.load(open(folder + "/trace.json"))["traceEvents"]
        print("  trace.json: %d events, ranges %s" % (len(trace), sorted({e["name"] for e in trace if e["ph"] == "B"})))
    except OSError as e:
        bad.append("%s: %s" % (name, e))
    if {e["name"] for e in trace if e["ph"] == "B"} != set(arms):
        bad.append("%s: ranges" % name)
print("\n".join(["NOT EXACT"] + bad) if bad else "exact")
PY
