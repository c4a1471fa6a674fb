#!/usr/bin/env python3
"""forge: everything in edits.py is done to copies of run folders, and must be found out.

forge.py INFEROMETER SOURCE SCRATCH [--random N [SEED]] [--only WORDS]
Recipe: edit, delete manifest.sha256, `derive`, `verify`, `gate --gates significant`. With --random N it changes single
fields of journal, slots and samples at random, and counts those that change a published number and are found.
"""
import hashlib
import json
import math
import os
import random
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import bases
import edits
import folder

SHARE = 0.995  # of the random edits that change a number


def invalid_findings(path):
    """The findings that are invalid, and the states of times and comparisons of the cell that was edited, the first."""
    with open(os.path.join(path, "derived.json"), encoding="utf-8") as file:
        derived = json.load(file)
    with open(os.path.join(path, "plan.json"), encoding="utf-8") as file:
        cell = json.load(file)["cells"][0]["name"]
    times = [n["state"] for n in derived["numbers"]
             if n["cell"] == cell and n["metric"] in ("step_ns", "change_percent", "speedup")]
    return [f["text"] for f in derived["findings"] if f["severity"] == "invalid"], times


def recipe(program, path):
    """Status and errors of derive, verify and gate."""
    out = []
    for words in (["derive", path], ["verify", path], ["gate", path, "--gates", "significant"]):
        done = bases.run([program, *words], path)
        out.append((done.returncode, done.stderr + done.stdout))
    return out


def hash_again(path):
    """A manifest of the folder as it is."""
    names = sorted(os.path.relpath(os.path.join(up, name), path) for up, _, files in os.walk(path) for name in files
                   if name not in ("private.json", "manifest.sha256"))
    with open(os.path.join(path, "manifest.sha256"), "w", encoding="utf-8") as manifest:
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                manifest.write(f"{hashlib.sha256(file.read()).hexdigest()}  {name}\n")


def wrong_of(said, path, results):
    """Why the folder does not say what it must; "" when it does."""
    (derived, words), (verified, more), (gated, _) = results
    if said == "edited":
        return "" if derived == verified == gated == 3 and "edited" in words else f"derive {derived}: {words[:300]}"
    if derived not in (0, 1, 3) or not os.path.exists(os.path.join(path, "derived.json")):
        return f"derive ends with {derived}: {words[:300]}"
    if said == "accepted":
        findings, times = invalid_findings(path)
        return "" if verified == 0 and not findings else f"verify {verified}, {findings} {more[:200]}"
    try:
        findings, times = invalid_findings(path)
    except (OSError, ValueError, KeyError) as problem:
        return str(problem)
    if derived == 3 and "edited" in words:
        return "the folder is not read: " + words[:200]
    if said == "refused" and not findings:
        return "no finding is invalid"
    if "ok" in times:
        return f"numbers stand: {times}"
    return "" if gated in (3, 4) else f"gate ends with {gated}"


class Bench:
    def __init__(self, program, source, scratch):
        self.program, self.scratch = program, scratch
        self.folders = {f"recorded/{name}": os.path.join(source, "tests/recorded", name) for name in bases.RECORDED}
        for name in bases.FRESH:
            self.folders[name] = bases.make(program, scratch, name)
        self.folders["metered"] = bases.make_metered(program, scratch)

    def copy(self, base, number):
        return folder.copy(self.folders[base], os.path.join(self.scratch, f"edit-{number}"))

    def one(self, numbered):
        number, (name, base, change, said) = numbered
        path = self.copy(base, number)
        forged = folder.Folder(path)
        try:
            change(forged)
        except (KeyError, IndexError, ValueError) as problem:
            return f"{base}: {name}: cannot be done: {problem!r}"
        forged.save()
        wrong = wrong_of(said, path, recipe(self.program, path))
        shutil.rmtree(path)
        return f"{base}: {name}: must be {said}: {wrong}" if wrong else ""

    def published(self, numbered):
        """An edit behind `derive`."""
        number, (name, base, change, said) = numbered
        path = self.copy(base, f"published-{number}")
        if bases.run([self.program, "derive", path], path).returncode not in (0, 1, 3):
            return f"{base}: {name}: derive fails"
        try:
            change(folder.Folder(path))
        except (KeyError, IndexError, ValueError) as problem:
            return f"{base}: {name}: cannot be done: {problem!r}"
        hash_again(path)
        done = bases.run([self.program, "verify", path], path)
        shutil.rmtree(path)
        text, told = done.stdout + done.stderr, said.startswith("told:")
        fits = done.returncode == (0 if told else 3) and said.removeprefix("told:") in text
        return "" if fits else f"{base}: {name}: verify must say {said}, ends with {done.returncode}: {text[:400]}"


