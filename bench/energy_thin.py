#!/usr/bin/env python3
"""A session of bench_energy, cut down to test data: energy_thin.py CAPTURE OUT

Keeps the energy counter and the ring of samples, a stretch of each steady load, an idle phase, two square waves of
each period and duty, two steps and a ramp of duty; of marks, one a second of steady loads, all of square waves, and the
first and the last of the others. Times are counted from the first phase that is kept. Nothing is rounded or made up.
"""
import csv
import json
import os
import sys

STEADY_S, SKIP_S, LONG_S, IDLE_S, RAMP_MS = 31, 5, 30, 3, 7.3
EACH = 2  # square waves of a name that are kept, and none of TWIN_MS, whose beats are those of 97 and 100
TWIN_MS = 101.0
NUMBERS = ("period_ms", "duty", "dither_ms")
SOURCES = ("nvml_energy", "nvml_samples")
AROUND_NS = 150_000_000  # readings on both sides of what is kept, for windows that end at its ends
S = 1_000_000_000


def read_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cut(phase, marks):
    """The stretch of a long steady phase that is kept: between two of its marks."""
    start = phase["start_ns"] + SKIP_S * S
    inside = [m for m in marks if start <= m[0] <= start + STEADY_S * S]
    thinned = [inside[0]]
    for mark in inside:
        if mark[0] - thinned[-1][0] >= S or mark is inside[-1]:
            thinned.append(mark)
    phase.update(start_ns=inside[0][0], end_ns=inside[-1][0], steps=inside[-1][1] - inside[0][1])
    phase["on_ns"] = phase["end_ns"] - phase["start_ns"]
    return [(t, steps - inside[0][1]) for t, steps in thinned]


def is_kept(phase, before, like):
    steady = phase["period_ms"] == 0 and phase["steps"] > 0
    if steady and phase["end_ns"] - phase["start_ns"] > LONG_S * S:
        return True
    if phase["period_ms"] == RAMP_MS:
        return True
    if phase["period_ms"] > 0:
        return like < EACH and phase["period_ms"] != TWIN_MS
    if phase["steps"] == 0 and phase["end_ns"] - phase["start_ns"] >= IDLE_S * S:
        return like == 0
    # the first three steps of load: idle, load, idle, load
    return phase["period_ms"] == 0 and phase["end_ns"] - phase["start_ns"] < 3 * S and before < 4


def main(source, target):
    phases, marks, steps_of_load = [], [], 0
    for index, row in enumerate(read_rows(f"{source}/phases.csv")):
        row.setdefault("dither_ms", "0")  # older sessions have no pauses
        phase = {key: float(value) if key in NUMBERS else value for key, value in row.items()}
        phase.update({key: int(row[key]) for key in ("start_ns", "end_ns", "steps", "on_ns", "late")})
        if not is_kept(phase, steps_of_load, sum(p["name"] == phase["name"] for p in phases)):
            continue
        steps_of_load += phase["period_ms"] == 0 and phase["end_ns"] - phase["start_ns"] < 3 * S
        each = [(int(m["t_ns"]), int(m["steps"])) for m in read_rows(f"{source}/marks-{index:02}.csv")]
        if phase["period_ms"] == 0 and phase["end_ns"] - phase["start_ns"] > LONG_S * S:
            each = cut(phase, each)
        phases.append(phase)
        marks.append(each[:1] + each[-1:] if phase["period_ms"] == RAMP_MS else each)
    zero = phases[0]["start_ns"] - AROUND_NS
    os.makedirs(target, exist_ok=True)
    with open(f"{target}/phases.csv", "w", encoding="utf-8") as out:
        out.write("phase,name,start_ns,end_ns,period_ms,duty,steps,on_ns,late,dither_ms\n")
        for i, p in enumerate(phases):
            out.write(f"{i},{p['name']},{p['start_ns'] - zero},{p['end_ns'] - zero},{p['period_ms']:g},{p['duty']:g},"
                      f"{p['steps']},{p['on_ns']},{p['late']},{p['dither_ms']:g}\n")
    for i, each in enumerate(marks):
        with open(f"{target}/marks-{i:02}.csv", "w", encoding="utf-8") as out:
            out.write("t_ns,steps\n" + "".join(f"{t - zero},{steps}\n" for t, steps in each))
    with open(f"{source}/session.json", encoding="utf-8") as file:
        session = json.load(file)
    session["sensors"] = [s for s in session["sensors"] if s["source"] in SOURCES]
    with open(f"{target}/session.json", "w", encoding="utf-8") as out:
        json.dump(session, out, indent=1)
        out.write("\n")
    for sensor in session["sensors"]:
        name = f"0-power-{sensor['device']}-{sensor['source']}.csv"
        with open(f"{source}/{name}", encoding="utf-8") as file, open(f"{target}/{name}", "w", encoding="utf-8") as out:
            out.write(next(file))
            for line in file:
                t, rest = line.split(",", 1)
                if any(p["start_ns"] - AROUND_NS <= int(t) <= p["end_ns"] + AROUND_NS for p in phases):
                    out.write(f"{int(t) - zero},{rest}")
    size = sum(os.path.getsize(f"{target}/{name}") for name in os.listdir(target))
    print(f"{len(phases)} phases, {size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
