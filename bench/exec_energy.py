#!/usr/bin/env python3
"""Joules of programs by `exec --energy` beside what each program reads from NVML by itself: see exec_energy.sh.

exec_energy.py run LOG DUTY SECONDS   the program: reads the counter, lets a process of its own work, reads it again
exec_energy.py work LOG DUTY SECONDS  that process: matrix products of PyTorch for so long, at a duty of 1 or 0.5
exec_energy.py judge RUN LOG          the table: each window of the run folder RUN against its program's readings

Times are of CLOCK_MONOTONIC, which the journal of a run has too. With FAKE_LOADS, a file, nothing is computed: the
process tells the management library of the tests when it would work.
"""
import ctypes
import json
import os
import random
import subprocess
import sys
import time

TICKS = 3  # that each reading waits for at most: the counter is read where it changes, every 100 ms


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class Counter:
    """The energy counter of the first GPU, by NVML's own library."""

    def __init__(self):
        self.library = ctypes.CDLL("libnvidia-ml.so.1")
        self.device = ctypes.c_void_p()
        if self.library.nvmlInit_v2() != 0:
            sys.exit("NVML does not start")
        if self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)) != 0:
            sys.exit("NVML has no first GPU")

    def read(self):
        millijoules = ctypes.c_ulonglong()
        result = self.library.nvmlDeviceGetTotalEnergyConsumption(self.device, ctypes.byref(millijoules))
        if result != 0:
            sys.exit(f"the energy counter cannot be read: {result}")
        return 1e-3 * millijoules.value

    def at_tick(self):
        """(time, joules) where the counter changes."""
        before, until = self.read(), now_ns() + TICKS * 100_000_000
        while now_ns() < until:
            joules = self.read()
            if joules != before:
                return now_ns(), joules
            time.sleep(0.001)
        sys.exit("the energy counter stands still")


def append(log, row):
    with open(log, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


class Products:
    """What keeps the GPU busy."""

    def __init__(self):
        self.fake = os.environ.get("FAKE_LOADS")
        if self.fake:
            return
        import torch
        self.torch = torch
        self.a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
        self.b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
        self.c = torch.empty_like(self.a)
        torch.mm(self.a, self.b, out=self.c)
        torch.cuda.synchronize()

    def edge(self):
        with open(self.fake, "a", encoding="utf-8") as file:
            file.write(f"{time.time_ns() // 1000}\n")

    def run(self, seconds):
        until = time.monotonic() + seconds
        if self.fake:
            self.edge()
            time.sleep(seconds)
            self.edge()
            return
        while time.monotonic() < until:
            for _ in range(5):
                self.torch.mm(self.a, self.b, out=self.c)
            self.torch.cuda.synchronize()


def work(log, duty, seconds):
    counter, products = Counter(), Products()
    begin, begin_j = counter.at_tick()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        products.run(min(until - time.monotonic(), seconds if duty == 1 else random.uniform(0.05, 0.1)))
        if duty != 1:
            time.sleep(random.uniform(0.05, 0.1))
    end, end_j = counter.at_tick()
    append(log, {"what": "load", "duty": duty, "begin_ns": begin, "end_ns": end, "joules": end_j - begin_j})


def run(log, duty, seconds):
    counter = Counter()
    begin, begin_j = counter.at_tick()
    arguments = [sys.executable, os.path.abspath(__file__), "work", log, str(duty), str(seconds)]
    subprocess.run(arguments, check=True)
    end, end_j = counter.at_tick()
    append(log, {"what": "run", "duty": duty, "begin_ns": begin, "end_ns": end, "joules": end_j - begin_j})


def judge(folder, log):
    with open(os.path.join(folder, "derived.json"), encoding="utf-8") as file:
        derived = json.load(file)
    with open(os.path.join(folder, "run.log"), encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    with open(log, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    # An idle time is told when it ends; the two clocks drift apart by some parts in a million.
    told = [(e["meta"]["end_ns"], e["mono_ns"]) for e in events if e["stage"] == "energy_idle"]
    (first, first_mono), (last, last_mono) = told[0], told[-1]
    slope = (last_mono - first_mono) / (last - first)
    [idle_w] = {e["idle_w"] for e in derived["energy"] if e["device"] == "gpu0" and e["role"] == "primary"}
    print(f"idle without a program {idle_w:.1f} W; lab J: less those before and behind the program's own readings")
    print(f"{'window':>6} {'program':8} {'its own J':>10} {'lab J':>10} {'difference':>11} {'bar':>8}  within")
    within = used = 0
    for window in (w for w in derived["energy_windows"] if w["device"] == "gpu0"):
        if window["refused"]:
            print(f"{window['window']:>6} {window['arm']:8} not used: {window['refused']}")
            continue
        start, end = (first_mono + slope * (window[key] - first) for key in ("start_ns", "end_ns"))
        inside = [r for r in rows if r["what"] == "run" and start <= r["begin_ns"] and r["end_ns"] <= end]
        own = sum(r["joules"] for r in inside)
        apart_s = 1e-9 * (end - start - sum(r["end_ns"] - r["begin_ns"] for r in inside))
        lab = window["joules"] - idle_w * apart_s
        held = len(inside) == window["steps"] and abs(own - lab) <= window["random_j"]
        used += 1
        within += held
        print(f"{window['window']:>6} {window['arm']:8} {own:10.1f} {lab:10.1f} {100 * (lab / own - 1):+10.2f}% "
              f"{window['random_j']:8.1f}  {'yes' if held else 'NO'}")
    for duty in sorted({r["duty"] for r in rows}):
        loads = [r for r in rows if r["what"] == "load" and r["duty"] == duty]
        watts = sum(r["joules"] for r in loads) / sum(1e-9 * (r["end_ns"] - r["begin_ns"]) for r in loads)
        print(f"duty {duty:g}: {watts:.0f} W while it works, by the programs' own readings ({len(loads)} runs)")
    for n in derived["numbers"]:
        if n["metric"] in ("energy_per_step_j", "gpu_power_w", "energy_per_step_change_percent") and n["state"] == "ok":
            low, high = n["interval"]
            print(f"lab: {n['arm']} {n['metric']} {n['value']:.2f} [{low:.2f}, {high:.2f}] {n['unit']}")
    print(f"{within} of {used} windows within the printed bar; wanted: 19 of 20")
    return 0 if used >= 4 and within >= 0.95 * used else 1


def main():
    what, arguments = sys.argv[1], sys.argv[2:]
    if what == "judge":
        return judge(*arguments)
    log, duty, seconds = arguments
    {"run": run, "work": work}[what](log, float(duty), float(seconds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
