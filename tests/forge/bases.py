"""bases: the folders that are forged. Some are recorded on the fly by the command under test, on the scripted device or
by short real runs; others are those of tests/recorded, which an older version wrote.
"""
import os
import subprocess
import threading
import time

STUDY = """workload: %s
ceilings: none
seed: 1
device:
  kind: fake
  script: "%s"
measure: {%s}
arms:
  - {name: base, baseline: true}
  - {name: other}
"""
SCRIPT = "step_ns=400000; noise=0.005; arm.other.step_ns=360000"


def study(workload, script, measure):
    return STUDY % (workload, script, measure)


# What each base is made of: a study, or the words of a command line.
FRESH = {
    "null": study("'null'", SCRIPT, "stop: repeats, repeats: 120"),
    "mde": study("'null'", SCRIPT.replace("0.005", "0.02"), "stop: mde, mde: 0.02, margin: 0.003"),
    "fast": ["decode", "--kv-len", "256", "--batch", "1", "--q-heads", "2", "--kv-heads", "1", "--head-dim", "64",
             "--layers", "1", "--compress", "2", "--repeats", "60", "--slot-steps", "2", "--warmup", "20", "--threads",
             "1", "--ceilings", "none"],
    "exec": ["exec", "true", "sleep 0.003", "--name", "quick", "--name", "slow", "--repeats", "24", "--slot-steps",
             "2"],
}
METERED = ["null", "--threads", "1", "--repeats", "40", "--slot-steps", "2", "--ceilings", "none", "--energy",
           "--energy-windows", "3", "--energy-idle", "1s", "--pre-roll", "100ms", "--energy-window", "300ms",
           "--power-meter", "meter.csv"]
RECORDED = ("attention", "decode", "gemm", "stream", "exec", "session", "null", "plugin", "energy-meter", "cuda",
            "processes", "buffers", "resumed", "noise-and-drift", "sweep", "gated",
            "cuda-arm-failed")


def run(command, cwd):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=900)


def write_meter(path, ended):
    """A meter of 100 W, until `ended` is set."""
    with open(path, "w", encoding="utf-8") as file:
        while not ended.wait(0.04):
            file.write(f"{time.time():.6f},100.0\n")
            file.flush()


def make_metered(program, scratch):
    """A base with an energy pass."""
    meter, ended = os.path.join(scratch, "meter.csv"), threading.Event()
    writer = threading.Thread(target=write_meter, args=(meter, ended))
    writer.start()
    try:
        while not os.path.exists(meter) or os.path.getsize(meter) < 100:
            time.sleep(0.05)
        return make(program, scratch, "metered")
    finally:
        ended.set()
        writer.join()


def make(program, scratch, name):
    """A fresh base; returns its folder."""
    made = METERED if name == "metered" else FRESH[name]
    if isinstance(made, str):
        with open(os.path.join(scratch, name + ".yaml"), "w", encoding="utf-8") as file:
            file.write(made)
        words = ["run", "-c", name + ".yaml"]
    else:
        words = made
    done = run([program, *words, "--out", name], scratch)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"{name}: the run ends with {done.returncode}: {done.stderr}")
    return os.path.join(scratch, name)
