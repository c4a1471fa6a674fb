#!/usr/bin/env python3
"""Everything that the goldens print as a name is explained: words.py COMMAND.

Headings of tables, verdicts and their labels, words of comparisons, states, rules, checklists: each is taken from what
the golden tests hold the product to, and asked of `explain`; so is every parameter of the schema.
"""
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROW = re.compile(r"^\|.*\|$")
LINE = re.compile(r"^\|[-:| ]+\|$")
LEVEL = re.compile(r" \((?:[\d.]+(?: to [\d.]+)? %|batch \d+)\)$")  # "vs baseline (98.3 %)", "TPOT at least (batch 4)"
NAMES = (
    r"\b(rule-\d\d)\b",
    r"^([A-Z]{4,})  ",  # the verdict of a run
    r'"(?:outcome|state|word|label)": "([^"]+)"',
    r"\b(faster|slower|equivalent|undecided|absent|refused|inactive|blocked|inconclusive|verified|interrupted)\b",
    r"^(warning|note|solid|noisy|do not use)(?=: )",
    r"(?:^Checklists  |, )([A-Z][a-z]+ (?:lock|checklist)): \d+ of",
    r"(?<=, )(hot cache|cold cache|margin)\b",
    r"\b(MEASURED|PASS|FAIL|BLOCKED|INVALID|INCONCLUSIVE)\b",
)


def headings(lines):
    """Of tables on the terminal, whose columns stand apart by two blanks, and of those in Markdown."""
    for at, line in enumerate(lines):
        if re.match(r"^ *(arm|gate|cell) {2,}\S", line):
            for heading in re.split(r" {2,}", line.strip()):
                yield LEVEL.sub("", heading)
        if at > 0 and LINE.match(line) and ROW.match(lines[at - 1]):
            yield from (piece.strip() for piece in lines[at - 1].strip("|").split("|"))


def printed():
    found = {}
    for path in sorted(glob.glob(os.path.join(HERE, "*", "std*.*"))):
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        names = set(headings(lines))
        for pattern in NAMES:
            names.update(re.findall(pattern, "\n".join(lines), re.MULTILINE))
        for name in names:
            if name:
                found.setdefault(name, os.path.relpath(path, HERE))
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
    found = printed()
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
