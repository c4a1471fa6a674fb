#!/usr/bin/env python3
"""check: every published number is what its definition says.

check.py INFEROMETER METRICS FOLDER... derives a copy of each recorded folder, computes each number anew from the raw
samples, the plan and the journal with the formula of its record in METRICS (data/metrics), and compares. No code of the
lab is used. RECOMPUTED has one function a metric; NOT_RECOMPUTED names the others, each with why; a metric that is in
neither, or in both, or that no folder shows although it is recomputed, is an error. The formulas are in
`definitions.py` beside this.
"""
import glob
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import definitions

# Real numbers that differ by more are different: sums run in another order here, and what a run that ends between looks
# may err by is an integral over another grid.
TOLERANCE = 1e-9
LOOSER = {("decided-end", "mde_percent"): 1e-6}
# Runs of the fake device, made here: what no recorded folder has.
MADE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "*.yaml")


def ids_of(folder):
    for path in sorted(glob.glob(os.path.join(folder, "*.txt"))):
        with open(path, encoding="utf-8") as file:
            yield from re.findall(r"^id: (\S+)$", file.read(), re.M)


def compare(folder, name, seen):
    """What differs in the folder of a run of that name, as lines."""
    with open(os.path.join(folder, "derived.json"), encoding="utf-8") as file:
        numbers = json.load(file)["numbers"]
    run = definitions.Run(folder)
    published = {(n["cell"], n["arm"], n["metric"]): n["value"] for n in numbers if n["state"] == "ok"}
    for (cell, arm, metric), value in published.items():
        formula = definitions.RECOMPUTED.get(metric)
        if formula is None or cell not in run.cells:
            continue
        own = formula(definitions.View(run, cell, arm, published))
        if own is None:  # its definition leaves it to something that is not recomputed
            continue
        seen.add(metric)
        if not math.isclose(own, value, rel_tol=LOOSER.get((name, metric), TOLERANCE), abs_tol=1e-12):
            yield f"cell {cell}, arm {arm or '-'}: {metric} is {value!r}, by its definition {own!r}"


def stop_of(folder):
    with open(os.path.join(folder, "run.log"), encoding="utf-8") as file:
        return [e for e in map(json.loads, file) if e["stage"] == "stop"][-1]["meta"]["reason"]


def main():
    program, metrics = os.path.abspath(sys.argv[1]), sys.argv[2]
    wrong, seen, known = [], set(), set(ids_of(metrics))
    for folder in map(os.path.normpath, sys.argv[3:]):
        with tempfile.TemporaryDirectory() as scratch:
            copy = os.path.join(scratch, "run")
            shutil.copytree(folder, copy)
            done = subprocess.run([program, "derive", copy], capture_output=True, text=True, check=False, timeout=600)
            if done.returncode not in (0, 1, 3):
                wrong.append(f"{folder}: derive ends with {done.returncode}: {done.stderr.strip()}")
                continue
            name = os.path.basename(folder)
            wrong += [f"{name}: {line}" for line in compare(copy, name, seen)]
    for study in sorted(glob.glob(MADE)):
        with tempfile.TemporaryDirectory() as scratch:
            made, name = os.path.join(scratch, "run"), os.path.splitext(os.path.basename(study))[0]
            done = subprocess.run([program, "run", "-c", study, "--quiet", "--out", made], capture_output=True,
                                  text=True, check=False, timeout=600)
            wrong += [f"{name}: {line}" for line in compare(made, name, seen)] if done.returncode == 0 else \
                [f"{name}: run ends with {done.returncode}: {done.stderr.strip()}"]
            ended, wanted = stop_of(made), "decided" if name == "decided-look" else "blocks_max"
            if ended != wanted:
                wrong.append(f"{name}: ended by {ended}, not by {wanted}")
    listed = set(definitions.RECOMPUTED) | set(definitions.NOT_RECOMPUTED)
    wrong += [f"{m}: neither recomputed nor named as not" for m in sorted(known - listed)]
    wrong += [f"{m}: listed, and no metric" for m in sorted(listed - known)]
    wrong += [f"{m}: recomputed, and named as not" for m in
              sorted(set(definitions.RECOMPUTED) & set(definitions.NOT_RECOMPUTED))]
    wrong += [f"{m}: recomputed, but no folder shows it" for m in sorted(set(definitions.RECOMPUTED) - seen)]
    print("\n".join(wrong[:60]) if wrong else f"{len(seen)} metrics are what their definitions say")
    for metric, why in sorted(definitions.NOT_RECOMPUTED.items()):
        print(f"not recomputed: {metric}: {why}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
