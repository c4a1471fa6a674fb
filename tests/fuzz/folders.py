#!/usr/bin/env python3
"""Whole run folders, changed in their structure, under every command that reads one.

folders.py INFEROMETER SOURCE [--seconds N | --count N] [--seed S] [--found DIR]
A seed is one case: a base (recorded folders and fresh runs), one to four changes (changes.py), hashes that fit again
or not, and the commands. `--seed S --count 1` does it again. A finding leaves its folder and its words in DIR, and the
status is 1. What is one: Bench.run, Bench.published, Bench.drive.
"""
import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "forge"))
import bases  # noqa: E402
import changes  # noqa: E402

CPU_S, WALL_S, MEMORY = 10, 120, 1 << 30
OPENS_CPU_S = 60  # a dry run makes the data of a changed shape, and checks it, under a sanitizer
SANITIZER = ("hard_rss_limit_mb=1500:quarantine_size_mb=16:detect_leaks=0:allocator_may_return_null=0:"
             "max_allocation_size_mb=1024:abort_on_error=0:exitcode=99")
STATUSES = (0, 1, 2, 3, 4)  # of the manual; 5 would blame this program
BIDI = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
FAKE = bases.study("decode", bases.SCRIPT.replace("arm.other.step_ns=360000", "arm.int4.step_ns=200000"),
                   "stop: repeats, repeats: 30").split("arms:")[0] + """decode: {compress: "1,4", kv_len: "256,512"}
gates:
  - {metric: speedup, op: at_least, threshold: 0.1}
"""
FORMATS = ("table", "md", "csv", "json", "jsonl")


class Finding(Exception):
    pass


def limit(words):
    seconds = OPENS_CPU_S if "--dry-run" in words else CPU_S
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def read(path):
    folder = {}
    for at, _, files in os.walk(path):
        for file in files:
            whole = os.path.join(at, file)
            with open(whole, "rb") as opened:
                folder[os.path.relpath(whole, path)] = opened.read()
    return folder


def write(path, folder):
    os.makedirs(os.path.join(path, "samples"))
    for name, data in folder.items():
        whole = os.path.join(path, name)
        if data is None:
            os.mkdir(whole)
        else:
            with open(whole, "wb") as file:
                file.write(data)


def check_text(where, data):
    """Nothing that a terminal or a browser takes for more than text."""
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        raise Finding(f"{where}: no UTF-8: {problem}") from None
    for i, c in enumerate(text):
        if (c < " " and c not in "\n") or "\x7f" <= c <= "\x9f" or c in BIDI or "\U000e0000" <= c <= "\U000e007f":
            raise Finding(f"{where}: U+{ord(c):04X} in {text[max(0, i - 80):i + 40]!r}")


