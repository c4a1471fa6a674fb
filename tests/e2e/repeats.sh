#!/usr/bin/env bash
# Blocks that the machine disturbed, on a scripted clock whose time is stolen in some slots: they are run again within
# the budget, told of in run.log, set aside by the comparison and kept in the record; a killed run goes on as if it had
# not been. Whoever calls another block disturbed, or a repeat none, is found out, with every hash made to fit.
source "$(dirname "$0")/lib.sh"
need python3 python3
script="step_ns=2e6; noise=0.003; arm.other.step_ns=1.9e6; steal=0.4; steal_slots="
measure() { # folder seed rest-of-the-script [flags]
    "$INFEROMETER" exec base other --device fake --script "$script$3" --seed "$2" --out "$1" --quiet "${@:4}" \
        >/dev/null 2>errors
}
measure whole 1 0.12 || fail "$(cat errors)"
measure few 2 0.9 --cap 3s || fail "$(cat errors)"
measure count 3 0.12 --repeats 400 || fail "$(cat errors)"
if measure cut 1 "0.12; die_after_slots=60"; then fail "the scripted device did not die"; fi
"$INFEROMETER" run --resume cut >/dev/null 2>errors || fail "resume: $(cat errors)"
for folder in whole few count cut; do
    "$INFEROMETER" verify "$folder" >/dev/null 2>errors || fail "$folder: $(cat errors)"
done
PYTHONPATH="$IFM_SOURCE/tests/forge" PYTHONDONTWRITEBYTECODE=1 python3 - <<'PY' || fail "blocks are not repeated"
import json, os, shutil, subprocess, folder

def look(name):
    """Repeated blocks, disturbed ones by the columns, all measured ones, and the numbers of `other`."""
    rows = [row.split(",") for row in open(f"{name}/samples/0-latency-slots.csv").read().split("\n")[:-1]]
    at = {key: i for i, key in enumerate(rows[0])}
    measured = [row for row in rows[1:] if row[at["phase"]] == "1"]
    stolen = {int(row[0]) for row in measured
              if int(row[at["steal_ns"]]) > 0.05 * (int(row[at["end_ns"]]) - int(row[at["start_ns"]]))}
    events = [json.loads(line) for line in open(f"{name}/run.log")]
    repeated = [e["meta"]["block"] for e in events if e["stage"] == "repeated"]
    numbers = {n["metric"]: n for n in json.load(open(f"{name}/derived.json"))["numbers"] if n["arm"] == "other"}
    return repeated, stolen, {int(row[0]) for row in measured}, numbers

repeated, stolen, blocks, numbers = look("whole")
assert len(repeated) >= 3 and set(repeated) <= stolen, (repeated, stolen)
assert numbers["change_percent"]["n"] == len(blocks) - len(stolen)
assert numbers["change_percent"]["text"] == "faster" and abs(numbers["change_percent"]["value"] + 5) < 0.5
assert numbers["change_percent_all_blocks"]["n"] == len(blocks)
repeated, stolen, blocks, numbers = look("few")
assert len(repeated) <= len(blocks) / 2 + 1 and numbers["change_percent"]["text"] == "undecided"
repeated, stolen, blocks, numbers = look("count") # as many samples as were asked for
assert not repeated and stolen and numbers["samples_count"]["value"] == 400
assert numbers["change_percent"]["n"] == len(blocks) - len(stolen)
repeated, stolen, blocks, numbers = look("cut")
assert repeated and set(repeated) <= stolen and len(set(repeated)) == len(repeated)

def edited(name, change, found=True):
    shutil.rmtree("edit", ignore_errors=True)
    shutil.copytree("whole", "edit")
    os.remove("edit/manifest.sha256")
    f = folder.Folder("edit")
    change(f)
    f.refit()
    f.save()
    code = subprocess.run([os.environ["INFEROMETER"], "derive", "edit"], capture_output=True, text=True).returncode
    change = {n["metric"]: n for n in json.load(open("edit/derived.json"))["numbers"]
              if n["arm"] == "other"}["change_percent"] if code == 0 else {"state": "unread"}
    assert (change["state"] != "ok") == found, f"{name}: {code} {change}"

def call_disturbed(f):
    quiet = sorted(blocks_of("whole")[2] - blocks_of("whole")[1])[2]
    number, event = f.event("repeated")
    event["meta"]["block"] = quiet
    f.put(number, event)

def take_cause_away(f):
    first = sorted(blocks_of("whole")[0])[0]
    for k in range(len(f.slots.rows)):
        if int(f.slots.get(k, "block")) == first:
            f.slots.set(k, "steal_ns", 0)

def steal(f):
    quiet = sorted(blocks_of("whole")[2] - blocks_of("whole")[1])[2]
    for k in range(len(f.slots.rows)):
        if int(f.slots.get(k, "block")) == quiet:
            f.slots.set(k, "steal_ns", (int(f.slots.get(k, "end_ns")) - int(f.slots.get(k, "start_ns"))) // 2)

blocks_of = look
edited("nothing, refitted", lambda f: None, found=False)
edited("a quiet block is called disturbed", call_disturbed)
edited("a repeat is kept silent", lambda f: f.forget("repeated"))
edited("a cause is taken away", take_cause_away)
edited("a cause is put in", steal)
PY
echo "repeated, replayed, resumed, and not forged"