# ---- single fields at random ----

def numbers_of(path):
    with open(os.path.join(path, "derived.json"), encoding="utf-8") as file:
        derived = json.load(file)
    return {(n["cell"], n["arm"], n["metric"]): (n["state"], n["value"]) for n in derived["numbers"]}


def leaves(tree, at=()):
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, at + (key,))
    elif isinstance(tree, list):
        for i, value in enumerate(tree):
            yield from leaves(value, at + (i,))
    else:
        yield at, tree


def another(value, draw):
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return draw.choice([value + 1, max(0, value - 1), value * 2, value // 2, round(value * 0.98)])
    if isinstance(value, float):
        return value * draw.choice([0.5, 0.98, 1.02, 2])
    return "x" if value is None else value + "x"


def change_leaf(tree, draw):
    """One leaf of a tree becomes another; returns its path."""
    at, value = draw.choice(list(leaves(tree)))
    for key in at[:-1]:
        tree = tree[key]
    tree[at[-1]] = another(value, draw)
    return ".".join(map(str, at))


def change_field(forged, draw):
    kind = draw.choice(["plan", "journal", "slots", "samples"])
    if kind == "plan":
        where = []
        forged.json("plan.json", lambda plan: where.append(change_leaf(plan, draw)))
        return f"plan.json {where[0]}"
    if kind == "journal":
        line = draw.randrange(len(forged.log))
        event = json.loads(forged.log[line])
        where = change_leaf(event, draw)
        forged.put(line, event)
        return f"run.log:{line + 1} {where}"
    table = forged.slots if kind == "slots" else forged.samples
    row, column = draw.randrange(len(table.rows)), draw.randrange(len(table.header))
    old = table.rows[row][column]
    table.rows[row][column] = str(another(int(old), draw)) if old else "1"
    return f"{kind} row {row} {table.header[column]}"


def same_number(was, now):
    if was is None or now is None:
        return was == now
    return was[0] == now[0] and (was[1] == now[1] or (isinstance(was[1], float) and isinstance(now[1], (int, float))
                                                     and math.isclose(was[1], now[1], rel_tol=1e-9)))


def random_edit(bench, base, seed):
    """None = no number changed; else whether it was found, and what it was."""
    draw = random.Random(seed)
    path = bench.copy(base, f"random-{seed}")
    was = numbers_of(path)
    forged = folder.Folder(path)
    what = change_field(forged, draw)
    forged.save()
    os.unlink(os.path.join(path, "derived.json"))
    bases.run([bench.program, "derive", path], path)
    if not os.path.exists(os.path.join(path, "derived.json")):
        found = True # it is not read, whatever it would have changed
    else:
        now = numbers_of(path)
        if all(same_number(number, now.get(key)) for key, number in was.items()):
            found = None
        else:
            found = bool(invalid_findings(path)[0]) or bases.run([bench.program, "verify", path], path).returncode != 0
    shutil.rmtree(path)
    return found, f"{base}: {what}"


def at_random(bench, count, seed):
    draws = [(bench, random.Random(seed + i).choice(sorted(bases.FRESH)), seed + i) for i in range(count)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda draw: random_edit(*draw), draws))
    missed = [what for found, what in results if found is False]
    telling = sum(found is not None for found, _ in results)
    for what in missed:
        print(what, "changes a number and is not found")
    print(f"{count} single fields at random: {telling} matter, {telling - len(missed)} found")
    return len(missed) <= (1 - SHARE) * telling


def main():
    words = sys.argv[1:]
    program, source, scratch = os.path.abspath(words[0]), words[1], os.path.abspath(words[2])
    bench = Bench(program, source, scratch)
    if "--random" in words:
        rest = words[words.index("--random") + 1:]
        return 0 if at_random(bench, int(rest[0]), int(rest[1]) if len(rest) > 1 else 1) else 1
    rows, published = edits.ALL, edits.PUBLISHED
    if "--only" in words:
        only = words[words.index("--only") + 1]
        rows, published = ([row for row in table if only in f"{row[1]}: {row[0]}"] for table in (rows, published))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [line for line in pool.map(bench.one, enumerate(rows)) if line]
        wrong += [line for line in pool.map(bench.published, enumerate(published)) if line]
    for line in wrong:
        print(line)
    print(f"{len(rows) + len(published)} edits, {len(wrong)} not as they must be")
    return 1 if wrong or not rows + published else 0


if __name__ == "__main__":
    sys.exit(main())
