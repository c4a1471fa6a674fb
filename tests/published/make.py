#!/usr/bin/env python3
"""Write a run folder from published figures: make.py CASE DIR, with INFEROMETER naming the command.

The configuration and the shape of the plan are the command's own, of a run on the fake device; arms, ledgers, journal
and samples are made here of the figures in figures.py. A case is the same bytes every time, but for private.json, which
no reader of a folder trusts. Only the raw files are written: `inferometer derive` makes the others.
"""
import copy
import csv
import hashlib
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys

from figures import CASES

M32 = 0xFFFFFFFF


class Philox:
    """Philox4x32-10 as in src/base/random.c: the plan draws the order of its slots from it."""

    def __init__(self, seed, stream):
        self.seed, self.stream, self.counter, self.words = seed, stream, 0, []

    def u32(self):
        if not self.words:
            key = [self.seed & M32, self.seed >> 32]
            word = [self.counter & M32, self.counter >> 32, self.stream, 0]
            for _ in range(10):
                a, b = 0xD2511F53 * word[0], 0xCD9E8D57 * word[2]
                word = [(b >> 32) ^ word[1] ^ key[0], b & M32, (a >> 32) ^ word[3] ^ key[1], a & M32]
                key = [(key[0] + 0x9E3779B9) & M32, (key[1] + 0xBB67AE85) & M32]
            self.counter += 1
            self.words = word
        return self.words.pop(0)

    def below(self, n):
        product = self.u32() * n
        while product & M32 < n and product & M32 < (2**32 - n) % n:
            product = self.u32() * n
        return product >> 32

    def permutation(self, n):
        out = list(range(n))
        for i in range(n, 1, -1):
            j = self.below(i)
            out[i - 1], out[j] = out[j], out[i - 1]
        return out


