#!/usr/bin/env bash
# Counters of a processor from the command to the report, over a kernel that counts (fake_perf.c): numbers follow from
# the record, what was not counted whole is no number, and no counters are no failure.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 python3
[ -n "${IFM_FAKE_PERF:-}" ] || skip "this build has no fake_perf: a sanitizer interposes the same calls"

# counts NAME SCRIPT: a run on the processor
counts()
{
    FAKE_PERF=$2 LD_PRELOAD=$IFM_FAKE_PERF "$INFEROMETER" null --device cpu --threads 1 --cap 200ms --warmup 1 \
        --ceilings none --counters --out "$1" >log 2>&1 || fail "$1: $(cat log)"
    "$INFEROMETER" verify "$1" >verified 2>&1 || fail "$1: $(cat verified)"
}

# absent NAME SCRIPT WORDS: no number, in these words; the latency is there
absent()
{
    counts "$1" "$2"
    for metric in instructions_per_step instructions_per_cycle; do
        grep -qF -- "$3" <<<"$(number "$1" null $metric)" || fail "$1: $metric is $(number "$1" null $metric)"
    done
    case $(number "$1" null step_ns) in [0-9]*) ;; *) fail "$1: no latency" ;; esac
}

counts whole ""
grep -q 'instructions' log || fail "no table: $(cat log)"
python3 - <<'PY' >log 2>&1 || fail "numbers: $(cat log)"
import csv, json, math
events = [json.loads(line) for line in open("whole/run.log")]
lead = [e["meta"].get("lead", 1) for e in events if e["stage"] == "calibrate"][0]
rows = list(csv.DictReader(open("whole/samples/0-counters-slots.csv")))
numbers = {n["metric"]: n for n in json.load(open("whole/derived.json"))["numbers"] if n.get("arm") == "null"}
assert len(rows) >= 6
# The main thread and, where a run has more, each of the others count the same.
threads = {int(r["cpu_cycles"]) // 3000000 for r in rows}
assert all(int(r["cpu_cycles"]) % 3000000 == 0 and int(r["cpu_instructions"]) == 2 * int(r["cpu_cycles"]) for r in rows)
assert threads and min(threads) >= 1, threads
for metric, column in (("instructions_per_step", "cpu_instructions"), ("cpu_cycles_per_step", "cpu_cycles"),
                       ("cache_misses_per_step", "cpu_cache_misses"), ("branch_misses_per_step", "cpu_branch_misses")):
    values = [int(r[column]) / (int(r["samples"]) * int(r["inner"]) + lead) for r in rows]
    n = numbers[metric]
    assert n["state"] == "ok" and n["n"] == len(rows) and n["n_of"] == "slots", n
    assert math.isclose(n["value"], sum(values) / len(values), rel_tol=1e-9), (metric, n, values)
assert numbers["instructions_per_cycle"]["value"] == 2, numbers["instructions_per_cycle"]
assert "counters_slower_percent" in numbers
assert not any(m.startswith("dram_") for m in numbers), "columns of a GPU on a processor"
PY
absent denied "denied" "this process may not read events of the processor"
grep -q 'CAP_PERFMON' denied/report.html || fail "denied: no remedy"
grep -q '"reason":"nothing_to_count","blocks":0' denied/run.log || fail "denied: blocks of a pass that counts nothing"
absent none "none" "this processor counts no such event"
absent multiplexed "multiplexed" "(multiplexed), and a share of a slot is no count"
grep -q 'slots were not read' <<<"$(number multiplexed null instructions_per_step)" || fail "how many slots were lost?"
absent short "short" "the kernel gave no whole reading"
absent overflow "overflow" "a counter of the processor overflowed"
absent still "still" "the processor counted no cycle, which cannot be"
counts lacks "lacks"
[ "$(number lacks null instructions_per_cycle)" = 2 ] || fail "lacks: $(number lacks null instructions_per_cycle)"
grep -q "counts no such event" <<<"$(number lacks null cache_misses_per_step)" || fail "lacks: a number of nothing"
"$INFEROMETER" null --device cpu --isolation processes --counters --cap 200ms --out apart >log 2>&1 &&
    fail "counters of arms in processes of their own"
grep -q 'the arms of this cell run in processes of their own' log || fail "apart: $(cat log)"
echo "a processor's counts follow from the record, and what was not counted whole is no number"
