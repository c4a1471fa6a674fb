#!/usr/bin/env bash
# The specification's own command and its snippets, run on our files as one of its readers would: its flags and fields,
# its check of the variation, its confidence interval, its comparison of efficiencies.
source "$(dirname "$0")/lib.sh"
need python3 python3
fake=(--device fake --seed 1 --quiet
    --script 'step_ns=100000; noise=0.005; arm.int8.step_ns=60000; arm.ours.step_ns=80000;
        arm.read.linear.step_ns=7760; arm.read.streams4.step_ns=7760; arm.read.prefetch.step_ns=7760')

# Its command, flag by flag, prints one JSON object; the folder holds the same.
"$INFEROMETER" decode --seq=1024 --heads=16 --dim=64 --compress=2 --reps=200 --warmup=50 --inner_loops=64 --truncate=5 \
    --paired-baseline --inference --decode_tokens=64 --no-graphs --json "${fake[@]}" --out decode >printed 2>errors ||
    fail "its command: $(cat errors)"
cmp -s printed decode/elastic_kv.json || fail "what is printed is not elastic_kv.json"
"$INFEROMETER" verify decode >/dev/null 2>errors || fail "verify: $(cat errors)"
python3 - <<'P' || fail "decode --json"
import json, sys
d = json.load(open("printed"))
wanted = {
    "build": ["cuda_graphs", "inner_loops", "truncate_percent"],
    "configuration": ["seq_len", "heads", "head_dim", "compression", "reps", "warmup"],
    "results": ["attention_time_ms", "attention_time_std", "coefficient_of_variation", "tokens_per_sec",
                "baseline_tokens_per_sec", "speedup_vs_baseline", "memory_bandwidth_gbs", "memory_efficiency_percent",
                "roofline_score"],
    "inference_cycle": ["decode_tokens", "baseline_total_ms", "elastic_total_ms", "baseline_tokens_per_sec",
                        "elastic_tokens_per_sec", "speedup_vs_baseline"],
}
for group, names in wanted.items():
    for name in names:
        value = d[group][name]
        if value is None and f"{group}.{name}" not in d["_absent"]:
            sys.exit(f"{group}.{name} is null without a reason")
        if value is not None and not isinstance(value, (int, float)):
            sys.exit(f"{group}.{name} is {value!r}")
asked = {"seq_len": 1024, "heads": 16, "kv_heads": 16, "head_dim": 64, "compression": 2, "warmup": 50}
if any(d["configuration"][name] != value for name, value in asked.items()) or d["configuration"]["reps"] < 200:
    sys.exit(f"{d['configuration']}")
if d["build"] != {"inner_loops": 64, "cuda_graphs": False, "truncate_percent": 5}:
    sys.exit(f"{d['build']}")
# A pass takes the default batch of 4 through one layer, however many caches passes take in turn. Tokens = rate x time.
results, cycle, layers = d["results"], d["inference_cycle"], d["configuration"]["layers"]
def fits(rate, ms, tokens):
    return abs(rate * ms / 1000 / tokens - 1) < 1e-9
if not fits(results["tokens_per_sec"], results["attention_time_ms"], 4) or layers < 2:
    sys.exit(f"{layers} layers: {results}")
if not fits(results["layer_tokens_per_sec"], results["attention_time_ms"], 4):
    sys.exit(f"{results}")
if abs(results["tokens_per_pass"] - 4) > 1e-9 or cycle["tokens"] != 4 * 64:
    sys.exit(f"{results}, {cycle}")
# The rates of one object fit its times and its ratio: nothing is spliced.
if abs(results["tokens_per_sec"] / results["baseline_tokens_per_sec"] / results["speedup_vs_baseline"] - 1) > 0.02:
    sys.exit(f"{results}")
# The script gives the cycle the times of a pass: no machine could, so rule 3 holds its ratio back, and says so.
why = d["_absent"].get("inference_cycle.speedup_vs_baseline", {"reason": ""})["reason"]
if cycle["speedup_vs_baseline"] is not None or "rule-03" not in why:
    sys.exit(f"{cycle}: {why}")
# Its two questions, as a shell would put them.
print("PRECISION_PASSED" if results["coefficient_of_variation"] <= 0.01 else "NEEDS_TUNING")
print("PERFORMANCE_PASSED" if results["speedup_vs_baseline"] >= 2.0 else "CLOSE_TO_TARGET")
# Its comparison over machines, bandwidth_gbs / 256.0: by what each was seen to give, for there is no datasheet.
efficiency = results["memory_bandwidth_gbs"] / d["cpu"]["measured_bw_gbs"]
if d["cpu"]["theoretical_bw_gbs"] is not None or not 0 < efficiency <= 1.05:
    sys.exit(f"efficiency {efficiency} of {d['cpu']}")
if abs(100 * efficiency / results["memory_efficiency_measured_percent"] - 1) > 0.05:
    sys.exit(f"efficiency {efficiency} of {results}")
P

# Advice where its condition holds: on standard error, so that standard output is JSON alone; none with --quiet.
noisy=(--json --device fake --seed 1 --script 'step_ns=100000; noise=0.3' --kv-len 1024 --batch 1 --compress 2)
"$INFEROMETER" decode "${noisy[@]}" --out noisy >advised 2>errors || fail "noisy: $(cat errors)"
python3 -c 'import json; json.load(open("advised"))' || fail "not JSON alone: $(head -3 advised)"
grep -A1 '^What would help' errors | has 'coefficient of variation 3' || fail "no advice: $(cat errors)"
"$INFEROMETER" decode "${noisy[@]}" --quiet --out silent >advised 2>errors || fail "silent: $(cat errors)"
! grep -qi 'what would help' errors || fail "advice in spite of --quiet: $(cat errors)"

# Every folder with decode has the file, asked for or not; without a cycle there is none in it.
"$INFEROMETER" decode --compress 2,8 "${fake[@]}" --out plain >/dev/null 2>errors || fail "plain: $(cat errors)"
python3 - <<'P' || fail "plain"
import json, sys
d = json.load(open("plain/elastic_kv.json"))
if [arm["arm"] for arm in d["arms"]] != ["int8", "int2"] or d["arm"] != "int8":
    sys.exit("arms")
if d["inference_cycle"] is not None or "no cell of this run" not in d["_absent"]["inference_cycle"]["reason"]:
    sys.exit(f"{d['inference_cycle']}")
P

# A cycle by hand, through two layers: its rates are of the same tokens.
"$INFEROMETER" decode --seq=512 --compress 2 --layers 2 --inference --decode_tokens=8 --json --quiet --device fake \
    --seed 1 --ceilings none --script 'step_ns=1000000; noise=0.005; arm.int8.step_ns=600000' --out cycle \
    >printed 2>errors ||
    fail "cycle: $(cat errors)"
python3 - <<'P' || fail "cycle"
import json, sys
d, m = json.load(open("printed")), json.load(open("cycle/metrics.json"))
cycle = d["inference_cycle"]
tokens = cycle["elastic_tokens_per_sec"] * cycle["elastic_total_ms"] / 1000
if abs(tokens / (4 * 8) - 1) > 1e-9 or cycle["tokens"] != 4 * 8:
    sys.exit(f"{cycle}")
# The measurement standard's file holds every arm, the candidate first, and fits itself too.
arms = {(a["arm"], a["role"]): a for a in m["arms"]}
if m["arm"] != "int8" or set(arms) != {("f16", "baseline"), ("int8", "variant")} or len(m["env"]["hash"]) != 12:
    sys.exit(f"{m['arm']}, {list(arms)}, {m['env']}")
for a in m["arms"] + [m]:
    if abs(a["throughput_toks_s"] * a["latency_ms"]["mean"] / 1000 / a["tokens_per_step"] - 1) > 1e-9:
        sys.exit(f"{a}")
P

# Its baseline: ten configurations with its defaults, and its confidence interval from the raw samples.
"$INFEROMETER" attention --matrix baseline --scale 32 --preset baseline --arms auto "${fake[@]}" --out baseline \
    >/dev/null 2>errors || fail "baseline: $(cat errors)"
"$INFEROMETER" verify baseline >/dev/null 2>errors || fail "verify of baseline: $(cat errors)"
python3 - <<'P' || fail "baseline"
import json, math, statistics, sys
summary = json.load(open("baseline/summary.json"))
if summary["metadata"]["configs_tested"] != 10 or len(summary["configs"]) != 10 or summary["metadata"]["seed"] != 1:
    sys.exit(f"{summary['metadata']}")
# Over 32, batches of 8, 16 and 32 are one sequence each: that is said, not hidden.
twins = {config["name"]: config["same_as"] for config in summary["configs"] if config["same_as"] is not None}
same = "attention matrix=b32h8s512"
if summary["metadata"]["configs_distinct"] != 8 or twins != {f"attention matrix=b{b}h8s512": same for b in (8, 16)}:
    sys.exit(f"{summary['metadata']}, {twins}")
for number, config in enumerate(summary["configs"], 1):
    whole = json.load(open(f"baseline/config_{number:02}.json"))
    arm = whole["arms"][0]
    samples = arm["raw_latencies_ms"]
    if config["file"] != f"config_{number:02}.json" or config["name"] != whole["name"] or whole["warmup"] != 20:
        sys.exit(f"{config['file']}")
    if len(samples) < 100 or len(samples) != arm["statistics"]["n_samples"] or whole["resamples"] != 10000:
        sys.exit(f"{len(samples)} samples")
    mean, std = statistics.fmean(samples), statistics.stdev(samples)
    margin = 1.984 * std / math.sqrt(len(samples))  # t at 95 % for some hundred values
    told = arm["statistics"]
    if whole["environment"] != summary["metadata"]["environment"] or len(whole["environment"]) != 12:
        sys.exit(f"{whole['environment']}")
    for tail in ("p95_ms", "p99_ms"):  # absent where few samples are independent
        if told[tail] is None and not arm["_absent"][f"statistics.{tail}"]["reason"]:
            sys.exit(f"{tail} is null without a reason")
        if told[tail] is not None and not told["median_ms"] <= told[tail]:
            sys.exit(f"{told}")
    if not arm["memory"]["peak_mb"] > arm["memory"]["buffers_mb"] > 0:
        sys.exit(f"{arm['memory']}")
    if abs(told["mean_ms"] / mean - 1) > 1e-9 or abs(told["std_ms"] / std - 1) > 1e-9:
        sys.exit(f"mean {told['mean_ms']} and {mean}, std {told['std_ms']} and {std}")
    if abs(told["median_ms"] / statistics.median(samples) - 1) > 1e-9:
        sys.exit("median")
    if abs(told["coefficient_of_variation"] - std / mean) > 1e-9:
        sys.exit("variation")
    ours = arm["_ci"].get("statistics.mean_ms")  # absent where few samples carry the mean
    if ours is not None and not 0.7 < (ours["high"] - ours["low"]) / (2 * margin) < 1.6:
        sys.exit(f"interval {ours}, by hand {mean - margin} to {mean + margin}")
    if told["ci_95_lower"] is not None and "10000 resamples" not in told["ci_method"]:
        sys.exit(f"{told['ci_method']}")
first = json.load(open("baseline/config_03.json"))
if [first[k] for k in ("batch", "heads", "seq", "dim", "dtype")] != [1, 8, 512, 64, "f16"]:
    sys.exit(f"{first['name']}")
P

# Whoever edits one of the files is named; a cycle of another configuration, put into it, too.
refused() # FOLDER FILE WORDS PYTHON
{
    rm -rf edited
    cp -r "$1" edited
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
exec(sys.argv[2])
json.dump(d, open(sys.argv[1], "w"))' "edited/$2" "$4"
    (cd edited && sha256sum $(awk '{ print $2 }' manifest.sha256) >../hashes && cp ../hashes manifest.sha256)
    status=0
    "$INFEROMETER" verify edited >/dev/null 2>errors || status=$?
    [ "$status" = 3 ] || fail "$4: verify ends with $status, not 3"
    grep -q "$2.*$3" errors || fail "$4: verify does not name $2 $3: $(cat errors)"
}
refused decode elastic_kv.json 'int8 results.speedup_vs_baseline' 'd["results"]["speedup_vs_baseline"] = 1.963'
refused decode elastic_kv.json 'inference=true baseline_total_ms' \
    'd["inference_cycle"]["baseline_total_ms"] = 86.704063'
refused plain elastic_kv.json 'inference_cycle' 'd["inference_cycle"] = json.load(open("printed"))["inference_cycle"]'
refused baseline config_01.json 'arm ours performance.throughput_gflops' \
    'd["arms"][0]["performance"]["throughput_gflops"] = 53516'
refused baseline config_01.json 'raw_latencies_ms\[3\]' 'd["arms"][0]["raw_latencies_ms"][3] *= 0.98'
refused baseline summary.json 'metadata.configs_tested' 'd["metadata"]["configs_tested"] = 11'
echo "its command, its snippets, 6 forgeries named"
