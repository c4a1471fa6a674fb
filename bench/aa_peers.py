#!/usr/bin/env python3
"""A/A: how often does a tool call identical code different?

aa_peers.py [ROUNDS] [--tools a,b,...] [--out FILE]

Each round lets every tool compare the same work with itself once, in an order drawn anew, so that all of them see the
same machine in the same minutes. Per tool and round one JSON line is appended to FILE: the tool's own verdict at
alpha = 0.05, and the difference that it saw. The table at the end counts them, with Clopper-Pearson bounds.

Tools, each at its default and at the flags that its own manual recommends against noise (COMMANDS below prints them):
hyperfine (with the Welch test of its own scripts), Google Benchmark (U test of its compare.py; sequential, and random
interleaving), Criterion (saved baseline), inferometer run (in one process) and inferometer exec (commands).

Needs Debian's hyperfine, libbenchmark-dev, librust-criterion-dev with cargo, python3-scipy. A tool that is not here is
named and left out.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from scipy import stats

HERE = pathlib.Path(__file__).resolve().parent / "aa_peers"
INFEROMETER = os.environ.get("INFEROMETER", str(HERE.parent.parent / "build" / "inferometer"))
SPINS = 300_000           # about 100 us in one process
COMMAND_SPINS = 15_000_000  # about 5 ms in a command of its own
ALPHA = 0.05

STUDY = f"""workload: 'null'
ceilings: none
arms:
  - name: a
    set: [null.spin={SPINS}]
  - name: b
    set: [null.spin={SPINS}]
