#!/usr/bin/env python3
"""published: every number that a run folder publishes, as flat rows.

published.py FOLDER prints one row a number: cell, arm, what it is, state, number, n, and the ends of its interval; a
field is empty where there is none. Words for people (reasons, remedies, texts, units) are left out. `read` is the one
reader of the published files' shape; FOLDER.csv is what this printed when FOLDER was recorded.
"""
import csv
import json
import os
import sys

HEADER = ("cell", "arm", "what", "state", "number", "n", "low", "high")


def shown(value):
    """All digits of a number: equal texts are equal bits."""
    return "" if value is None else value if isinstance(value, str) else repr(float(value))


def numbers_of(derived):
    for number in derived["numbers"]:
        low, high = number["interval"] or (None, None)
        yield number["cell"], number["arm"], number["metric"], number["state"], number["value"], number["n"], low, high


def companions_of(derived):
    for row in derived["companions"]:
        for name in ("own", "base", "step_ns"):
            yield row["cell"], row["arm"], f"companion {row['column']} {name}", "ok", row[name], row["n"], None, None


def energy_of(derived):
    for row in derived["energy"]:
        state = "refused" if row["refused"] else "ok"
        for name in ("seconds", "joules", "random_j", "systematic", "idle_w", "idle_half_w", "above_idle_j"):
            what = f"energy {row['device']} {row['source']} {row['role']} {name}"
            yield row["cell"], row["arm"], what, state, row[name], row["windows"], None, None


def findings_of(derived):
    """How often each rule spoke, and how loudly."""
    counts = {}
    for finding in derived["findings"]:
        key = finding["cell"], finding["arm"], f"finding {finding['rule']} {finding['severity']}"
        counts[key] = counts.get(key, 0) + 1
    for (cell, arm, what), count in counts.items():
        yield cell, arm, what, "ok", None, count, None, None


def verdict_of(verdict):
    yield "", "", "outcome", verdict["outcome"], None, None, None, None
    for gate in verdict["gates"]:
        seen = gate["observed"]
        low, high = seen["interval"] or (None, None)
        yield gate["cell"], gate["arm"], f"gate {gate['name']}", gate["outcome"], seen["value"], None, low, high


def read(folder):
    """{(cell, arm, what): (state, number, n, low, high)} of a folder, as texts."""
    with open(os.path.join(folder, "derived.json"), encoding="utf-8") as file:
        derived = json.load(file)
    with open(os.path.join(folder, "verdict.json"), encoding="utf-8") as file:
        verdict = json.load(file)
    rows = {}
    for source in (numbers_of(derived), companions_of(derived), energy_of(derived), findings_of(derived),
                   verdict_of(verdict)):
        for row in source:
            if row[:3] in rows:
                raise ValueError(f"{row[:3]}: stands twice")
            rows[row[:3]] = tuple(shown(value) for value in row[3:])
    return rows


def read_back(path):
    """The same of what was printed."""
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    if tuple(header) != HEADER or not rows:
        raise ValueError(f"{path}: not a list of numbers")
    return {tuple(row[:3]): tuple(row[3:]) for row in rows}


if __name__ == "__main__":
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(identity + values for identity, values in sorted(read(sys.argv[1]).items()))