class Bench:
    def __init__(self, program, source, scratch):
        self.program, self.scratch = os.path.abspath(program), scratch
        self.recorded, self.bases = os.path.join(source, "tests", "recorded"), {}
        bases.FRESH["fake"] = FAKE
        self.names = sorted(["fresh-" + name for name in [*bases.FRESH, "metered"]] + [
            name for name in os.listdir(self.recorded) if os.path.isdir(os.path.join(self.recorded, name))])
        self.path, self.whole = os.path.join(scratch, "runs", "changed"), os.path.join(scratch, "runs", "whole")
        self.environment = dict(os.environ, ASAN_OPTIONS=SANITIZER, UBSAN_OPTIONS="exitcode=99", LC_ALL="C.UTF-8",
                                NO_COLOR="1")
        self.calls, self.slowest, self.largest = 0, (0, ""), (0, "")

    def base(self, name):
        """A folder as this version publishes it; made when it is first drawn."""
        if name not in self.bases:
            if name == "fresh-metered":
                path = bases.make_metered(self.program, self.scratch)
            elif name.startswith("fresh-"):
                path = bases.make(self.program, self.scratch, name.removeprefix("fresh-"))
            else:
                path = os.path.join(self.scratch, "recorded-" + name)
                shutil.copytree(os.path.join(self.recorded, name), path)
                bases.run([self.program, "derive", path, "--format", "csv"], self.scratch)
            self.bases[name] = read(path)
        return self.bases[name]

    def run(self, *words):
        """The exit status; what is always wrong is a Finding."""
        shown, start = " ".join(words).replace(self.scratch, "."), time.monotonic()
        files = [open(os.path.join(self.scratch, name), "w+b") for name in ("out", "err")]
        with files[0] as out, files[1] as err:
            child = subprocess.Popen([self.program, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                     env=self.environment, cwd=self.scratch, preexec_fn=lambda: limit(words))
            while True:
                pid, status, usage = os.wait4(child.pid, os.WNOHANG if time.monotonic() - start > WALL_S else 0)
                if pid:
                    break
                child.kill()
            child.returncode = status
            said = []
            for file in (out, err):
                file.seek(0)
                said.append(file.read())
        self.calls += 1
        cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
        self.slowest, self.largest = max(self.slowest, (cpu, shown)), max(self.largest, (memory, shown))
        tail = said[1][-3000:].decode(errors="replace")
        if os.WIFSIGNALED(status):
            raise Finding(f"{shown}: signal {os.WTERMSIG(status)} after {cpu:.1f} s: {tail}")
        status = os.WEXITSTATUS(status)
        if status not in STATUSES or b"runtime error" in said[1] or b"Sanitizer" in said[1]:
            raise Finding(f"{shown}: status {status}: {tail}")
        if memory > MEMORY:
            raise Finding(f"{shown}: {memory >> 20} MiB: {tail}")
        if status != 0 and not (said[0].strip() or b"error: " in said[1]):
            raise Finding(f"{shown}: status {status} without a text: {tail}")
        for name, text in zip(("output", "errors"), said):
            check_text(f"{shown}: {name}", text)
        return status

    def readers(self, draw):
        """Commands that leave the folder as it is, the first always."""
        path, whole = self.path, self.whole
        more = [["summary", path], ["compare", path, "--format", draw.choice(FORMATS)], ["compare", path, whole],
                ["compare", whole, path, "--format", draw.choice(FORMATS)],
                ["gate", path, "--gates", draw.choice(["significant", "sop", "golden-ticket"]), "--junit", "-"],
                ["gate", path, "--against", whole, "--markdown", "-"], ["gate", whole, "--against", path],
                ["gate", path, "--format", draw.choice(FORMATS)],
                ["list", os.path.dirname(path), "--format", draw.choice(FORMATS)],
                ["run", "-c", os.path.join(path, "config.lock.json"), "--dry-run"]]
        return [["verify", path]] + draw.sample(more, 4)

    def writers(self, draw):
        kind = ["--format", draw.choice(FORMATS)]
        return [["derive", self.path, *kind]] + draw.sample([["judge", self.path, *kind], ["report", self.path, *kind]],
                                                            1) + [["verify", self.path], ["summary", self.path]]

    def published(self):
        """The files that were written just now: strict JSON, and texts as on the terminal."""
        for name in ("derived.json", "verdict.json", "metrics.json", "report.md", "report.html", "report.csv"):
            with open(os.path.join(self.path, name), "rb") as file:
                data = file.read()
            check_text(name, data)
            if name.endswith(".json"):
                json.loads(data, parse_constant=lambda word: (_ for _ in ()).throw(Finding(f"{name} has {word}")))

    def drive(self, draw, edited):
        for words in self.readers(draw):
            status = self.run(*words)
            if words[0] == "verify" and status == 0 and edited:
                raise Finding(f"verify accepts a folder whose record was changed: {edited}")
        for words in self.writers(draw):
            status = self.run(*words)
            if words[0] == "derive" and status == 0:
                self.published()

    def one(self, seed):
        """What is wrong with the case, or "", and its words."""
        draw = random.Random(seed)
        name = draw.choice(self.names)
        whole, others = self.base(name), self.base(draw.choice([name, *self.names[::4]]))
        folder = dict(whole)
        words = []
        for _ in range(draw.choice([1, 1, 1, 2, 2, 3, 4])):
            change = draw.choice(changes.CHANGES)
            if any(folder.values()):
                words.append(change(draw, folder, others))
        how = draw.choice(["none", "removed", "manifest", "all", "all", "all"])
        changed = {at for at in set(whole) | set(folder) if folder.get(at, b"") != whole.get(at, b"") or
                   (at in folder) != (at in whole)}
        changes.refit(folder, how)
        edited = sorted(filter(changes.is_raw, changed)) if how == "none" and "manifest.sha256" in folder else []
        shutil.rmtree(os.path.dirname(self.path), ignore_errors=True)
        write(self.path, folder)
        write(self.whole, whole)
        case = f"seed {seed}: {name}, hashes {how}: {'; '.join(filter(None, words))[:500]}"
        try:
            self.drive(draw, edited)
        except Finding as finding:
            return str(finding), case
        return "", case

    def keep(self, found, seed, wrong, case):
        target = os.path.join(found, f"folder-{seed}")
        shutil.rmtree(target, ignore_errors=True)
        os.makedirs(found, exist_ok=True)
        shutil.copytree(os.path.dirname(self.path), target)
        with open(os.path.join(target, "finding.txt"), "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{case}\n{wrong}\n")
        print(f"{case}\n    {wrong}\n    left in {target}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("source")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--found", default="found")
    given = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    with tempfile.TemporaryDirectory() as scratch:
        return 1 if fuzz(given, Bench(given.program, given.source, scratch)) else 0


def fuzz(given, bench):
    """The number of findings."""
    start, seed, findings = time.monotonic(), given.seed, 0
    while (given.count is None or seed < given.seed + given.count) and \
            (given.seconds is None or time.monotonic() - start < given.seconds):
        wrong, case = bench.one(seed)
        if wrong:
            findings += 1
            bench.keep(given.found, seed, wrong, case)
        seed += 1
    print(f"seeds {given.seed} to {seed - 1}: {bench.calls} calls in {time.monotonic() - start:.0f} s, slowest "
          f"{bench.slowest[0]:.1f} s of CPU ({bench.slowest[1]}), largest {bench.largest[0] >> 20} MiB "
          f"({bench.largest[1]}); {findings} findings")
    return findings


if __name__ == "__main__":
    sys.exit(main())
