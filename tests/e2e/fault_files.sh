#!/usr/bin/env bash
# A full disk, a read-only folder, I/O errors, short and interrupted writes, at every call of a run, a resumption,
# derive, report and judge that changes the folder, and at every read of verify and derive: one clear error with the
# documented
# status, nothing torn under a published name, nothing lost that was recorded. Once the fault is gone the folder goes on
# to the result of an undisturbed run. What a command can ride out (a short write, EINTR) leaves no trace at all.
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
  repeats: 160
arms:
  - name: quick
    baseline: true
  - name: slow
gates:
  - metric: speedup
    op: at_least
    threshold: 0.1
YAML
PYTHONPATH=$IFM_SOURCE/tests/fault PYTHONDONTWRITEBYTECODE=1 python3 - <<'PY'
import json, os, signal
from folder import *

ARMS = 2
undisturbed = Whole("study.yaml", ARMS)
faults = 0


def check_error(what, status, errors, wanted):
    """One error that says what, where and what to do, and a documented status."""
    lines = errors.splitlines()
    said = [line for line in lines if line.startswith("error: ")]
    if status not in wanted:
        fail(f"{what}: status {status}, not one of {wanted}: {errors}")
    if len(said) != 1 or any("internal:" in line for line in said):
        fail(f"{what}: not one clear error: {errors}")
    if not any(line.startswith("  hint: ") and len(line) > 12 for line in lines):
        fail(f"{what}: the error does not say what to do: {errors}")


def check_published(folder, what):
    """Whatever stands under a published name is whole."""
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        if os.path.isdir(os.path.join(folder, name)):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read()
        if name.endswith(".json"):
            try:
                json.loads(text)
            except ValueError:
                fail(f"{what}: {name} is torn")
        if name == "report.html" and "</html>" not in text[-20:]:
            fail(f"{what}: report.html is torn")
        if name in ("manifest.sha256", "report.csv") and not text.endswith("\n"):
            fail(f"{what}: {name} is torn")


def strike(arguments, template, k, action, keep, calls=CHANGING):
    """One fault at call k; then the folder goes on without it."""
    global faults
    fresh("one", template)
    before = whole("one", ARMS)
    what = f"{action}{' from' if keep else ' at'} call {k} of {' '.join(arguments)}"
    fault = {"calls": calls, "below": "one", "at": k, "do": action}
    if keep:
        fault["keep"] = 1
    status, errors = run(*arguments, **fault)
    faults += 1
    check_published("one", what)
    lost = still_there(before, "one", ARMS)
    if lost:
        fail(f"{what}: {lost}")
    if action in ("short", "EINTR"):
        if status != 0:
            fail(f"{what}: status {status}: {errors}")
        undisturbed.compare("one", what, before)
        return
    if status != 0:
        check_error(what, status, errors, (2, 5))
    undisturbed.finish("one", what)


def strike_all(arguments, template, step):
    fresh("one", template)
    n = count(CHANGING, "one", *arguments)
    for action, keep, every in (("ENOSPC", True, 1), ("EIO", False, 1), ("EROFS", True, 5), ("EACCES", False, 7),
                                ("short", False, 3), ("EINTR", False, 5)):
        for k in range(1 + every // 2, n + 1, every * step):
            calls = "write,cut" if action == "EINTR" else CHANGING
            strike(arguments, template, k, action, keep, calls)
    return n


n = strike_all(["run", "-c", "study.yaml", "--out", "one"], None, 1)
fresh("cut")
status, _ = run("run", "-c", "study.yaml", "--out", "cut", calls=CHANGING, below="cut", at=n // 2, do="kill")
if status != -signal.SIGKILL or not os.path.exists("cut/plan.json"):
    fail("the run was not killed in its middle")
strike_all(["run", "--resume", "one"], "cut", 2)
for command in ("derive", "report", "judge"):
    strike_all([command, "one"], "whole", 3)
# A name that is not synced may be gone after a power failure: those of records and journal, and of what is published.
for arguments, made in ((["run", "-c", "study.yaml", "--out", "one"], 4), (["derive", "one"], 0),
                        (["report", "one"], 0), (["judge", "one"], 0)):
    named = []
    for calls in ("rename", "folder"):
        fresh("one", "whole" if made == 0 else None)
        named.append(count(calls, "one", *arguments))
    if named[0] == 0 or named[1] < named[0] + made:
        fail(f"{' '.join(arguments)}: {named[0]} renamed, {made} made, but {named[1]} folders synced")
changing = faults
# Reading: an answer that rests on half of the files would be worse than none.
verified = 0
for command, calls, action in (("verify", "read", "EIO"), ("verify", "read", "short"), ("verify", "stat", "EIO"),
                               ("derive", "read", "EIO"), ("derive", "stat", "EIO")):
    fresh("one", "whole")
    n = count(calls, "one", command, "one")
    for k in range(1, n + 1):
        fresh("one", "whole")
        status, errors = run(command, "one", calls=calls, below="one", at=k, do=action)
        faults += 1
        what = f"{action} at {calls} {k} of {n} of {command}"
        if action == "EIO" and calls == "read" and status == 0 and command == "verify":
            verified += 1
        if action == "short" and status != 0:
            fail(f"{what}: {errors}")
        if status != 0:
            check_error(what, status, errors, (2, 3, 5))
        undisturbed.finish("one", what)
if verified > 2:  # opening and reading private.json, which verify can do without
    fail(f"verify says so after {verified} reads that failed")
print(f"{changing} faults at calls that change a folder and {faults - changing} at reads: none lost or tore anything")
PY
