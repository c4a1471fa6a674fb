#!/usr/bin/env bash
# Somebody else's folder: escape sequences, C1 controls, texts that turn the direction, markup and formulas in any
# string of its files, and in its own name, reach no terminal, report, table or JUnit file as what they are.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 python3
cat >study.yaml <<'YAML'
workload: decode
seed: 7
ceilings: none
device:
  kind: fake
  script: "step_ns=1000; noise=0.01; arm.int4.step_ns=400"
decode:
  compress: 1,4
measure:
  stop: repeats
  repeats: 60
gates:
  - metric: speedup
    op: at_least
    threshold: 0.1
YAML
"$INFEROMETER" run -c study.yaml --quiet --out other >/dev/null 2>errors || fail "the other run: $(cat errors)"
"$INFEROMETER" run -c study.yaml --quiet --out whole >/dev/null 2>errors || fail "the run: $(cat errors)"
python3 - <<'PY'
import csv, io, json, os, re, shutil, subprocess, sys

COMMAND = os.environ["INFEROMETER"]
HOSTILE = '=HYPERLINK("http://x")\x1b]0;owned\x07\x9b31m\u202e\u2066\u2028<script>alert(1)</script>\r\n# x | `y` '
HOSTILE += "\U000e0041"
RECORD = ("plan.json", "run.log", "config.lock.json")
BIDI = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
OWN_SCRIPTS = open("whole/report.html").read().count("<script")
reached = set()
planted = derived = 0


def check(where, data):
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        sys.exit(f"{where}: no UTF-8: {problem}")
    for i, c in enumerate(text):
        if (c < " " and c != "\n") or "\x7f" <= c <= "\x9f" or c in BIDI or "\U000e0000" <= c <= "\U000e007f":
            sys.exit(f"{where}: U+{ord(c):04X} in {text[max(0, i - 80):i + 40]!r}")
    if "alert(1)" in text:
        reached.add(where.split(" after ")[0])
    name = where.split(" ")[0]
    if name.endswith(".md") and re.search(r"(?<!\\)<script", text):
        sys.exit(f"{where}: markup")
    if name.endswith(".html") and (text.count("<script") != OWN_SCRIPTS or "<script>alert" in text):
        sys.exit(f"{where}: markup")
    if name.endswith(".xml") and "<script" in text:
        sys.exit(f"{where}: markup")
    if name.endswith(".csv"):
        for row in csv.reader(io.StringIO(text)):
            for cell in row:
                if cell[:1] in ("=", "+", "-", "@", "\t") and not re.fullmatch(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", cell):
                    sys.exit(f"{where}: a formula: {cell[:60]!r}")


def do(what, *arguments):
    done = subprocess.run([COMMAND, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    name = " ".join(word for word in arguments if word != folder)
    if done.returncode < 0 or done.returncode > 5:
        sys.exit(f"{name} after {what}: status {done.returncode}: {done.stderr!r}")
    kind = arguments[arguments.index("--format") + 1] if "--format" in arguments else "txt"
    check(f"{arguments[0]}.{kind} ({name}) after {what}", done.stdout)
    check(f"{arguments[0]}.stderr ({name}) after {what}", done.stderr)
    return done.returncode


def try_all(what, every):
    """All commands over the folder that stands there."""
    global derived
    derived += do(what, "derive", folder) in (0, 1, 3)  # 3: published as invalid, with the text in its reasons
    do(what, "verify", folder)
    do(what, "gate", folder, "--junit", "junit.xml", "--markdown", "gate.md")
    do(what, "compare", folder)
    do(what, "summary", folder)
    do(what, "list", ".", *(("--format", "csv") if every else ()))
    if every:
        do(what, "judge", folder)
        do(what, "gate", folder, "--gates", "significant")
        do(what, "compare", "other", folder)
        do(what, "gate", folder, "--against", "other")
        do(what, "run", "--resume", folder)
        do(what, "rerun", folder, "--out", folder + "-again")
        for kind in ("md", "csv", "json", "jsonl"):
            do(what, "report", folder, "--format", kind)
            do(what, "list", ".", "--format", kind)
            do(what, "compare", folder, "--format", kind)
    outputs = ["junit.xml", "gate.md"]
    for base, _, names in os.walk(folder):
        outputs += [os.path.join(base, name) for name in names if name not in RECORD + ("private.json",)]
    for path in outputs:
        if os.path.exists(path):
            with open(path, "rb") as file:
                check(f"{os.path.basename(path)} after {what}", file.read())


def texts_of(value, found):
    """The distinct strings among the values."""
    if isinstance(value, dict):
        for inner in value.values():
            texts_of(inner, found)
    elif isinstance(value, list):
        for inner in value:
            texts_of(inner, found)
    elif isinstance(value, str) and value not in found:
        found.append(value)


def replaced(value, old):
    if isinstance(value, dict):
        return {key: replaced(inner, old) for key, inner in value.items()}
    if isinstance(value, list):
        return [replaced(inner, old) for inner in value]
    return HOSTILE if value == old else value


def read(name):
    with open(os.path.join("whole", name)) as file:
        return [json.loads(line) for line in file] if name == "run.log" else json.load(file)


def write(name, value):
    if name == "plan.json":
        value.pop("rules", None)
    with open(os.path.join(folder, name), "w") as file:
        if name == "run.log":  # as an older version wrote it, which knew no hashes that an edit breaks
            for line in value:
                line.pop("prev", None)
                line.pop("mono_ns", None)
                line["meta"].pop("plan_sha256", None)
            file.writelines(json.dumps(line) + "\n" for line in value if line["stage"] != "block")
        else:
            json.dump(value, file)


def plant(text, names, every):
    """The text is replaced wherever it stands in these files, which then agree with one another."""
    global planted
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree("whole", folder)
    os.remove(os.path.join(folder, "manifest.sha256"))
    for name in names:
        write(name, replaced(record[name], text))
    planted += 1
    try_all(f"{text[:30]!r} in {' and '.join(names)}", every)


record = {name: read(name) for name in RECORD}
folder = "planted"
texts = []
for name in RECORD:
    texts_of(record[name], texts)
for i, text in enumerate(texts):
    plant(text, ("plan.json", "run.log"), i % 4 == 0)
    if i % 3 == 2:
        plant(text, RECORD, False)
    if '"%s"' % text in json.dumps(record["config.lock.json"]):
        plant(text, ("config.lock.json",), i % 4 == 1)
folder = "a\x1b]0;b\x07\u009b\u202e\n=<script>alert(1)<"
shutil.copytree("whole", folder)
try_all("the folder's name", True)
for words in (["derive", "no" + folder], ["run", "-c", folder], ["compare", "whole", folder + "x"], [folder],
              ["explain", folder], ["gate", "whole", "--gates", folder], ["run", "--override", folder + "=1"],
              ["run", "--" + folder], ["help", folder], ["null", "--device", "fake", "--dry-run", "--override", folder],
              ["exec", folder], ["lock", "--", folder], ["list", folder + "x"]):
    do("the command line", *words)
if derived < planted // 10 or not any(place.startswith("report.md") for place in reached):
    sys.exit(f"hardly any text came far: {derived} of {planted} derived, seen in {sorted(reached)[:5]}")
print(f"{planted} plants, {derived} derived, harmless in {len(reached)} places")
PY
