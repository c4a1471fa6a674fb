#!/usr/bin/env python3
"""Holds `verify` and `gate` to the edits of plan_edits.py: replan.py SCRATCH.

Each edit is made in a copy of an honest folder; the journal's hash of plan.json is made to fit, the manifest is
removed, and `derive` publishes anew. Then `verify` must refuse the folder and name the leaf, and no gate may pass.
Needs INFEROMETER and IFM_SOURCE.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

from plan_edits import EDITS, LOWERED, STUDIES

COMMAND, SOURCE = os.environ["INFEROMETER"], os.environ["IFM_SOURCE"]
TREES = ("settings", "chosen", "axes")  # their keys hold dots


def call(*arguments):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=250, check=False)
    return done.returncode, done.stdout + done.stderr


def keys_of(path):
    """cells[0].arms[1].settings.decode.kv_len as ["cells", 0, "arms", 1, "settings", "decode.kv_len"]."""
    keys = []
    words = re.findall(r"[^.\[\]]+|\[\d+\]", path)
    while words:
        word = words.pop(0)
        keys.append(int(word[1:-1]) if word.startswith("[") else word)
        if word in TREES and words:
            keys.append(".".join(words))
            words = []
    return keys


def apply(plan, path, how, value):
    *up, key = keys_of(path)
    owner = plan
    for step in up:
        owner = owner[step]
    if how == "times":
        product = owner[key] * value
        owner[key] = int(product) if isinstance(owner[key], int) else product
    elif how == "set":
        owner[key] = not owner[key] if value == "not" else value
    elif how == "drop":
        del owner[key]
        for i, item in enumerate(owner if isinstance(owner, list) and path.startswith("cells[") else []):
            if isinstance(item, dict) and "index" in item:
                item["index"] = i
    elif how == "copy":
        owner.insert(key + 1, {**json.loads(json.dumps(owner[key])), **value})
    else:
        sys.exit(f"{how} is no way to edit a leaf")


def rewrite(folder, edits, refit, revision=None):
    path, log = os.path.join(folder, "plan.json"), os.path.join(folder, "run.log")
    with open(path, encoding="utf-8") as file:
        plan = json.load(file)
    whole = json.dumps(plan)
    for edit in edits:
        apply(plan, *edit)
    if json.dumps(plan) == whole:
        sys.exit(f"{edits}: change nothing")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(plan, file, indent=2)
    if refit:
        with open(path, "rb") as file:
            hash_of = hashlib.sha256(file.read()).hexdigest()
        with open(log, encoding="utf-8") as file:
            text = re.sub('"plan_sha256":"[0-9a-f]*"', f'"plan_sha256":"{hash_of}"', file.read())
        if revision is not None:
            text = re.sub('"git_revision":"[0-9a-f]*"', f'"git_revision":"{revision}"', text)
        lines = text.splitlines()
        before = ""
        with open(log, "w", encoding="utf-8") as file:
            for line in lines:  # each holds the hash of the one before it
                before = re.sub('"prev":"[0-9a-f]*"', f'"prev":"{hashlib.sha256(before.encode()).hexdigest()}"', line)
                file.write(before + "\n")
    if os.path.exists(os.path.join(folder, "manifest.sha256")):
        os.remove(os.path.join(folder, "manifest.sha256"))


def make(name, said):
    if isinstance(said, str):
        shutil.copytree(os.path.join(SOURCE, "tests", "recorded", said.split(":")[1]), name)
        status, text = call("derive", name)  # its numbers follow older definitions
        if status not in (0, 1, 3):
            sys.exit(f"{name}: derive ends with {status}: {text}")
    else:
        status, text = call(*said, "--out", name)
        if status != 0:
            sys.exit(f"{name}: the run ends with {status}: {text}")
    status, text = call("verify", name)
    if status != 0:
        sys.exit(f"{name}: verify refuses the honest folder: {text}")


def forge(study, path, how, value, names=None, refit=True):
    """What is wrong with the answer, or None."""
    shutil.rmtree("forged", ignore_errors=True)
    shutil.copytree(study, "forged")
    rewrite("forged", [(path, how, value)], refit)
    call("derive", "forged")
    what = f"{study}: {path} {how} {value}"
    status, text = call("verify", "forged")
    if status == 0:
        return f"{what}: verify accepts it"
    if (path if names is None else names) not in text:
        return f"{what}: verify does not name the leaf: {text}"
    if call("gate", "forged", "--gates", "significant")[0] == 0:
        return f"{what}: a gate passes"
    return None


def lower(study, rules, edits, names):
    """What is wrong with the answer to a plan of earlier rules, or None."""
    shutil.rmtree("forged", ignore_errors=True)
    shutil.copytree(study, "forged")
    rewrite("forged", [("rules", "set", rules), *edits], True, revision="c" * 40)
    call("derive", "forged")
    status, text = call("verify", "forged")
    what = f"{study}: rules {rules}, {edits[0]}"
    if names is None and (status != 0 or "follow from the record and from what plan.json says" not in text):
        return f"{what}: verify ends with {status} and does not say that numbers rest on the plan: {text}"
    if names is not None and (status == 0 or names not in text):
        return f"{what}: verify ends with {status} and does not name {names}: {text}"
    return None


def main():
    os.chdir(sys.argv[1])
    for name, said in STUDIES.items():
        make(name, said)
    wrong = [answer for edit in EDITS if (answer := forge(*edit)) is not None]
    wrong += [answer for edit in LOWERED if (answer := lower(*edit)) is not None]
    # Alone, without the journal: what planning again cannot tell is told by the journal.
    for study, path in (("session", "cells[0].arms[0].ledger.tokens_generated"), ("decode", "cells[0].arms[0].memory")):
        log = os.path.join(study, "run.log")
        with open(log, encoding="utf-8") as file:
            if "plan_sha256" in file.read():
                wrong += filter(None, [forge(study, path, "set", 3, "plan.json", refit=False)])
    print("\n".join(wrong) if wrong else f"{len(EDITS)} edits of a plan named, {len(LOWERED)} of its rules")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
