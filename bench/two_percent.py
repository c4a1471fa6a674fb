#!/usr/bin/env python3
"""A true 2 % difference of a 1-ms step: how often is it called within 5 s, and how often is equal code?

two_percent.py [ROUNDS] [--cap SECONDS] [--tools a,b] [--ramp]
    default 20 rounds, 5 s, all tools; INFEROMETER=build/inferometer in the environment

With --ramp another process loads the CPUs meanwhile: its share of one grows from none to all within a minute, and then
again.

In each round every tool measures both pairs once, in an order drawn anew: two spin loops of about 1 ms of which one
does 2 % more, and two equal ones. The lab decides by its own stop rule (--stop decided, its default); Google
Benchmark has ten repetitions of each in as much time and the U test of its compare.py at 5 %; hyperfine as much time
for the loops as programs, and Welch's test of its scripts at 5 %. A tool that is not here is named and left out.
Bars: the lab calls the difference in 95 of 100 rounds (80 under the ramp) and equal code in at most 5; exit 1 when one
is missed by more than chance (5 % of such benches).
"""
import argparse
import json
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

PEERS = pathlib.Path(__file__).resolve().parent / "aa_peers"
SPINS, PAIRS = 3000000, {"2 %": 1.02, "equal": 1.0}


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def normal_p(z):
    return math.erfc(abs(z) / math.sqrt(2))


def u_test(a, b):
    """Mann and Whitney, by the normal approximation with its correction for continuity."""
    u = sum((x > y) + 0.5 * (x == y) for x in a for y in b)
    mean, sd = len(a) * len(b) / 2, math.sqrt(len(a) * len(b) * (len(a) + len(b) + 1) / 12)
    return normal_p(max(abs(u - mean) - 0.5, 0) / sd)


RAMP = """
import time
start = time.monotonic()
while True:
    begun = time.monotonic()
    busy = 0.02 * ((begun - start) % 60 / 60)
    while time.monotonic() - begun < busy:
        pass
    time.sleep(0.02 - busy)
"""


class Lab:
    def __init__(self, scratch, cap):
        self.scratch, self.cap, self.count = scratch, cap, 0
        self.program = os.path.realpath(os.environ.get("INFEROMETER", "build/inferometer"))

    def call(self, ratio):
        self.count += 1
        config = self.scratch / f"lab-{self.count}.yaml"
        config.write_text(f"""workload: null
ceilings: none
device.threads: 1
seed: {self.count}
arms:
  - name: a
    baseline: true
    set: {{ null.spin: {SPINS} }}
  - name: b
    set: {{ null.spin: {round(SPINS * ratio)} }}
""")
        folder = self.scratch / f"run-{self.count}"
        run([self.program, "run", "-c", config, "--cap", f"{self.cap}s", "--quiet", "--out", folder])
        numbers = {(n["metric"], n.get("arm")): n for n in json.loads((folder / "derived.json").read_text())["numbers"]}
        stops = [json.loads(line)["meta"] for line in (folder / "run.log").open() if '"stage":"stop"' in line]
        shutil.rmtree(folder)
        change = numbers["change_percent", "b"]
        word = change["text"] if change["state"] == "ok" else change["state"]
        return word in ("faster", "slower"), f"{word} after {stops[-1]['elapsed_s']:.1f} s"


class Google:
    def __init__(self, scratch, cap):
        self.scratch, self.cap = scratch, cap
        for name, ratio in PAIRS.items():
            common = ["-O2", f"-DSPINS={SPINS}", f"-DSPINS_B={round(SPINS * ratio)}"]
            run(["c++", *common, "-x", "c++", PEERS / "google.cc", "-x", "c", PEERS / "spin.c", "-o",
                 scratch / f"google {name}", "-lbenchmark", "-lpthread"])

    def call(self, ratio):
        name = next(n for n, r in PAIRS.items() if r == ratio)
        flags = ["--benchmark_repetitions=10", f"--benchmark_min_time={self.cap / 20:g}", "--benchmark_format=json",
                 "--benchmark_enable_random_interleaving=true"]
        said = json.loads(run([self.scratch / f"google {name}", *flags]))
        times = {n: [row["real_time"] for row in said["benchmarks"] if row["run_type"] == "iteration" and
                     row["run_name"].startswith(n)] for n in "ab"}
        p = u_test(times["a"], times["b"])
        return p < 0.05, f"p {p:.2g}"


class Hyperfine:
    def __init__(self, scratch, cap):
        self.scratch, self.cap = scratch, cap
        shutil.copy(shutil.which("hyperfine"), scratch / "hyperfine")
        run(["cc", "-O2", "-DSPIN_MAIN", PEERS / "spin.c", "-o", scratch / "spin"])

    def call(self, ratio):
        out = self.scratch / "hyperfine.json"
        run([self.scratch / "hyperfine", "-N", "--warmup", "10", "--runs", str(int(self.cap * 300)), "--export-json",
             out, *(f"{self.scratch / 'spin'} {spins}" for spins in (SPINS, round(SPINS * ratio)))])
        a, b = (result["times"] for result in json.loads(out.read_text())["results"])
        se = math.sqrt(statistics.variance(a) / len(a) + statistics.variance(b) / len(b))
        p = normal_p((statistics.mean(a) - statistics.mean(b)) / se)
        return p < 0.05, f"p {p:.2g}"


def chance(n, k, p):
    """P(at most k of n)"""
    return sum(math.comb(n, i) * p**i * (1 - p)**(n - i) for i in range(k + 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", type=int, nargs="?", default=20)
    parser.add_argument("--cap", type=float, default=5)
    parser.add_argument("--tools", default="inferometer,Google Benchmark,hyperfine")
    parser.add_argument("--ramp", action="store_true")
    args = parser.parse_args()
    scratch = pathlib.Path(tempfile.mkdtemp())
    tools = {}
    for name, make in {"inferometer": Lab, "Google Benchmark": Google, "hyperfine": Hyperfine}.items():
        if name not in args.tools.split(","):
            continue
        try:
            tools[name] = make(scratch, args.cap)
        except (OSError, TypeError, subprocess.CalledProcessError) as error:
            print(f"skipped: {name} is not here ({type(error).__name__})")
    load = subprocess.Popen([sys.executable, "-c", RAMP]) if args.ramp else None
    called = {(tool, pair): 0 for tool in tools for pair in PAIRS}
    for number in range(args.rounds):
        turns = list(called)
        random.shuffle(turns)
        for tool, pair in turns:
            found, words = tools[tool].call(PAIRS[pair])
            called[tool, pair] += found
            print(f"{number + 1:3} {tool:17} {pair:6} {words}", flush=True)
    for (tool, pair), n in called.items():
        print(f"{tool:17} {pair:6} called in {n} of {args.rounds}")
    shutil.rmtree(scratch)
    if load is not None:
        load.kill()
    found, false = called["inferometer", "2 %"], called["inferometer", "equal"]
    wanted = 0.8 if args.ramp else 0.95
    return chance(args.rounds, found, wanted) < 0.05 or chance(args.rounds, args.rounds - false, 0.95) < 0.05


sys.exit(main())
