#!/usr/bin/env bash
# Two commands at one folder: two runs, two resumptions, derive during a run, report during derive, two derives. Of two
# that write one works, or both one after the other; the other says in one sentence who is at work. Nothing is torn: the
# folder is always that of one undisturbed run.
source "$(dirname "$0")/lib.sh"
[ -n "${IFM_FAULT:-}" ] || skip "a sanitizer cannot live beside a preloaded shim"
need python3 python3
cat >study.yaml <<'YAML'
workload: null
seed: 7
ceilings: none
device:
  kind: fake
  script: "step_ns=1000; arm.slow.step_ns=2000"
measure:
  warmup: 10
  stop: repeats
  repeats: 240
arms:
  - name: quick
    baseline: true
  - name: slow
YAML
PYTHONPATH=$IFM_SOURCE/tests/fault PYTHONDONTWRITEBYTECODE=1 python3 - <<'PY'
import fcntl, os, random, subprocess, time
from folder import *

undisturbed = Whole("study.yaml", 2)
chance = random.Random(int(os.environ.get("SEED", 1)))
fresh("cut")
run("run", "-c", "study.yaml", "--out", "cut", calls=CHANGING, below="cut", at=undisturbed.calls // 2, do="kill")
refused = races = 0
NEW = ["run", "-c", "study.yaml", "--out", "two"]
AGAIN = ["run", "--resume", "two"]


def race(template, first, second, together):
    """Both at (nearly) the same time; the second after as long as may be."""
    global refused, races
    fresh("two", template)
    children = []
    for arguments in (first, second):
        children.append(subprocess.Popen([COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        time.sleep(0 if together else chance.uniform(0, 0.02))
    worked = 0
    for arguments, child in zip((first, second), children):
        errors = child.communicate(timeout=LIMIT_S)[1].decode()
        what = f"{' '.join(first)} beside {' '.join(second)}"
        said = [line for line in errors.splitlines() if line.startswith("error: ")]
        if child.returncode == 0:
            worked += 1
        elif child.returncode == 2 and len(said) == 1 and ("at work in this folder" in said[0] or "not empty" in said[0]
                or "not a run folder" in said[0] or "No such file" in said[0]):
            refused += 1
        elif child.returncode == 3 and template == "cut" and arguments[0] == "derive" and "run --resume" in errors:
            refused += 1  # it came first, and the record is as the killed run left it
        else:
            fail(f"{what}: status {child.returncode}: {errors}")
    if template == "cut" and children[0].returncode != 0 and (second != AGAIN or children[1].returncode != 0):
        return undisturbed.finish("two", what)  # no resumption had its turn
    if worked == 0:
        fail(f"{what}: neither worked")
    if worked == 2 and first[:2] == NEW[:2]:
        fail(f"{what}: two runs measured into one folder")
    undisturbed.compare("two", what, {})
    races += 1


i = 0
while i < 10 or (refused < 5 and i < 100):
    i += 1
    race(None, NEW, NEW, i % 2 == 0)
    race("cut", AGAIN, AGAIN, i % 2 == 0)
    race("cut", AGAIN, ["derive", "two"], False)
    race("whole", ["derive", "two"], ["judge", "two"], True)
    race("whole", ["report", "two"], ["derive", "two"], i % 2 == 0)
    race("whole", ["derive", "two"], ["derive", "two"], i % 2 == 0)
    race("whole", ["derive", "two"], ["verify", "two"], i % 2 == 0)
if refused < 5:
    fail(f"only {refused} of {races} races met")
# A run that stands still, and a second command.
fresh("two", "whole")
holder = os.open("two", os.O_RDONLY)
fcntl.flock(holder, fcntl.LOCK_EX)
status, errors = run("derive", "two")
os.close(holder)
if status != 2 or "at work in this folder" not in errors:
    fail(f"a folder that another process has locked: status {status}: {errors}")
# A file system that has no locks keeps nobody from measuring.
fresh("two")
for arguments in (NEW, AGAIN, ["derive", "two"], ["verify", "two"]):
    status, errors = run(*arguments, calls="lock", at=1, keep=1, do="ENOSYS")
    if arguments != AGAIN and status != 0 or arguments == AGAIN and status == 5:
        fail(f"{' '.join(arguments)} without locks: status {status}: {errors}")
undisturbed.compare("two", "without locks", {})
print(f"{races} races, {refused} refusals, every folder that of one undisturbed run")
PY
