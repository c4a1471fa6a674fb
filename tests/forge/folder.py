"""folder: a run folder as a forger sees it: samples and slots as tables, the journal as lines, JSON files as trees.

`Folder` is edited in place and written back by `save`; what was not touched keeps its bytes. `refit` makes every hash
inside the folder fit again (the journal's lines, the chain of each record): what a forger does who edits both.
"""
import hashlib
import json
import os
import shutil


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Table:
    """A file of integers with a header; a row is a list of texts."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.header = lines[0].split(",")
        self.rows = [line.split(",") for line in lines[1:]]

    def column(self, name):
        return self.header.index(name)

    def get(self, row, name):
        return int(self.rows[row][self.column(name)])

    def set(self, row, name, value):
        self.rows[row][self.column(name)] = "" if value is None else str(value)

    def lines(self, rows):
        return "".join(",".join(row) + "\n" for row in rows)

    def save(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(",".join(self.header) + "\n" + self.lines(self.rows))


class Folder:
    def __init__(self, path, cell=0, kind="latency"):
        self.path, self.cell, self.kind = path, cell, kind
        self.slots = Table(os.path.join(path, f"samples/{cell}-{kind}-slots.csv"))
        self.samples = Table(os.path.join(path, f"samples/{cell}-{kind}.csv"))
        with open(os.path.join(path, "run.log"), encoding="utf-8") as file:
            self.log = file.read().splitlines()

    # ---- samples and slots ----

    def of_slot(self, slot):
        """Numbers of the samples of a slot."""
        return [i for i, row in enumerate(self.samples.rows) if row[0] == str(slot)]

    def slots_of(self, arm, phase=1):
        return [k for k in range(len(self.slots.rows))
                if self.slots.get(k, "arm") == arm and self.slots.get(k, "phase") == phase]

    def scale(self, arm, factor, phases=(1,)):
        """Durations of an arm, and nothing else."""
        for phase in phases:
            for slot in self.slots_of(arm, phase):
                for i in self.of_slot(slot):
                    self.samples.set(i, "duration_ns", round(self.samples.get(i, "duration_ns") * factor))

    def lay_out(self):
        """Let the samples of every slot keep their gaps, and the slot end with the last of them."""
        for slot in range(len(self.slots.rows)):
            mine = self.of_slot(slot)
            old = self.slots.get(slot, "start_ns")
            now = old
            for i in mine:
                start = self.samples.get(i, "start_ns")
                now += self.before.get(i, 0)
                self.samples.set(i, "start_ns", now if i in self.before else start)
                now += self.samples.get(i, "duration_ns")
            self.slots.set(slot, "end_ns", now)

    def keep_gaps(self):
        """Remember the gap before each sample, for lay_out."""
        self.before = {}
        for slot in range(len(self.slots.rows)):
            now = self.slots.get(slot, "start_ns")
            for i in self.of_slot(slot):
                self.before[i] = self.samples.get(i, "start_ns") - now
                now = self.samples.get(i, "start_ns") + self.samples.get(i, "duration_ns")

    def rescale(self, arm, factor, phases=(1,)):
        """The careful forger: durations scaled, every slot laid out anew."""
        self.keep_gaps()
        self.scale(arm, factor, phases)
        self.lay_out()

    def shrink(self, factor):
        """The whole time axis."""
        for table, names in ((self.slots, ("start_ns", "end_ns")), (self.samples, ("start_ns",))):
            for row in range(len(table.rows)):
                for name in names:
                    table.set(row, name, int(table.get(row, name) * factor))
        for slot in range(len(self.slots.rows)):
            mine = self.of_slot(slot)
            ends = [self.samples.get(i, "start_ns") for i in mine[1:]] + [self.slots.get(slot, "end_ns")]
            for i, end in zip(mine, ends):
                self.samples.set(i, "duration_ns", end - self.samples.get(i, "start_ns"))

    def drop_blocks(self, drop):
        """Without these measured blocks, the rest numbered anew."""
        blocks = sorted({self.slots.get(k, "block") for k in range(len(self.slots.rows))
                         if self.slots.get(k, "phase") == 1})
        gone = {blocks[i] for i in drop}
        left, number, slots, samples = [], {}, [], []
        for k in range(len(self.slots.rows)):
            if self.slots.get(k, "block") in gone:
                continue
            block = self.slots.get(k, "block")
            number.setdefault(block, len(number))
            samples += [[str(len(slots))] + self.samples.rows[i][1:] for i in self.of_slot(k)]
            row = list(self.slots.rows[k])
            row[0] = str(number[block])
            slots.append(row)
            left.append(k)
        self.slots.rows, self.samples.rows = slots, samples

    # ---- the journal ----

    def event(self, stage, nth=0):
        """(number of the line, its object) of an event; a negative nth counts from the end."""
        found = [i for i, line in enumerate(self.log) if json.loads(line)["stage"] == stage]
        return found[nth], json.loads(self.log[found[nth]])

    def put(self, number, event):
        self.log[number] = json.dumps(event, separators=(",", ":"))

    def tell(self, stage, member, value, nth=0):
        """Change a member of an event's meta; value may be a function of the old one."""
        number, event = self.event(stage, nth)
        event["meta"][member] = value(event["meta"][member]) if callable(value) else value
        self.put(number, event)

    def stamp(self, stage, name, change, nth=0):
        number, event = self.event(stage, nth)
        event[name] += change
        self.put(number, event)

    def forget(self, stage, nth=0):
        del self.log[self.event(stage, nth)[0]]

    # ---- the files ----

    def json(self, name, change):
        path = os.path.join(self.path, name)
        with open(path, encoding="utf-8") as file:
            tree = json.load(file)
        change(tree)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(tree, file)

    def chain(self):
        """The values of the record's chain, and the samples of each block."""
        values, counts = [], []
        value = sha256(",".join(self.samples.header) + "\n" + ",".join(self.slots.header) + "\n")
        blocks = {}
        for k in range(len(self.slots.rows)):
            blocks.setdefault(self.slots.rows[k][0], []).append(k)
        for slots in blocks.values():
            mine = {str(k) for k in slots}
            samples = [row for row in self.samples.rows if row[0] in mine]
            value = sha256(value + sha256(self.samples.lines(samples)) +
                           sha256(self.slots.lines([self.slots.rows[k] for k in slots])))
            values.append(value)
            counts.append(len(samples))
        return values, counts

    def refit(self):
        """Every hash of journal and record fits again; blocks that are gone lose their event."""
        values, counts = self.chain()
        with open(os.path.join(self.path, "plan.json"), encoding="utf-8") as file:
            name = json.load(file)["cells"][self.cell]["name"]
        log, before = [], ""
        for line in self.log:
            event = json.loads(line)
            meta = event["meta"]
            if event["stage"] == "block" and (meta["cell"], meta["pass"]) == (name, self.kind):
                if meta["block"] >= len(values):
                    continue
                meta["chain"], meta["samples"] = values[meta["block"]], counts[meta["block"]]
            if "prev" in event:
                event["prev"] = sha256(before)
            before = json.dumps(event, separators=(",", ":"))
            log.append(before)
        self.log = log

    def strip(self):
        """As if an older version had recorded it."""
        events = [json.loads(line) for line in self.log]
        self.log = []
        for event in events:
            event.pop("prev", None)
            event.pop("mono_ns", None)
            if event["stage"] != "block":
                self.log.append(json.dumps(event, separators=(",", ":")))

    def save(self):
        self.slots.save()
        self.samples.save()
        with open(os.path.join(self.path, "run.log"), "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in self.log))


def copy(source, target):
    shutil.copytree(source, target)
    manifest = os.path.join(target, "manifest.sha256")
    if os.path.exists(manifest):
        os.unlink(manifest)
    return target
