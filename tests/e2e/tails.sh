#!/usr/bin/env bash
# Programs of which some runs are slow, from `exec` to the verdict, with the stop rule, on a scripted clock: a typical
# run takes 0.7 of the baseline's time, 1 to 20 % take 2 to 20 times as long. No word and no gate (significant) goes
# against the sign of the true mean. IFM_TAIL_RUNS=200 runs each pair 200 times, which takes minutes; else 5.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
need python3 python3

python3 - "${IFM_TAIL_RUNS:-5}" <<'PY' || fail "a word went against the true mean"
import collections, concurrent.futures, json, math, os, shutil, subprocess, sys
typical, noise, runs = 0.7, 0.01, int(sys.argv[1])

def one(share, times, seed):
    folder = f"run-{share}-{times}-{seed}"
    script = (f"step_ns=2000000; noise={noise}; arm.tail.step_ns={2000000 * typical}; arm.tail.slow={share}; "
              f"arm.tail.slow_times={times}")
    done = subprocess.run([os.environ["INFEROMETER"], "exec", "base", "tail", "--device", "fake", "--script", script,
                           "--seed", str(seed), "--gates", "significant", "--quiet", "--out", folder],
                          capture_output=True, text=True)
    assert done.returncode in (0, 1, 3, 4), done.stderr
    numbers = {n["metric"]: n for n in json.load(open(folder + "/derived.json"))["numbers"] if n["arm"] == "tail"}
    outcome = json.load(open(folder + "/verdict.json"))["outcome"]
    shutil.rmtree(folder)
    change = numbers["change_percent"]
    word = change["text"] if change["state"] == "ok" else change["state"]
    return word, outcome

bad = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for share in (0.01, 0.02, 0.05, 0.1, 0.2):
        for times in (2, 4, 8, 20):
            mean = typical * (1 + share * (times - 1))
            found = list(pool.map(lambda seed: one(share, times, seed), range(1, runs + 1)))
            words, gates = (collections.Counter(f[i] for f in found) for i in (0, 1))
            against = words["slower"] if mean < 1 else words["faster"] + gates["pass"]
            print(f"{share:4.0%} x {times:2}: true mean {mean:.3f}:", dict(words), "gate", dict(gates),
                  f"against {against}", flush=True)
            bad += against
assert bad == 0, bad
PY
echo "20 programs with slow runs, $((20 * ${IFM_TAIL_RUNS:-5})) runs, no word against the true mean"
