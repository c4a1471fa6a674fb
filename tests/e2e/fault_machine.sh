#!/usr/bin/env bash
# A clock that stops, runs backwards or skips, a wall clock that jumps, threads that are moved to other CPUs, CPUs that
# are gone, memory that runs out while a cell opens, pages that come from a disk: each is refused or marked with its
# reason, on a real device; no time of zero or less is published, and nothing hangs.
source "$(dirname "$0")/lib.sh"
[ -n "${IFM_FAULT:-}" ] || skip "a sanitizer cannot live beside a preloaded shim"
need python3 python3
cat >study.yaml <<YAML
workload: null
seed: 7
ceilings: none
device:
  kind: cpu
  threads: 1
null:
  spin: 200000
measure:
  warmup: 10
  warmup_cap: 0.2
  stop: repeats
  repeats: 160
  replica: [1, 2]
arms:
  - name: one
    baseline: true
  - name: other
YAML
PYTHONPATH=$IFM_SOURCE/tests/fault PYTHONDONTWRITEBYTECODE=1 python3 - <<'PY'
import os, random, re, subprocess, time
from folder import *

done = []


def events(folder, stage):
    with open(folder + "/run.log", encoding="utf-8") as file:
        return [event["meta"] for event in map(json.loads, file) if event["stage"] == stage]


def numbers(folder, metric):
    with open(folder + "/derived.json", encoding="utf-8") as file:
        return [number for number in json.load(file)["numbers"] if number["metric"] == metric]


def no_time_below_zero(folder, what):
    for name, slots, samples in records(folder):
        least = min((int(sample[2]) for sample in samples), default=1)  # a clock may break before the first sample
        if least < 0 or (least == 0 and not events(folder, "clock_broken")):
            fail(f"{what}: a sample of no time, or less, was recorded in {name}")
    for number in numbers(folder, "step_ns"):
        if number["value"] is not None and number["value"] <= 0:
            fail(f"{what}: {number}")


def measure(what, wanted, *more, **fault):
    fresh("one")
    status, errors = run("run", "-c", "study.yaml", "--out", "one", *more, **fault)
    if status not in wanted:
        fail(f"{what}: status {status}, not {wanted}: {errors}")
    if os.path.exists("one/derived.json"):
        no_time_below_zero("one", what)
        code, said = run("verify", "one")
        if code != 0:
            fail(f"{what}, then verify: {said}")
    done.append(what)
    return errors


def refused(what, folder="one"):
    broken = events(folder, "clock_broken")
    if not broken or not events(folder, "cell_failed"):
        fail(f"{what}: the journal does not say so")
    for number in numbers(folder, "step_ns"):
        if number["cell"] == broken[0]["cell"] and number["state"] == "ok":
            fail(f"{what}: a number stands all the same: {number}")


def skipped(least_s):
    """Blocks over which the clock counted so many seconds more than the clock since boot, or fewer. A busy machine may
    have others marked, by milliseconds."""
    said = re.compile(r"the clock counted ([-0-9.]+) s, the clock since boot ([-0-9.]+) s")
    found = [(mark, said.search(mark["reason"])) for mark in events("one", "disturbed")]
    return [mark for mark, match in found if match and abs(float(match[1]) - float(match[2])) >= least_s]


# ---- clocks ----
chance = random.Random(int(os.environ.get("SEED", 1)))
measure("wall clock to and fro", (0,), wall=1)
if skipped(1000) or events("one", "clock_broken"):
    fail("the wall clock disturbed a measurement")
# Behind the warm-up of the first cell. How often a cell reads the clock depends on how fast the machine is: counted.
behind = {"calls": "clock", "from": '"stage":"warmup"', "below": "one"}
measure("clock: counted", (0,), count="calls", until='"stage":"cell_done"', **behind)
with open("calls", encoding="ascii") as file:
    readings = int(file.read()) // 2 # the same again, or half of it at the least
