#!/usr/bin/env python3
"""check: a recorded run folder still derives to the numbers that it had when it was recorded.

check.py INFEROMETER FOLDER... copies each folder. `verify` must accept the copy as it is, or say that its numbers
follow other definitions (another schema of derived.json); `derive` must give each number of FOLDER.csv bit for bit, and
`verify` must accept what `derive` wrote. A number that is gone or differs is
named with its folder, cell and arm. Numbers, findings and files that are new are nobody's loss.

The folders were recorded on a processor with fused multiply-add. The C library's logarithm differs in its last bit on
one without: there reals may differ by as much as `verify` allows, 1e-12.
"""
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

import published


def command(*arguments):
    """What went wrong, as lines."""
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=100)
    if done.returncode == 0:
        return []
    return [f"{arguments[1]} ends with {done.returncode}: {done.stderr.strip()}"]


def has_fma():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        return any(line.startswith("flags") and " fma " in line for line in file)


def same(a, b, exact):
    if exact or a == b:
        return a == b
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-12)
    except ValueError:
        return False


def differences(recorded, derived, exact):
    for identity, was in recorded.items():
        cell, arm, what = identity
        where = f"cell {cell or '-'}, arm {arm or '-'}, {what}"
        now = derived.get(identity)
        if now is None:
            yield f"{where}: was {' '.join(was)}, is gone"
            continue
        for name, a, b in zip(published.HEADER[3:], was, now):
            if not same(a, b, exact):
                yield f"{where}: {name} was {a or 'none'}, is {b or 'none'}"


def bound_hides_load(program, copy):
    """A bound of a machine that other programs loaded says so in its heading, and no other does."""
    said = subprocess.run([program, "report", copy], capture_output=True, text=True, check=False, timeout=100).stdout
    with open(os.path.join(copy, "run.log"), encoding="utf-8") as file:
        loads = [event["meta"]["foreign_load"] for event in map(json.loads, file) if event["stage"] == "load"]
    loaded = any(load is not None and load > 0.1 for load in loads)
    if "TPOT at least" in said and ("under load" in said) != loaded:
        yield f"the heading of the bound and the load {loads} do not agree"


def check(program, folder):
    with tempfile.TemporaryDirectory() as scratch:
        copy = os.path.join(scratch, "run")
        shutil.copytree(folder, copy)
        recorded = published.read_back(folder + ".csv")
        with open(os.path.join(copy, "derived.json"), encoding="utf-8") as file:
            own = f"follow the definitions of schema {json.load(file)['schema']}, "
        wrong = [line for line in command(program, "verify", copy) if own not in line]
        wrong += command(program, "derive", copy)
        wrong += differences(recorded, published.read(copy), has_fma())
        wrong += command(program, "verify", copy)
        wrong += bound_hides_load(program, copy)
    return wrong, len(recorded)


def main():
    failed = total = 0
    for folder in map(os.path.normpath, sys.argv[2:]):
        wrong, n = check(os.path.abspath(sys.argv[1]), folder)
        failed += bool(wrong)
        total += n
        for line in wrong[:20]:
            print(f"{os.path.basename(folder)}: {line}")
        if len(wrong) > 20:
            print(f"{os.path.basename(folder)}: and {len(wrong) - 20} more")
    print(f"{total} numbers of {len(sys.argv) - 2} folders, {failed} folders differ")
    return 1 if failed or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
