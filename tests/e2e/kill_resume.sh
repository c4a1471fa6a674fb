#!/usr/bin/env bash
# kill -9 at any call that changes the folder, and at any time, several times in a row on one folder: after --resume the
# measured record equals that of a run that nobody killed, in the order of arms, the samples and their durations, the
# numbers derived from it are the same, and `verify` passes. The fake device makes the comparison exact; the shim of
# tests/fault kills at the k-th call, for every k of a whole run: before the call, or after half of a write.
source "$(dirname "$0")/lib.sh"
[ -n "${IFM_FAULT:-}" ] || skip "a sanitizer cannot live beside a preloaded shim"
need python3 python3
cat >study.yaml <<'YAML'
workload: null
seed: 7
ceilings: none
device:
  kind: fake
  script: "step_ns=1000; arm.slow.step_ns=2000; arm.slower.step_ns=4000"
measure:
  warmup: 10
  stop: repeats
  repeats: 240
  replica: [1, 2]
arms:
  - name: quick
    baseline: true
  - name: slow
  - name: slower
YAML
PYTHONPATH=$IFM_SOURCE/tests/fault PYTHONDONTWRITEBYTECODE=1 python3 - <<'PY'
import json, os, random, signal, subprocess, time
from folder import *

chance = random.Random(int(os.environ.get("SEED", 1)))
undisturbed = Whole("study.yaml", 3)
calls = undisturbed.calls


def kill(folder, action, k):
    arguments = go_on(folder, "study.yaml")
    before = whole(folder, 3)
    status, errors = run(*arguments, calls=CHANGING, below=folder, at=k, do=action)
    if status not in (-signal.SIGKILL, 0):
        fail(f"{action} at call {k} of {' '.join(arguments)}: status {status}: {errors}")
    lost = still_there(before, folder, 3)
    if lost:
        fail(f"{action} at call {k} of {' '.join(arguments)}: {lost}")
    return status != 0


at_calls = 0
for k in range(1, calls + 1):
    action = "torn" if k % 3 == 0 else "kill"
    fresh("one")
    at_calls += kill("one", action, k)
    undisturbed.finish("one", f"{action} at call {k} of {calls}")
in_a_row = 0
for _ in range(10):
    fresh("row")
    for _ in range(4):
        in_a_row += kill("row", chance.choice(["kill", "torn"]), chance.randint(1, calls // 2))
    undisturbed.finish("row", f"{in_a_row} kills in a row")
outside = 0
for _ in range(20):
    fresh("timed")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen([COMMAND, *go_on("timed", "study.yaml")], **quiet)
    time.sleep(chance.uniform(0, undisturbed.took_s))
    child.kill()
    outside += child.wait() != 0
    undisturbed.finish("timed", "killed from outside")
# A real device, whose times nobody knows beforehand: whole blocks stay, in the planned order, and verify holds.
real = ["decode", "--kv-len", "512", "--batch", "1", "--q-heads", "2", "--kv-heads", "1", "--head-dim", "64",
        "--layers", "1", "--threads", "1", "--ceilings", "none", "--repeats", "200", "--warmup", "5", "--out", "cpu"]
on_cpu = 0
began = time.monotonic()
status, errors = run(*real)
took_s = time.monotonic() - began
if status != 0:
    fail(f"a run on the processor: {errors}")
fresh("cpu")
while on_cpu < 20:
    arguments = ["run", "--resume", "cpu"] if os.path.exists("cpu/plan.json") else real
    arms = len(json.load(open("cpu/plan.json"))["cells"][0]["arms"]) if arguments != real else 2
    before = whole("cpu", arms)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen([COMMAND, *arguments], **quiet)
    time.sleep(chance.uniform(0, 0.8 * took_s))
    child.kill()
    on_cpu += child.wait() != 0
    lost = still_there(before, "cpu", arms)
    if lost:
        fail(f"kill {on_cpu} of a run on the processor: {lost}")
    if child.returncode == 0:
        for arguments in (["verify", "cpu"],):
            status, errors = run(*arguments)
            if status != 0:
                fail(f"after {on_cpu} kills on the processor: {errors}")
        fresh("cpu")
if os.path.exists("cpu/plan.json"):
    for arguments in (["run", "--resume", "cpu"], ["verify", "cpu"]):
        status, errors = run(*arguments)
        if status != 0:
            fail(f"{' '.join(arguments)} after {on_cpu} kills on the processor: {errors}")
    for name, slots, samples in records("cpu"):
        if [int(slot[0]) for slot in slots] != sorted(int(slot[0]) for slot in slots):
            fail(f"{name}: blocks are out of order")
        if len({tuple(sample) for sample in samples}) != len(samples):
            fail(f"{name}: a sample stands twice")
if at_calls + in_a_row < 100:
    fail(f"only {at_calls + in_a_row} kills")
print(f"{at_calls} kills at the calls of a run, {in_a_row} in a row, {outside} from outside: equal records "
      f"and numbers; {on_cpu} on the processor: no block lost")
PY