"""


def run(command, **more):
    result = subprocess.run(command, capture_output=True, text=True, **more)
    if result.returncode != 0:
        sys.exit(f"{command[0]} failed ({result.returncode}): {result.stderr[-800:]}")
    return result.stdout


def build(folder):
    """Build the work for every tool; returns what is missing, by tool."""
    missing = {}
    flags = ["-O2", f"-DSPINS={SPINS}"]
    run(["cc", *flags, "-DSPIN_MAIN", str(HERE / "spin.c"), "-o", str(folder / "spin")])
    run(["cc", *flags, "-c", str(HERE / "spin.c"), "-o", str(folder / "spin.o")])
    if shutil.which("hyperfine") is None:
        missing["hyperfine"] = "hyperfine is not installed"
    google = subprocess.run(["c++", *flags, str(HERE / "google.cc"), str(folder / "spin.o"), "-lbenchmark", "-lpthread",
                             "-o", str(folder / "google")], capture_output=True, text=True)
    if google.returncode != 0:
        missing["google"] = "no Google Benchmark (libbenchmark-dev)"
    why = build_criterion(folder)
    if why:
        missing["criterion"] = why
    return missing


def build_criterion(folder):
    crate = folder / "criterion"
    shutil.copytree(HERE / "criterion", crate)
    (crate / ".cargo").mkdir()
    (crate / ".cargo" / "config.toml").write_text(
        '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "/usr/share/cargo/registry"\n'
        f'[build]\nrustflags = ["-Clink-arg={folder}/spin.o", "-Clink-arg=-lm"]\n')
    if shutil.which("cargo") is None:
        return "cargo is not installed"
    result = subprocess.run(["cargo", "build", "--release", "--benches", "--offline"], cwd=crate, capture_output=True,
                            text=True)
    if result.returncode != 0:
        return "Criterion does not build (librust-criterion-dev): " + result.stderr.strip()[-200:]
    return None


def hyperfine(folder, flags):
    out = folder / "hyperfine.json"
    command = f"{folder}/spin {COMMAND_SPINS}"
    run(["hyperfine", *flags, "--export-json", str(out), command, command])
    a, b = (entry["times"] for entry in json.loads(out.read_text())["results"])
    p = stats.ttest_ind(a, b, equal_var=False).pvalue
    return {"flagged": bool(p < ALPHA), "change": sum(b) / len(b) / (sum(a) / len(a)) - 1}


def google(folder, flags):
    text = run([str(folder / "google"), "--benchmark_format=json", *flags])
    times = {"a": [], "b": []}
    for entry in json.loads(text)["benchmarks"]:
        if entry["run_type"] == "iteration":
            times[entry["name"].split("/")[0]].append(entry["real_time"])
    p = stats.mannwhitneyu(times["a"], times["b"], alternative="two-sided").pvalue
    medians = [sorted(times[name])[len(times[name]) // 2] for name in "ab"]
    return {"flagged": bool(p < ALPHA), "change": medians[1] / medians[0] - 1}


def criterion(folder, flags):
    crate = folder / "criterion"
    environment = dict(os.environ, SPINS=str(SPINS))
    bench = ["cargo", "bench", "--offline", "--bench", "aa", "--"]
    shutil.rmtree(crate / "target" / "criterion", ignore_errors=True)
    run([*bench, *flags, "--save-baseline", "a"], cwd=crate, env=environment)
    text = run([*bench, *flags, "--baseline", "a"], cwd=crate, env=environment)
    p = re.search(r"\(p = ([0-9.]+)", text)
    change = re.search(r"change: \[\S+ ([-+0-9.]+)%", text)
    return {"flagged": float(p.group(1)) < ALPHA, "change": float(change.group(1)) / 100,
            "verdict": "has regressed" in text or "has improved" in text}


def read_ours(text):
    rows = [json.loads(line) for line in text.splitlines()]
    row = next(row for row in rows if row.get("metric") == "change_percent")
    return {"flagged": row["low"] > 0 or row["high"] < 0, "change": row["value"] / 100,
            "verdict": row["text"] in ("faster", "slower")}


def inferometer_run(folder, flags):
    study = folder / "aa.yaml"
    study.write_text(STUDY)
    out = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "run"
    return read_ours(run([INFEROMETER, "run", "-c", str(study), "--out", str(out), "--seed",
                          str(random.randrange(1, 2**31)), "--quiet", "--format", "jsonl", *flags]))


def inferometer_exec(folder, flags):
    out = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "run"
    command = f"{folder}/spin {COMMAND_SPINS}"
    return read_ours(run([INFEROMETER, "exec", command, command, "--out", str(out), "--seed",
                          str(random.randrange(1, 2**31)), "--quiet", "--format", "jsonl", *flags]))


TOOLS = {
    "hyperfine": ("hyperfine", hyperfine, []),
    "hyperfine-best": ("hyperfine", hyperfine, ["-N", "--warmup", "10", "--runs", "100"]),
    "google": ("google", google, ["--benchmark_repetitions=10"]),
    "google-best": ("google", google, ["--benchmark_repetitions=20", "--benchmark_min_time=0.1",
                                        "--benchmark_enable_random_interleaving=true"]),
    "criterion": ("criterion", criterion, []),
    "criterion-best": ("criterion", criterion, ["--warm-up-time", "5", "--measurement-time", "15", "--sample-size",
                                                 "200", "--noise-threshold", "0.02"]),
    "inferometer run": ("inferometer", inferometer_run, []),
    "inferometer exec": ("inferometer", inferometer_exec, []),
}


def bounds(hits, n):
    low = stats.beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    high = stats.beta.ppf(0.975, hits + 1, n - hits) if hits < n else 1.0
    return low, high


def print_table(lines):
    print(f"\n{'tool':20} {'flagged':>9} {'95 % bounds':>15} {'verdicts':>9} {'largest difference':>19}")
    for name in TOOLS:
        rows = [line for line in lines if line["tool"] == name]
        if not rows:
            continue
        hits = sum(row["flagged"] for row in rows)
        low, high = bounds(hits, len(rows))
        verdicts = [row["verdict"] for row in rows if "verdict" in row]
        largest = max(abs(row["change"]) for row in rows)
        shown = f"{sum(verdicts)}/{len(verdicts)}" if verdicts else "-"
        print(f"{name:20} {hits:>4}/{len(rows):<4} {100 * low:6.1f} to {100 * high:4.1f} % {shown:>9} "
              f"{100 * largest:>17.2f} %")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", nargs="?", type=int, default=30)
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--out", default="aa_peers.jsonl")
    arguments = parser.parse_args()
    chosen = arguments.tools.split(",")
    lines = []
    with tempfile.TemporaryDirectory() as scratch, open(arguments.out, "a", encoding="utf-8") as out:
        folder = pathlib.Path(scratch)
        missing = build(folder)
        for tool, why in missing.items():
            print(f"left out: {tool}: {why}")
        for name, (tool, _, flags) in TOOLS.items():
            print(f"{name:20} {' '.join(flags) or '(defaults)'}")
        for number in range(arguments.rounds):
            order = [name for name in chosen if TOOLS[name][0] not in missing]
            random.shuffle(order)
            for name in order:
                _, measure, flags = TOOLS[name]
                line = {"round": number, "tool": name, **measure(folder, flags)}
                lines.append(line)
                out.write(json.dumps(line) + "\n")
                out.flush()
            print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
    print_table(lines)


if __name__ == "__main__":
    main()
