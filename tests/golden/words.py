#!/usr/bin/env python3
"""Everything that the goldens print as a name is explained: words.py COMMAND.

Headings of tables, verdicts and their labels, words of comparisons, states, rules, checklists, conditions, and terms of
several words inside sentences: each is taken from what the golden tests hold the product to, and from what some runs
and commands print on the terminal and in report.md, and asked of `explain`; so is every parameter of the schema. So are
the first cells of the rows of a table that has no names of its own there, and the headings that the sources give to
tables which no machine of a test prints, such as those of ncu and trace.
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
    r"^(warning|note|solid|undecided|noisy|biased|weak baseline|do not use|next|again|rest)(?=: )",
    r"(?:^Checklists  |, )([A-Z][a-z]+ (?:lock|checklist)) \([^)]*\): \d+ of",
    r"(?<=, )(cold cache|equal if within)\b",
    r"\b(MEASURED|PASS|FAIL|BLOCKED|INVALID|INCONCLUSIVE)\b",
    r"\b((?:read|write|copy|flops|matrix|L\d) ceiling|other programs|stolen time|steady state|working set|warm-up)\b",
    r"\b(attention layers|generated data|output error|kernel error|\w+ all the same|no interval|on both sides)\b",
    r"\b(undisturbed blocks|what is (?:paid|typical)|skewed|slow ones rarer than)\b",
    r"\b(lets it decide nothing|measured alone)\b",
    r"\b(not decided|could explain it|that the machine disturbed|belongs to the clock|behind itself|block by block)\b",
    r"^(attention scores|projections|feed-forward|LM head|pooler) {2,}",
    r"^[a-zA-Z -]+ {2,}(counted|architecture|parameters|declared) +(high|medium|low)",
    r"\b(at least|at most)(?= [\d+])|, ((?:whole )?interval)$",
)
RUNS = (  # of the scripted device, each in a folder that is called so
    ("decode", "decode", "--script", "step_ns=1000000; noise=0.01; arm.int4.step_ns=400000"),
    ("other", "decode", "--script", "step_ns=1010000; noise=0.01; arm.int4.step_ns=390000"),
    ("stream", "stream", "--script", "step_ns=1000000; noise=0.01"),
    ("exec", "exec", "a 1", "b 2", "--gates", "no-regression=3%", "--script", "step_ns=1000000; noise=0.1"),
)
COMMANDS = (  # A and B: two of these runs
    ("list", "RUNS"),
    ("compare", "A", "B"),
    ("compare", "A"),
    ("doctor",),
    ("power", "--seconds", "0.05", "--rated-w", "10"),
)
CONDITIONS = re.compile(r"^(?:decode|attention|gemm|stream|null|command)  (\S.*, margin .*)$")
LINKED = re.compile(r"\[([^]]*)\]\([^)]*\)|<[^>]*>|[*`]")
PIECE = re.compile(r"\S+(?: \S+)*")
HEADING = re.compile(r"[^\W\d]\S*(?: \S+){0,3}$")
DOCTOR = re.compile(r"^(\w\S*(?: \S+)*) +(ok|absent|warn) +\S")
SOURCES = {  # what some machines alone print: columns of listings, rows of doctor, limits of profile
    "*/*.c": re.compile(r'\{"[a-z_0-9]*",\s*"([^"]+)",\s*(?:true|false)\}'),
    "host/doctor.c": re.compile(r'^    \{"([^"]+)", "(?:/sys|/proc|)",\s', re.MULTILINE),
    "cli/cmd_profile.c": re.compile(r'^    \{"([^"]+)",\n +(?:OF_|GPU|INSIDE|WAIT)', re.MULTILINE),
}


def aligned(line, below):
    """How many pieces of a line begin or end where a piece of the next line does."""
    edges = {edge for piece in PIECE.finditer(below) for edge in [(0, piece.start()), (1, piece.end())]}
    return sum((0, piece.start()) in edges or (1, piece.end()) in edges for piece in PIECE.finditer(line))


def is_heading_row(above, line, below):
    """Of names alone, three or more, above a row that is aligned with it and below none."""
    pieces = [LEVEL.sub("", piece) for piece in PIECE.findall(line)]
    if re.match(r"^ *(arm|gate|cell|part) {2,}\S", line):
        return True
    return (len(pieces) >= 3 and all(map(HEADING.match, pieces)) and aligned(line, below) >= 2
            and aligned(line, above) < 2)


def headings(lines):
    """Of tables on the terminal, whose columns stand apart by two blanks, and of those in Markdown."""
    for at, line in enumerate(lines):
        if is_heading_row(lines[at - 1] if at > 0 else "", line, lines[at + 1] if at + 1 < len(lines) else ""):
            for heading in PIECE.findall(line):
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


def points(lines):
    """What `doctor` looked at, and the states of it."""
    if any(re.match(r"what +state +detail$", line) for line in lines):
        yield from (text for match in map(DOCTOR.match, lines) if match for text in match.groups())


def conditions(lines):
    """The words of "batch 4, 55 attention layers, equal if within ±0.3 %"; a sentence is none."""
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
    names = {*headings(lines), *row_heads(lines), *points(lines), *conditions(lines), *footnotes(lines)}
    for pattern in NAMES:
        for match in re.finditer(pattern, text, re.MULTILINE):
            names.update(group for group in match.groups() if group)
    return names - {""}


def printed_by(command, *arguments):
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(f"{arguments[0]} printed nothing: {done.stderr}")
    return done.stdout


def texts(command):
    """What is looked at, and where it is from."""
    for path in sorted(glob.glob(os.path.join(HERE, "*", "std*.*"))):
        with open(path, encoding="utf-8") as file:
            yield os.path.relpath(path, HERE), file.read()
    with tempfile.TemporaryDirectory(prefix="words-") as folder:
        for name, *run in RUNS:
            out = os.path.join(folder, name)
            common = ["--device", "fake", "--seed", "1", "--repeats", "60", "--quiet", "--out", out]
            subprocess.run([command, *run, *common], capture_output=True, check=False)
            for how in ([], ["--verbose"], ["--format", "md"]):
                yield " ".join([name, *how]), printed_by(command, "report", out, *how)
        names = {"RUNS": folder, "A": os.path.join(folder, "decode"), "B": os.path.join(folder, "other")}
        for words in COMMANDS:
            yield " ".join(words), printed_by(command, *(names.get(word, word) for word in words))


def printed(command):
    found = {}
    for path, text in texts(command):
        for name in names_in(text):
            found.setdefault(name, path)
    for files, pattern in SOURCES.items():
        names = {}
        for path in glob.glob(os.path.join(HERE, "..", "..", "src", files)):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if files != "*/*.c" or "ifm_listing_column" in text:
                names.update(dict.fromkeys(pattern.findall(text), os.path.basename(path)))
        if len(names) < 10:
            sys.exit(f"{files}: next to no names, {sorted(names)}")
        found = {**names, **found}
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
