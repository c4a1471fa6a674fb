"""edits: what a forger changes, and what must be said. One row an edit: name, base, change, what is said.

`change` gets a Folder (folder.py). What is said is one of
    edited    derive, verify and gate end with 3: the folder is not read at all
    refused   derive gives no time and no comparison of the cell, its finding is "invalid", and gate ends with 3
    lost      no comparison is left, and gate ends with 3
    accepted  nothing can tell: docs/maintain/refused.md says what a folder shows
Other lists are further tables of such rows, in ALL. PUBLISHED is of edits behind `derive`, in what it wrote, with every
hash of the manifest made to fit: `verify` must end with 3 and say the words, or where these begin with "told:" with 0.
"""

import os

NEW, OLD = "null", "recorded/exec"


def halves(f):
    """The half of the blocks that is best for the arm `other`."""
    blocks = sorted({f.slots.get(k, "block") for k in f.slots_of(1)})
    time = {b: sum(f.slots.get(k, "end_ns") - f.slots.get(k, "start_ns") for k in f.slots_of(1)
                   if f.slots.get(k, "block") == b) for b in blocks}
    worst = sorted(range(len(blocks)), key=lambda i: -time[blocks[i]])
    return worst[:len(blocks) // 2]


def refitted(change):
    """The same, with every hash of journal and record made to fit: two files."""
    def both(f):
        change(f)
        f.refit()
    return both


def drop_and_tell(f, drop):
    f.drop_blocks(drop)
    f.tell("stop", "blocks", lambda n: n - len(drop))


def inner(f, value):
    for k in range(len(f.slots.rows)):
        f.slots.set(k, "inner", value)


def columns(f, name, value):
    for k in f.slots_of(1):
        f.slots.set(k, name, value)


def zero(f):
    f.keep_gaps()
    for k in f.slots_of(1)[:1]:
        f.samples.set(f.of_slot(k)[0], "duration_ns", 0)
    f.lay_out()


def short(f):
    f.keep_gaps()
    for k in f.slots_of(1)[:1]:
        f.samples.set(f.of_slot(k)[0], "duration_ns", 1)
    f.lay_out()


def shift(f, ns):
    """The blocks of measured slots, later."""
    for k in range(len(f.slots.rows)):
        if f.slots.get(k, "phase") == 1:
            for name in ("start_ns", "end_ns"):
                f.slots.set(k, name, f.slots.get(k, name) + ns)
            for i in f.of_slot(k):
                f.samples.set(i, "start_ns", f.samples.get(i, "start_ns") + ns)


def swap_arms(f):
    for k in range(len(f.slots.rows)):
        f.slots.set(k, "arm", 1 - f.slots.get(k, "arm"))


# Point 5: record and journal. On a folder with a chain one file alone is found by its hashes; with the hashes made to
# fit, and in folders without a chain, by what the two say of one another.
RECORD = [
    ("half of the blocks", NEW, lambda f: f.drop_blocks(halves(f)), "edited"),
    ("the last block", NEW, lambda f: f.drop_blocks([-1]), "edited"),
    ("half of the blocks, hashes refitted", NEW, refitted(lambda f: f.drop_blocks(halves(f))), "refused"),
    ("the last block, hashes refitted", NEW, refitted(lambda f: f.drop_blocks([-1])), "refused"),
    ("fewer blocks, and told so", NEW, refitted(lambda f: drop_and_tell(f, halves(f))), "refused"),
    ("the last block, and told so", NEW, refitted(lambda f: drop_and_tell(f, [-1])), "refused"),
    ("blocks of mde", "mde", refitted(lambda f: drop_and_tell(f, halves(f))), "refused"),
    ("the last block of mde", "mde", refitted(lambda f: drop_and_tell(f, [-1])), "refused"),
    ("another effect told", "mde", refitted(lambda f: f.tell("stop", "mde", lambda x: x / 2)), "refused"),
    ("another reason told", "mde", refitted(lambda f: f.tell("stop", "reason", "cap")), "refused"),
    ("an unknown reason", NEW, refitted(lambda f: f.tell("stop", "reason", "enough")), "refused"),
    ("less time told", NEW, refitted(lambda f: f.tell("stop", "elapsed_s", lambda x: x / 2)), "refused"),
    ("inner", NEW, lambda f: inner(f, 7), "edited"),
    ("inner, hashes refitted", NEW, refitted(lambda f: inner(f, 7)), "refused"),
    ("inner calibrated", NEW, lambda f: f.tell("calibrate", "inner", 7), "edited"),
    ("inner calibrated, hashes refitted", NEW, refitted(lambda f: f.tell("calibrate", "inner", 7)), "refused"),
    ("samples of a slot calibrated", NEW, refitted(lambda f: f.tell("calibrate", "samples_per_slot", 9)), "refused"),
    ("a thousandth", NEW, lambda f: f.shrink(0.001), "edited"),
    ("a thousandth, hashes refitted", NEW, refitted(lambda f: f.shrink(0.001)), "refused"),
    ("x 0.98 of one arm", NEW, lambda f: f.scale(1, 0.98), "edited"),
    ("x 0.98, hashes refitted", NEW, refitted(lambda f: f.scale(1, 0.98)), "refused"),
    ("x 0.98 laid out, all phases, hashes refitted", NEW, refitted(lambda f: f.rescale(1, 0.98, (0, 1))), "refused"),
    ("arms exchanged", NEW, refitted(swap_arms), "refused"),
    ("a zero duration", NEW, refitted(zero), "refused"),
    ("a sample of 1 ns on a real clock", "exec", refitted(short), "refused"),
    ("a negative counter", "fast", refitted(lambda f: columns(f, "faults_minor", -5)), "refused"),
    ("a negative delay", "exec", refitted(lambda f: columns(f, "run_delay_ns", -5)), "refused"),
    ("a column of one slot", "fast", lambda f: f.slots.set(5, "run_delay_ns", 1), "edited"),
    ("a column's name", "fast", lambda f: f.slots.header.__setitem__(7, "faults_other"), "edited"),
    ("an event of a block is gone", NEW, lambda f: f.forget("block", 4), "edited"),
    ("an event of a block is gone, hashes of lines refitted", NEW,
     lambda f: (f.forget("block", 4), f.refit()), "edited"),
    ("the stop is gone", NEW, lambda f: f.forget("stop"), "edited"),
    ("a calibration is gone", NEW, lambda f: f.forget("calibrate"), "edited"),
    ("a warm-up is gone", NEW, lambda f: f.forget("warmup"), "edited"),
    ("the load is gone", NEW, lambda f: f.forget("load"), "edited"),
    ("the wall clock of a line", NEW, lambda f: f.stamp("stop", "t_ns", -10**12), "edited"),
    ("the other clock of a line", NEW, refitted(lambda f: f.stamp("stop", "mono_ns", -10**15)), "refused"),
    ("warm-up's windows", NEW, refitted(lambda f: f.tell("warmup", "windows", lambda n: n + 1)), "refused"),
    ("warm-up's last median", NEW, refitted(lambda f: f.tell("warmup", "last_median_ns", lambda x: x * 0.98)),
     "refused"),
    ("slots later than the journal", "fast", refitted(lambda f: shift(f, 10**9)), "refused"),
    ("time x 0.5 of a real run", "fast", refitted(lambda f: f.shrink(0.5)), "refused"),
    ("stripped of its chain, blocks dropped", NEW,
     lambda f: (f.drop_blocks(halves(f)), f.strip()), "edited"),
    ("stripped of its chain, samples scaled", NEW, lambda f: (f.scale(1, 0.8), f.strip()), "edited"),
    ("a line behind the end", NEW, refitted(lambda f: f.log.append(f.log[-2])), "refused"),
]

# Point 6: runs with gaps between their samples, where scaled ones need not meet.
GAPS = [
    ("exec x 0.98", "exec", lambda f: f.scale(1, 0.98), "edited"),
    ("exec x 0.98 laid out", "exec", lambda f: f.rescale(1, 0.98), "edited"),
    ("exec x 0.98, hashes refitted", "exec", refitted(lambda f: f.scale(1, 0.98)), "refused"),
    ("exec x 0.98 in an older folder", OLD, lambda f: f.scale(1, 0.98), "refused"),
    ("exec x 0.98 laid out in an older folder", OLD, lambda f: f.rescale(1, 0.98, (0, 1)), "refused"),
    ("exec blocks dropped in an older folder", OLD, lambda f: f.drop_blocks(halves(f)), "refused"),
    ("exec stop told otherwise in an older folder", OLD, lambda f: f.tell("stop", "blocks", 6), "refused"),
    ("exec x 0.001 in an older folder", OLD, lambda f: f.shrink(0.001), "refused"),
    ("session x 0.98", "recorded/session", lambda f: f.scale(1, 0.98), "refused"),
    ("session x 0.98 laid out", "recorded/session", lambda f: f.rescale(1, 0.98, (0, 1)), "refused"),
    ("session blocks dropped", "recorded/session", lambda f: f.drop_blocks(halves(f)), "refused"),
    ("session inner", "recorded/session", lambda f: inner(f, 7), "refused"),
    ("more processor time than time", "exec", refitted(lambda f: columns(f, "child_cpu_ns", 10**12)), "refused"),
    ("processor time below zero", OLD, lambda f: columns(f, "child_cpu_ns", -1), "refused"),
]

# The other workloads' folders, of an older version: each kind of contradiction once.
OTHERS = [(f"{name}: {what}", f"recorded/{name}", change, "refused")
          for name in ("attention", "gemm", "stream", "plugin", "processes", "buffers", "cuda")
          for what, change in (("inner", lambda f: inner(f, 7)),
                               ("blocks dropped", lambda f: f.drop_blocks(halves(f))),
                               ("a thousandth", lambda f: f.shrink(0.001)))]



def reading(f, change):
    """The files of readings of power."""
    samples = os.path.join(f.path, "samples")
    for name in sorted(name for name in os.listdir(samples) if "-power-" in name):
        change(os.path.join(samples, name))


def one_watt_more(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    lines[-2] = ",".join(lines[-2].split(",")[:2] + [str(int(lines[-2].split(",")[2]) + 10**6)])
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def told_again(f):
    """The readings are edited, and so is what run.log says of one of them: no more than that."""
    reading(f, one_watt_more)
    f.tell("power_readings", "sha256", "0" * 64)


# Readings of power: run.log has the hash of each file.
READINGS = [
    ("a reading", "metered", lambda f: reading(f, one_watt_more), "edited"),
    ("a reading, hashes of lines and blocks refitted", "metered", refitted(lambda f: reading(f, one_watt_more)),
     "edited"),
    ("another hash of the readings", "metered", refitted(told_again), "edited"),
    ("no readings", "metered", refitted(lambda f: reading(f, os.unlink)), "edited"),
]



def by_another(change, name="derived.json", revision="a" * 40):
    """A published file as another version would have written it, but for `change`."""
    def both(f):
        f.json("derived.json", lambda d: d.update(published_by={"version": "0.0.9", "revision": revision}))
        f.json(name, change)
    return both


def of_change(change):
    """The rows of comparisons; there is one at least."""
    def all_of(derived):
        rows = [n for n in derived["numbers"] if n["metric"] == "change_percent"]
        if not rows:
            raise KeyError("no comparison")
        for row in rows:
            change(derived["numbers"], row)
    return all_of


def flip(numbers, row):
    row["text"] = "slower" if row["text"] == "faster" else "faster"


def bare(numbers, row):
    del row["value"], row["interval"]


def cover(numbers, row):
    """Another row stands twice in its place."""
    numbers[numbers.index(row)] = dict(next(n for n in numbers if n["metric"] != "change_percent"))


def no_warnings(derived):
    kept = [f for f in derived["findings"] if f["severity"] == "note"]
    if len(kept) == len(derived["findings"]):
        raise KeyError("no warning")
    derived["findings"] = kept


def other_sentences(derived):
    for number in derived["numbers"]:
        if number["reason"]:
            number["reason"] = "for " + number["reason"]


def put(name):
    """A file that nobody wrote but the forger."""
    def change(f):
        with open(os.path.join(f.path, name), "w", encoding="utf-8") as file:
            file.write("faster\n")
    return change


def other_gates(f):
    """Files that `derive` keeps where they are."""
    by_another(lambda d: None)(f)
    for name in ("gate.md", "junit.xml"):
        put(name)(f)


def no_line(f):
    """One row of report.csv is gone."""
    by_another(lambda d: None)(f)
    path = os.path.join(f.path, "report.csv")
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines(keepends=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line for line in lines if ",change_percent," not in line)


# What lies beside the files of a run is named.
BESIDE = [(name, base, put(name), f"told:nothing says that it is of this run: {name})") for base, name in (
    (NEW, "README.html"), (NEW, "samples/notes.txt"), (NEW, "samples/0-latency-before-1.csv"),
    (NEW, "samples/0-energy.csv"), (NEW, "samples/1-latency.csv"), (NEW, "samples/0-power-gpu0-nvml_energy.csv"),
    ("recorded/cuda-arm-failed", "samples/0-latency-before-2.csv"))]

# What another version published may have other sentences, and nothing else.
PUBLISHED = [
    ("by another version", NEW, by_another(lambda d: None),
     "told:(published by inferometer 0.0.9, revision aaaaaaaaaaaa"),
    ("by an empty revision", NEW, by_another(lambda d: None, revision=""), "told:0.0.9 of an unknown revision"),
    ("other sentences", "recorded/gated", by_another(other_sentences), "told:whose wording differs"),
    ("other words of gates", "recorded/gated", other_gates, "told:sentences, notes, gate.md, junit.xml were not"),
    ("a word of a comparison", NEW, by_another(of_change(flip)), "metric change_percent text"),
    ("no row of a comparison", NEW, by_another(of_change(lambda numbers, row: numbers.remove(row))),
     "metric change_percent"),
    ("another row in its place", NEW, by_another(of_change(cover)), "metric"),
    ("no number at all", NEW, by_another(lambda d: d.update(numbers=[])), "metric"),
    ("no value and no interval", NEW, by_another(of_change(bare)), "metric change_percent"),
    ("no interval", NEW, by_another(of_change(lambda numbers, row: row.pop("interval"))), "interval"),
    ("no warnings", "recorded/gated", by_another(no_warnings), "derived.json"),
    ("no gates", "recorded/gated", by_another(lambda v: v.update(gates=[]), "verdict.json"), "verdict.json"),
    ("no outcome", NEW, by_another(lambda v: v.pop("outcome"), "verdict.json"), "verdict.json: outcome"),
    ("another outcome", "recorded/gated", by_another(lambda v: v.update(outcome="pass"), "verdict.json"), "outcome"),
    ("no reasons", "recorded/gated", by_another(lambda v: v.update(reasons=[]), "verdict.json"), "reasons"),
    ("no line of the table", NEW, no_line, "report.csv"),
    *BESIDE,
]

# What is left alone is accepted, and so is what nothing in a folder can show.
CONTROLS = [("nothing", base, lambda f: None, "accepted")
            for base in ("null", "mde", "fast", "exec", "recorded/exec", "recorded/session", "recorded/gemm")]

ALL = RECORD + GAPS + OTHERS + READINGS + CONTROLS
