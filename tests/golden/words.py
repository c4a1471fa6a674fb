#!/usr/bin/env python3
"""Everything that the goldens print as a name is explained: words.py COMMAND.

Headings of tables, verdicts and their labels, words of comparisons, states, rules, checklists, conditions, and terms of
several words inside sentences: each is taken from what the golden tests hold the product to, and from what some runs
print on the terminal and in report.md, and asked of `explain`; so is every parameter of the schema. So are the first
cells of the rows of a table that has no names of its own there.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROW = re.compile(r"^\|.*\|$")
LINE = re.compile(r"^\|[-:| ]+\|$")
# "vs baseline [98.3 %]", "TPOT at least (batch 4)"
LEVEL = re.compile(r" [\[(](?:[\d.]+(?: to [\d.]+)? %|batch \d+)[\])]$")
NAMES = (
    r"\b(rule-\d\d)\b",
    r"^([A-Z]{4,})  ",  # the verdict of a run
    r'"(?:outcome|state|word|label)": "([^"]+)"',
    r"\b(faster|slower|equivalent|undecided|absent|refused|inactive|blocked|inconclusive|verified|interrupted)\b",
    r"^(warning|note|solid|noisy|biased|do not use)(?=: )",
    r"(?:^Checklists  |, )([A-Z][a-z]+ (?:lock|checklist)) \([^)]*\): \d+ of",
    r"(?<=, )(hot cache|cold cache|margin)\b",
    r"\b(MEASURED|PASS|FAIL|BLOCKED|INVALID|INCONCLUSIVE)\b",
    r"\b((?:read|write|copy|flops|matrix|L\d) ceiling|other programs|stolen time|steady state|working set|warm-up)\b",
    r"\b(attention layers|generated data|output error|kernel error|more warnings|no interval|on both sides)\b",
    r"\b(undisturbed blocks|what is (?:paid|typical)|skewed|slow ones rarer than)\b",
    r"\b(lets it decide nothing|measured alone)\b",
    r"\b(not decided|could explain it|count for nothing|belongs to the clock|behind itself|block by block)\b",
    r"^(attention scores|projections|feed-forward|LM head|pooler) {2,}",
    r"^[a-zA-Z -]+ {2,}(counted|architecture|parameters|declared) +(high|medium|low)",
    r"\b(at least|at most)(?= [\d+])|, ((?:whole )?interval)$",
)
RUNS = (  # of the scripted device
    ("decode", "--script", "step_ns=1000000; noise=0.01; arm.int4.step_ns=400000"),
    ("stream", "--script", "step_ns=1000000; noise=0.01"),
    ("exec", "a 1", "b 2", "--gates", "no-regression=3%", "--script", "step_ns=1000000; noise=0.1"),
)
CONDITIONS = re.compile(r"^(?:decode|attention|gemm|stream|null|command)  (\S.*, margin .*)$")
LINKED = re.compile(r"\[([^]]*)\]\([^)]*\)|<[^>]*>|[*`]")


def headings(lines):
    """Of tables on the terminal, whose columns stand apart by two blanks, and of those in Markdown."""
    for at, line in enumerate(lines):
        if re.match(r"^ *(arm|gate|cell|part) {2,}\S", line):
            for heading in re.split(r" {2,}", line.strip()):
                yield LEVEL.sub("", heading)
        if at > 0 and LINE.match(line) and ROW.match(lines[at - 1]):
            yield from (piece.strip() for piece in lines[at - 1].strip("|").split("|"))


def row_heads(lines):
    """Of tables in Markdown without a heading over the first column, up to a unit or a value in brackets."""
    bare = False
    for at, line in enumerate(lines):
        if at > 0 and LINE.match(line) and ROW.match(lines[at - 1]):
            bare = lines[at - 1].startswith("|  |") or lines[at - 1].startswith("| |")
        elif bare and ROW.match(line):
            head = LINKED.sub(r"\1", line.strip("|").split("|")[0]).split(" (")[0].strip()
            if not head[:1].isdigit():
                yield head
        else:
            bare = False


def conditions(lines):
    """The words of "batch 4, 55 attention layers, hot cache, margin ±0.3 %"; a sentence is none."""
    for line in lines:
        for piece in (match.group(1) for match in [CONDITIONS.match(line)] if match):
            for condition in piece.split(", "):
                words = [word for word in condition.split() if not re.search(r"[\d…%]", word)]
                if 0 < len(words) <= 3:
                    yield " ".join(words)


FOOTNOTE = re.compile(r"^ +[\u00b9\u00b2\u00b3\u2074-\u2079] (.*?)(?:\. Remedy:.*| \u2026)?$")


def footnotes(lines):
    """Sentences below a table: whoever pastes one into explain gets an answer."""
    for line in lines:
        match = FOOTNOTE.match(line)
        if match:
            yield match.group(1)


def names_in(text):
    lines = text.split("\n")
    names = {*headings(lines), *row_heads(lines), *conditions(lines), *footnotes(lines)}
    for pattern in NAMES:
        for match in re.finditer(pattern, text, re.MULTILINE):
            names.update(group for group in match.groups() if group)
    return names - {""}


def printed(command):
    found = {}
    for path in sorted(glob.glob(os.path.join(HERE, "*", "std*.*"))):
        with open(path, encoding="utf-8") as file:
            for name in names_in(file.read()):
                found.setdefault(name, os.path.relpath(path, HERE))
    for run in RUNS:
        with tempfile.TemporaryDirectory(prefix="words-") as folder:
            common = ["--device", "fake", "--seed", "1", "--repeats", "60", "--quiet", "--out", folder + "/run"]
            subprocess.run([command, *run, *common], capture_output=True, check=False)
            for how in ([], ["--verbose"], ["--format", "md"]):
                done = subprocess.run([command, "report", folder + "/run", *how], capture_output=True, text=True,
                                      check=False)
                if not done.stdout:
                    sys.exit(f"{run[0]} printed nothing: {done.stderr}")
                for name in names_in(done.stdout):
                    found.setdefault(name, " ".join([run[0], *how]))
    return found


def parameters(command):
    """Keys of the schema, whole and by their last part."""
    schema = json.loads(subprocess.run([command, "schema"], capture_output=True, check=True, text=True).stdout)
    for key, value in schema["properties"].items():
        if key in ("arms", "gates", "plugin") or "properties" in value:
            continue
        yield key
        yield key.split(".")[-1]


def is_explained(command, name):
    return subprocess.run([command, "explain", name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def main():
    command = sys.argv[1]
    if is_explained(command, "nothing like this"):
        sys.exit("explain answers whatever it is asked")
    found = printed(os.path.abspath(command))
    if len(found) < 40:
        sys.exit(f"only {len(found)} names were found in the goldens: {sorted(found)}")
    keys = {key: "schema" for key in parameters(command)}
    if len(keys) < 100:
        sys.exit(f"the schema has only {len(keys)} keys")
    found = {**keys, **found}
    unknown = [f"{path}: {name}" for name, path in sorted(found.items()) if not is_explained(command, name)]
    print("\n".join(unknown) or f"{len(found)} names, each explained")
    sys.exit(1 if unknown else 0)


if __name__ == "__main__":
    main()
