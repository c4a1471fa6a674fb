"""What the fault scripts ask of run folders: run a command with one fault, and compare what stands afterwards.

A folder is compared by what must not depend on when it was made: the measured slots with the durations of their
samples, and the derived numbers without what belongs to a session.
"""

import json
import os
import shutil
import subprocess
import sys
import time

CHANGING = "write,sync,folder,rename,open,mkdir,unlink,cut"
COMMAND = os.environ["INFEROMETER"]
SHIM = os.environ["IFM_FAULT"]
LIMIT_S = 250  # a command that takes longer hangs, on the slowest machine


def fail(message):
    sys.exit(message)


def run(*arguments, **fault):
    """Run the command; `fault` names members of the shim's environment. Returns (status, standard error)."""
    environment = dict(os.environ)
    if fault:
        environment["LD_PRELOAD"] = SHIM
        for key, value in fault.items():
            environment["IFM_FAULT_" + key.upper()] = str(value)
    try:
        done = subprocess.run(
            [COMMAND, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        fail(f"{' '.join(arguments)} with {fault} hangs")
    return done.returncode, done.stderr.decode()


def count(calls, below, *arguments, **fault):
    """How many of the calls a command makes."""
    status, errors = run(*arguments, calls=calls, below=below, count="calls", **fault)
    if status != 0:
        fail(f"{' '.join(arguments)}: {errors}")
    with open("calls", encoding="ascii") as file:
        return int(file.read())


def rows(path):
    """The whole rows of a file below its header."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return file.read().split("\n")[1:-1]


def records(folder):
    """(name, slots, samples) of every record, as lists of lists of text."""
    below = os.path.join(folder, "samples")
    if not os.path.isdir(below):
        return
    for name in sorted(os.listdir(below)):
        if name.endswith("-slots.csv"):
            slots = [row.split(",") for row in rows(os.path.join(below, name))]
            samples = [row.split(",") for row in rows(os.path.join(below, name.replace("-slots.csv", ".csv")))]
            yield name, slots, samples


def whole(folder, arms):
    """The slots of whole blocks and their samples, by record: what nothing may take away or change."""
    found = {}
    for name, slots, samples in records(folder):
        size = {"0": arms, "1": 2 * arms}
        at = 0
        while at < len(slots) and at + size[slots[at][1]] <= len(slots):
            after = at + size[slots[at][1]]
            if sum(int(slot[3]) for slot in slots[:after]) > len(samples):
                break
            at = after
        n = sum(int(slot[3]) for slot in slots[:at])
        found[name] = (slots[:at], samples[:n])
    return found


def still_there(before, folder, arms):
    """None, or what of `before` (of whole) the folder has lost."""
    now = whole(folder, arms)
    for name, (slots, samples) in before.items():
        new_slots, new_samples = now.get(name, ([], []))
        if new_slots[: len(slots)] != slots or new_samples[: len(samples)] != samples:
            return f"{name}: a whole block was lost or changed"
    return None


def measured(folder):
    """Every measured slot in order: arm, samples, inner, durations."""
    found = []
    for name, slots, samples in records(folder):
        at = 0
        for slot in slots:
            after = at + int(slot[3])
            if slot[1] == "1":
                found.append((name, slot[2], slot[3], slot[4], [sample[2] for sample in samples[at:after]]))
            at = after
        if at != len(samples):
            found.append((name, "samples of no slot", len(samples) - at))
    return found


def strip(node):
    """Without what belongs to a session: which run it was, and how often it warmed up."""
    if isinstance(node, dict):
        return {key: strip(value) for key, value in node.items() if key != "run_id"}
    if isinstance(node, list):
        return [strip(item) for item in node if not isinstance(item, dict) or item.get("metric") != "warmup_samples"]
    return node


def derived(folder):
    with open(os.path.join(folder, "derived.json"), encoding="utf-8") as file:
        return strip(json.load(file))


def difference(a, b, path=""):
    """Where two trees first differ, as text; None when they do not."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b)):
            found = difference(a.get(key), b.get(key), f"{path}.{key}")
            if found:
                return found
        return None
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (one, other) in enumerate(zip(a, b)):
            found = difference(one, other, f"{path}[{i}]")
            if found:
                return found
        return None
    if isinstance(a, float) and isinstance(b, float) and abs(a - b) < 1e-9:
        return None  # a slope over equal blocks is as far from 0 as their sum rounds, and that depends on when they ran
    return None if a == b else f"{path}: {str(a)[:200]} and {str(b)[:200]}"


def temporary(folder):
    return [name for _, _, names in os.walk(folder) for name in names if name.endswith(".tmp")]


def go_on(folder, study):
    """A folder with a plan goes on; one without was ended before anything was measured, and starts again."""
    if os.path.exists(os.path.join(folder, "plan.json")):
        return ["run", "--resume", folder]
    return ["run", "-c", study, "--out", folder]


class Whole:
    """The run that nothing disturbed, and the comparison of others with it."""

    def __init__(self, study, arms):
        self.study, self.arms = study, arms
        began = time.monotonic()
        self.calls = count(CHANGING, "whole", "run", "-c", study, "--out", "whole")
        self.took_s = time.monotonic() - began
        self.measured, self.derived = measured("whole"), derived("whole")
        if len(self.measured) < 12 or len({slot[1] for slot in self.measured}) != arms:
            fail("the undisturbed run is too short to compare anything with")

    def finish(self, folder, what):
        """Go on with a folder until it is done, and compare."""
        before = whole(folder, self.arms)
        arguments = go_on(folder, self.study)
        status, errors = run(*arguments)
        if status != 0:
            fail(f"{what}, then {' '.join(arguments)}: status {status}: {errors}")
        self.compare(folder, what, before)

    def compare(self, folder, what, before):
        lost = still_there(before, folder, self.arms)
        if lost:
            fail(f"{what}: {lost}")
        status, errors = run("verify", folder)
        if status != 0:
            fail(f"{what}, then verify: {errors}")
        if measured(folder) != self.measured:
            fail(f"{what}: the measured record differs from an undisturbed run's")
        found = difference(self.derived, derived(folder))
        if found:
            fail(f"{what}: derived.json differs: {found}")
        if temporary(folder):
            fail(f"{what}: left behind: {temporary(folder)}")


def fresh(folder, template=None):
    shutil.rmtree(folder, ignore_errors=True)
    if template is not None:
        shutil.copytree(template, folder)
    return folder