def williams(n, row, place):
    return ((place + 1) // 2 if place % 2 else (n - place // 2) % n) + row


def order(seed, n, block):
    """One block, as ifm_plan_order draws it."""
    random_of = Philox(seed, 0x6F726472 ^ ((block if n <= 2 else block // n) * 0x9E3779B9 & M32))
    half = random_of.permutation(n)
    if n > 2:
        rows = random_of.permutation(n)
        half = [half[williams(n, rows[block % n], i) % n] for i in range(n)]
    return half + half[::-1]


def durations(step_ns, cv, n, rng):
    """`n` durations whose mean is the step time and whose logarithms spread by cv."""
    factors = [math.exp(cv * rng.gauss(0, 1)) for _ in range(n)]
    mean = statistics.fmean(factors)
    return [round(step_ns * factor / mean) for factor in factors]


def wobble(blocks, rng):
    """A little noise of each block that cancels over all of them, so that the published time is the measured one."""
    values = [0.002 * rng.gauss(0, 1) for _ in range(blocks)]
    middle = sum(values) / blocks
    return [v - middle for v in values]


def record(case, arms, seed):
    """Slots and samples of a cell: [[block, phase, arm, samples, inner, start, end]], [[slot, start, duration]]."""
    even, blocks, n = case.get("even", False), case.get("blocks", 10), case.get("samples", 5)
    rng = random.Random(20251014)
    noise = [wobble(blocks, rng) for _ in arms]
    slots, samples, now = [], [], 1000
    for block in range(0 if even else -1, blocks):
        for at in order(seed, len(arms), block) if block >= 0 else range(len(arms)):
            factor = 1.0 if even else math.exp(noise[at][block])
            start = now
            for ns in durations(arms[at]["step_ns"] * factor, arms[at].get("cv", 0.0), n, rng):
                samples.append([len(slots), now, ns])
                now += ns
            slots.append([block + (0 if even else 1), 1 if block >= 0 else 0, at, n, 1, start, now])
            now += 0 if even else 500
    return slots, samples


def tamper(slots, samples, how):
    """What was done to the treatment (arm 1) after measuring."""
    own = [s for s in samples if slots[s[0]][2] == 1]
    values = [round(0.98 * s[2]) for s in own]
    if "sort" in how:
        values.sort()
    for sample, value in zip(own, values):
        sample[2] = value
    if "sort" not in how:
        return
    now = 0  # sorted samples fit no slot: the forger writes the times anew
    for k, slot in enumerate(slots):
        slot[5] = now
        for sample in samples:
            if sample[0] == k:
                sample[1], now = now, now + sample[2]
        slot[6] = now


def write_csv(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


SLOT = ["block", "phase", "arm", "samples", "inner", "start_ns", "end_ns"]
LEDGER = {"flops": 0, "bytes_read": 0, "bytes_written": 0, "tokens_prompt": 0, "tokens_generated": 0, "rows": 0}


def plan_arm(template, published):
    """An arm of plan.json."""
    out = copy.deepcopy(template)
    out.update({"name": published["name"], "role": published["role"], "ceiling": published.get("ceiling", ""),
                "ledger": {**LEDGER, **published.get("ledger", {})}, "working_set": published.get("working_set", 0),
                "lossy": published.get("lossy", False), "has_oracle": "check" in published, "tolerance": 1e-5,
                "stored": published.get("stored", 0), "stored_plain": published.get("stored_plain", 0),
                "feature": published.get("feature", ""), "equals": published.get("equals", "")})
    return out


def cell_events(case, cell, arms, slots):
    yield "cell_start", {"cell": cell}
    for arm in arms:
        said = {"done": "check" in arm, **arm.get("check", {})}
        yield "check", {"cell": cell, "arm": arm["name"], "when": "before", **said}
    blocks = len({slot[0] for slot in slots if slot[1] == 1})
    elapsed_s = 1e-9 * (slots[-1][6] - slots[0][5])
    yield "stop", {"cell": cell, "reason": "repeats", "blocks": blocks, "elapsed_s": elapsed_s, "mde": None,
                   "wanted_mde": 0.005}
    for arm in arms:
        if "feature" in arm:
            yield "feature", {"cell": cell, "arm": arm["name"], "feature": arm["feature"], "runs": arm["runs"]}
    yield "cell_done", {"cell": cell}


TICK, SETTLE, IDLE = 10**8, 10**9, 5 * 10**9  # ns: of the counter; after a change of load; of an idle stretch


def energy_pass(folder, c, cell, arm, seed, after):
    """The windows of an arm, each at `watts` between stretches at `idle_w`, under a counter that is read ten times a
    second. Returns the events."""
    said = arm["energy"]
    slots, samples = record({"even": True, "blocks": said["blocks"], "samples": said["samples"]}, [arm], seed)
    begin = (after // TICK + 1) * TICK
    first = begin + IDLE + SETTLE
    for slot in slots:
        slot[5], slot[6] = slot[5] - 1000 + first, slot[6] - 1000 + first
    samples = [[slot, start - 1000 + first, ns] for slot, start, ns in samples]
    last = slots[-1][6]
    end = last + SETTLE + IDLE
    stem = os.path.join(folder, "samples", str(c))
    write_csv(stem + "-energy.csv", ["slot", "start_ns", "duration_ns"], samples)
    write_csv(stem + "-energy-slots.csv", SLOT, slots)
    readings, total = [], 0.0
    for now in range(begin, end + TICK, TICK):
        readings.append([now, 0, round(1e6 * total)])
        total += 1e-9 * TICK * (said["watts"] if first <= now < last else said["idle_w"])
    write_csv(stem + "-power-gpu0-counter.csv", ["t_ns", "half_ns", "energy_uj"], readings)
    where = {"cell": cell}
    yield "power_sensor", {**where, "device": "gpu0", "source": "counter", "kind": "counter", "part": False,
                           "measured": True, "period_ms": 1e-6 * TICK}
    for when, start in (("before", begin), ("after", last + SETTLE)):
        yield "energy_idle", {**where, "when": when, "start_ns": start, "end_ns": start + IDLE, "settle_ns": 0}
    yield "energy_done", {**where, "windows": len(slots)}


def locks(when):
    knob = {"knob": "governor", "value": None, "locked": False, "reason": "the publication does not say"}
    return "locks", {"when": when, "knobs": [knob]}


def write_log(path, events):
    with open(path, "w") as file:
        for i, (stage, meta) in enumerate(events):
            line = {"t_ns": 1760400000000000000 + i, "stage": stage, "ok": True, "meta": meta}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def skeleton(case, folder, seed):
    """Let the command make configuration and plan of a study with these arms and gates; returns the plan."""
    arms = [{"name": arm["name"], "baseline": arm["role"] == "baseline"} for arm in case["cells"][0][1]]
    study = {"workload": "null", "ceilings": "none", "seed": seed, "device": {"kind": "fake", "script": "step_ns=1000"},
             "measure": {"stop": "repeats", "repeats": 30, "replica": list(range(1, len(case["cells"]) + 1))},
             "arms": [{k: v for k, v in arm.items() if v} for arm in arms]}
    if "gates" in case:
        study["gates"] = case["gates"]
    with open(folder + ".yaml", "w") as file:
        json.dump(study, file)
    done = subprocess.run([os.environ["INFEROMETER"], "run", "-c", folder + ".yaml", "--out", folder],
                          capture_output=True, text=True)
    assert done.returncode in (0, 1, 3, 4), done.stderr
    for name in ("derived.json", "verdict.json", "metrics.json", "report.csv", "report.html", "report.md",
                 "manifest.sha256"):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    shutil.rmtree(os.path.join(folder, "samples"))
    os.mkdir(os.path.join(folder, "samples"))
    with open(os.path.join(folder, "plan.json")) as file:
        return json.load(file)


def from_elsewhere(folder, plan):
    """What was published was measured by a program that is not here: the lock names a workload of a plugin that nobody
    loads, so that its plan cannot be made again and is believed as the publication has it."""
    path = os.path.join(folder, "config.lock.json")
    with open(path) as file:
        lock = json.load(file)
    lock["parameters"]["workload"] = ["published"]
    lock["gates"] = plan["gates"]
    content = {key: lock[key] for key in ("parameters", "arms", "gates")}
    lock["hash"] = hashlib.sha256(json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()
    lock["plugins"] = [{"name": "published", "file": "published.so", "sha256": 64 * "0", "abi": 1}]
    with open(path, "w") as file:
        json.dump(lock, file, indent=2)
    plan["config_hash"] = lock["hash"]
    del plan["machine"], plan["rules"]


def make(name, folder, seed=1, cells=None):
    case = CASES[name]
    cells = case["cells"] if cells is None else cells
    plan = skeleton(case, folder, seed)
    if "plan_gates" in case:  # the command refuses to run it: a folder from elsewhere
        gate = {"cell": "", "interval": True, "least_n": 0, "classes": ""}
        plan["gates"] = [{**gate, **g} for g in case["plan_gates"]]
    from_elsewhere(folder, plan)
    plan["run_id"] = plan["config_hash"][:12]
    session = {"run_id": plan["run_id"], "config_hash": plan["config_hash"], "version": "0.1.0"}
    events = [("run_start", session), ("load", {"when": "before", "foreign_load": None}), locks("before")]
    for c, (cell_name, arms) in enumerate(cells):
        cell = plan["cells"][c]
        template = cell["arms"][0]
        cell["name"] = cell_name
        cell["workload"] = "published"
        cell["arms"] = [plan_arm(template, arm) for arm in arms]
        cell["passes"] = [{"name": "latency", "instruments": [], "columns": [], "column_units": []}]
        slots, samples = record(case, arms, int(cell["seed"]))
        if "tamper" in case:
            tamper(slots, samples, case["tamper"])
        stem = os.path.join(folder, "samples", f"{c}-latency")
        write_csv(stem + ".csv", ["slot", "start_ns", "duration_ns"], samples)
        write_csv(stem + "-slots.csv", SLOT, slots)
        own = list(cell_events(case, cell_name, arms, slots))
        if "energy" in arms[0]:
            cell["passes"].append({**cell["passes"][0], "name": "energy"})
            own[-1:-1] = energy_pass(folder, c, cell_name, arms[0], int(cell["seed"]), slots[-1][6])
        events += own
    events += [locks("after"), ("load", {"when": "after", "foreign_load": None}),
               ("run_done", {"config_hash": plan["config_hash"]})]
    with open(os.path.join(folder, "plan.json"), "w") as file:
        json.dump(plan, file, indent=2)
    write_log(os.path.join(folder, "run.log"), events)
    if "splice" in case and seed == 1:
        splice(name, folder)


def splice(name, folder):
    """The second cell's samples and journal are another run's."""
    other = folder + ".other"
    make(name, other, 2, [CASES[name]["cells"][0], ("cycle", CASES[name]["splice"])])
    for end in ("latency.csv", "latency-slots.csv"):
        shutil.copy(os.path.join(other, "samples", "1-" + end), os.path.join(folder, "samples", "1-" + end))
    logs = []
    for place in (folder, other):
        with open(os.path.join(place, "run.log")) as file:
            logs.append(file.readlines())
    start = [i for i, line in enumerate(logs[0]) if '"cell":"cycle"' in line][0]
    head = [line for line in logs[1] if '"stage":"run_start"' in line]
    tail = [line for line in logs[1] if '"cell":"cycle"' in line]
    end = [line for line in logs[0][start:] if '"cell":"cycle"' not in line]
    with open(os.path.join(folder, "run.log"), "w") as file:
        file.writelines(logs[0][:start] + head + tail + end)


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2])
