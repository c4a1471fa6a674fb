#!/usr/bin/env python3
"""What a run's time went to, by its journal: cap.py FOLDER...

For each cell: the blocks, and what lay outside them (data with the first check, other checks, calibration, warm-up,
rounds of ceilings), beside the cap. Bars: blocks no longer than the cap and one block; for caps of 5 s and more as long
again outside. Exit 1 where one is missed; the fewest blocks may take longer. A busy machine takes longer for all of it:
its load is shown, of the last minute and for each CPU.
"""
import csv
import json
import os
import sys


def phases_of(folder, index):
    path = os.path.join(folder, "samples", f"{index}-latency-slots.csv")
    with open(path, encoding="utf-8") as file:
        return {int(row["block"]): int(row["phase"]) for row in csv.DictReader(file)}


def parts_of(folder, cell, events):
    """Seconds before each line of run.log, by what the line says has ended."""
    parts = dict.fromkeys(("data and checks", "calibration", "warm-up", "ceilings", "blocks"), 0.0)
    phases, before, count = phases_of(folder, cell["index"]), None, 0
    for event in events:
        meta, stage = event["meta"], event["stage"]
        name = {"check": "data and checks", "calibrate": "calibration"}.get(stage)
        own = meta.get("cell") == cell["name"]
        if own and stage == "block" and meta["pass"] == "latency":
            name = ("warm-up", "blocks", "ceilings")[phases[meta["block"]]]
            count += name == "blocks"
        if name is not None and before is not None and own:
            parts[name] += (event["mono_ns"] - before) * 1e-9
        before = event["mono_ns"]
    return parts, count


def is_held(folder, cell, events):
    parts, count = parts_of(folder, cell, events)
    measure, blocks = cell["measure"], parts.pop("blocks")
    cap, outside = measure["cap_s"], sum(parts.values())
    fits = count > measure["blocks_min"]
    held = (not fits or blocks <= cap * (1 + 1 / count) + 0.05) and (cap < 5 or outside <= cap)
    items = ", ".join(f"{name} {seconds:.1f}" for name, seconds in parts.items() if seconds >= 0.05)
    print(f"{cell['name'][:32]:32} cap {cap:5.1f} s  blocks {blocks:6.2f} s ({count}{'' if fits else ', the fewest'})"
          f"  outside {outside:6.2f} s ({items})  load {os.getloadavg()[0] / os.cpu_count():.1f}"
          f"{'' if held else '  MISSED'}")
    return held


def main():
    held = True
    for folder in sys.argv[1:]:
        with open(os.path.join(folder, "plan.json"), encoding="utf-8") as file:
            plan = json.load(file)
        with open(os.path.join(folder, "run.log"), encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
        for cell in plan["cells"]:
            held = is_held(folder, cell, events) and held
    sys.exit(not held)


if __name__ == "__main__":
    main()
