#!/usr/bin/env python3
"""Where a run's time went: shares.py FOLDER...

For each cell, between its first measured slot and its last one: the share of that time in which the arms of the
question ran, in which ceilings did, and the gaps between slots; and the median slots of the arm with the shortest and
of the one with the longest. Bars: arms at least 80 %, ceilings and gaps at most 10 % each.
"""
import csv
import json
import os
import sys


def rows_of(folder, cell):
    path = os.path.join(folder, "samples", f"{cell['index']}-latency-slots.csv")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [{key: int(value) if value else 0 for key, value in row.items()} for row in csv.DictReader(file)]


def print_cell(folder, cell):
    slots = [row for row in rows_of(folder, cell) if row["phase"] > 0]
    if not any(row["phase"] == 1 for row in slots):
        return
    span = slots[-1]["end_ns"] - slots[0]["start_ns"]
    ceilings = {arm for arm, spec in enumerate(cell["arms"]) if spec["role"] == "ceiling"}
    if len(ceilings) == len(cell["arms"]):
        ceilings = set()
    time = {}
    longest = {}
    for row in slots:
        length = row["end_ns"] - row["start_ns"]
        time[row["arm"]] = time.get(row["arm"], 0) + length
        longest.setdefault(row["arm"], []).append(length)
    of_ceilings = sum(time.get(arm, 0) for arm in ceilings)
    of_arms = sum(time.values()) - of_ceilings
    medians = [sorted(longest[arm])[len(longest[arm]) // 2] for arm in longest if arm not in ceilings]
    blocks = len({row["block"] for row in slots if row["arm"] not in ceilings})
    print(f"{cell['name'][:44]:44} {span / 1e9:8.2f} s {blocks:6} blocks  arms {100 * of_arms / span:5.1f} %"
          f"  ceilings {100 * of_ceilings / span:5.1f} %  gaps {100 * (1 - (of_arms + of_ceilings) / span):5.1f} %"
          f"  slots {min(medians) / 1e6:.1f} .. {max(medians) / 1e6:.1f} ms")


def main():
    for folder in sys.argv[1:]:
        with open(os.path.join(folder, "plan.json"), encoding="utf-8") as file:
            plan = json.load(file)
        for cell in plan["cells"]:
            print_cell(folder, cell)


if __name__ == "__main__":
    main()