for action in ("freeze", "back"):
    for _ in range(6):
        k = chance.randint(1, readings)
        measure(f"clock: {action} at reading {k}", (3,), at=k, do=action, until='"stage":"never"', **behind)
        refused(f"clock: {action} at reading {k}")
measure("clock: still from the start", (3,), calls="clock", at=1, do="freeze")
refused("clock: still from the start")
for k in range(readings // 4, readings // 4 + 10):
    measure("clock: skips five minutes", (0, 3), "--threads", "1", at=k, do="jump", ns=300 * 10**9, **behind)
    marked = skipped(299)
    if len(marked) > 1:
        fail(f"a clock that skipped five minutes once: {marked}")
    with open("one/verdict.json", encoding="utf-8") as file:
        verdict = json.load(file)
    if marked:
        if verdict["exit_code"] != 0: # its block is marked, and the others stand
            fail(f"a clock that skipped inside a block: {verdict['reasons']}")
        break
    if not any("run.log" in reason for reason in verdict["reasons"]): # between two blocks: the journal contradicts them
        fail(f"a clock that skipped five minutes between two blocks, reading {k}, goes unnoticed")
else:
    fail("a clock that skipped five minutes goes unnoticed")
if [n["value"] for n in numbers("one", "blocks_marked") if n["cell"] == marked[0]["cell"]][:1] == [0]:
    fail("a block with a clock that skipped is not counted as disturbed")

# ---- processors ----
errors = measure("no CPU to be had at the start", (4,), calls="pin", at=1, keep=1, do="EINVAL")
if "cannot pin" not in errors or "hint:" not in errors:
    fail(f"a CPU that cannot be had: {errors}")
started = {"from": '"stage":"warmup"', "below": "one"}
measure("a thread elsewhere", (0,), calls="pinned", at=3, do="EINVAL", **started)
if not any("CPU" in mark["reason"] for mark in events("one", "disturbed")):
    fail("a thread that was elsewhere is not in the journal")
measure("a thread elsewhere, and its CPU gone", (0, 3), calls="pinned,pin", at=3, keep=1, do="EINVAL", **started)
failed = events("one", "cell_failed")
if not failed or "is gone" not in failed[0]["reason"] or not failed[0]["remedy"]:
    fail(f"a CPU that is gone: {failed}")
if os.cpu_count() > 1:
    # Up to ten runs, until one notices: a busy machine may move the threads of a run only when it has measured.
    for isolation in ["processes"] + ["shared"] * 10:
        fresh("moved")
        child = subprocess.Popen([COMMAND, "run", "-c", "study.yaml", "--out", "moved", "--isolation", isolation,
                                  "--repeats", "800"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        moves = 0
        while child.poll() is None:
            try:
                if moves < 20 and isolation == "shared" and events("moved", "warmup"):
                    for thread in os.listdir(f"/proc/{child.pid}/task"):
                        os.sched_setaffinity(int(thread), range(os.cpu_count()))
                    moves += 1
            except (OSError, ValueError):
                pass
            time.sleep(0.02)
        if child.returncode != 0:
            fail(f"threads moved from outside: status {child.returncode}: {child.stderr.read().decode()}")
        noticed = any("CPU" in mark["reason"] for mark in events("moved", "disturbed"))
        if isolation == "processes" and noticed:
            fail("worker processes that nobody touched are said to have moved")
        done.append(f"{isolation}: threads moved {moves} times")
        if noticed:
            break
    else:
        fail("threads were moved from outside, and nothing says so")

# ---- memory ----
# What a cell needs for itself fails that cell, and the other is measured; where the command's own bookkeeping gets no
# memory, it ends with one sentence, and goes on when there is some.
with open("decode.yaml", "w", encoding="ascii") as file:
    file.write("""workload: decode
seed: 7
ceilings: none
device: {kind: cpu, threads: 1}
decode: {kv_len: 512, batch: 1, q_heads: 2, kv_heads: 1, head_dim: 64, layers: 1, compress: [2]}
measure: {warmup: 10, warmup_cap: 0.1, stop: repeats, repeats: 40, slot_min: 0.0002, replica: [1, 2]}
""")


def cell_name(replica):
    return [meta["cell"] for meta in events("plain", "cell_start")][replica]


fresh("plain")
status, errors = run("run", "-c", "decode.yaml", "--out", "plain")
if status != 0:
    fail(errors)
opening = {"calls": "alloc", "below": "one", "from": f'"stage":"cell_start","ok":true,"meta":{{"cell":"{cell_name(0)}"',
           "until": '"stage":"calibrate"'}
failed_cells = ended = 0
for least in (4096, 0):
    fresh("one")
    status, errors = run("run", "-c", "decode.yaml", "--out", "one", count="calls", least=least, **opening)
    with open("calls", encoding="ascii") as file:
        n = int(file.read())
    for k in range(1, n + 1, max(1, n // 12)):
        fresh("one")
        what = f"no memory at allocation {k} of {n} of {least} bytes or more"
        status, errors = run("run", "-c", "decode.yaml", "--out", "one", at=k, do="ENOMEM", least=least, **opening)
        lost = events("one", "cell_failed")
        done.append(what)
        if lost:
            failed_cells += 1
            if "memory" not in lost[0]["reason"] + lost[0]["remedy"] and "refuses" not in lost[0]["reason"]:
                fail(f"{what}: {lost}")
            if not lost[0]["remedy"] or [meta["cell"] for meta in events("one", "cell_done")] != [cell_name(1)]:
                fail(f"{what}: no remedy, or the other cell was not measured: {lost}")
        elif not events("one", "run_done"):
            ended += 1
            if status != 5 or "memory" not in errors.lower():
                fail(f"{what}: status {status}: {errors}")
            code, said = run("run", "--resume", "one")
            if code != 0:
                fail(f"{what}, then --resume: {said}")
        elif status != 0:
            reasons = []
            if os.path.exists("one/verdict.json"):
                with open("one/verdict.json", encoding="utf-8") as file:
                    reasons = json.load(file)["reasons"]
            fail(f"{what}: status {status}: {errors} {reasons}")
if failed_cells < 5:
    fail(f"only {failed_cells} cells failed for want of memory")

# A page that came from a disk marks its block.
measure("undisturbed", (0,))
before = [number["value"] for number in numbers("one", "blocks_marked")]
path = "one/samples/0-latency-slots.csv"
with open(path, encoding="ascii") as file:
    table = [row.split(",") for row in file.read().split("\n")]
column = table[0].index("faults_major")
quiet = [row for row in table[1:-1] if row[1] == "1"]
quiet[-1][column] = "3"
with open(path, "w", encoding="ascii") as file:
    file.write("\n".join(",".join(row) for row in table))
os.remove("one/manifest.sha256")
with open("one/run.log", encoding="utf-8") as file: # as an older version wrote it, without a chain that the edit breaks
    lines = [json.loads(line) for line in file]
with open("one/run.log", "w", encoding="utf-8") as file:
    for line in lines:
        del line["prev"]
        line["meta"].pop("plan_sha256", None)
        if line["stage"] == "environment":
            line["meta"]["fingerprint"]["binary"]["git_revision"] = "0" * 40
        if line["stage"] != "block":
            file.write(json.dumps(line) + "\n")
with open("one/plan.json", encoding="utf-8") as file:
    plan = json.load(file)
del plan["rules"]
with open("one/plan.json", "w", encoding="utf-8") as file:
    json.dump(plan, file)
status, errors = run("derive", "one")
after = [number["value"] for number in numbers("one", "blocks_marked")]
if status != 0 or not before or after[0] not in (before[0] + 1, before[0]) or (after == before and before[0] == 0):
    fail(f"major faults mark no block: {before} before, {after} after: {errors}")
print(f"{len(done)} troubles of clocks, processors and memory, each refused or marked")
PY
