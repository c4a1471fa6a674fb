#!/usr/bin/env python3
"""Mutation testing: change one token of a source file, and see whether a test notices.

mutate.py [--build DIR] [--count N] [--seed N] [--near N] [--tests REGEX] FILE[:FIRST[-LAST]]...

Draws N small changes at random among those of the files (or of their lines), compiles each changed copy, links it into
the test programs in place of the library's object, and runs them. The tree is never written to. The tests of a file are
the N programs that name it, what it exports or its folder most, and then rules; --tests picks others. A survivor is a
missing assertion or an equivalent change; whoever runs this decides which. Exits 1 when one survived.
"""
import argparse
import contextlib
import fcntl
import glob
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

LIMIT_S = 60  # of one program: a slower one is left out, a changed one that hangs has noticed
# The first line is what is left as it is.
TOKEN = re.compile(r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | \#\s*(?:include|if)[^\n]*
    | (?P<number>\b(?:0x[0-9a-fA-F]+|\d+\.\d*(?:e[+-]?\d+)?|\d+(?:e[+-]?\d+)?))[uUlLfF]*\b
    | (?P<word>\b(?:if|true|false|fmin|fmax)\b) | ->|<<=?|>>=?|\+\+|--
    | (?P<op><=|>=|==|!=|&&|\|\||\+=|-=|(?<=\ )[-+*/<>](?=\ ))""", re.S | re.X)
SWAP = {"<": ["<=", ">"], "<=": ["<"], ">": [">=", "<"], ">=": [">"], "==": ["!="], "!=": ["=="], "&&": ["||"],
        "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "+=": ["-="], "-=": ["+="],
        "true": ["false"], "false": ["true"], "fmin": ["fmax"], "fmax": ["fmin"]}
# A whole statement of one line that stores, calls or leaves; a declaration has a type before its name.
STATEMENT = re.compile(r"^[ ]+((?:\*?[\w.>\[\]-]+ [-+*|]?= [^;{]*|\w+\([^;{]*\)|\w[\w.>\[\]-]*(?:\+\+|--)"
                       r"|return|break|continue);)$", re.M)


def closing(text, at):
    """The end of the parenthesis that opens at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    return at


def changes_of(text):
    """Every (start, end, replacement) that this tool knows."""
    for match in TOKEN.finditer(text):
        start, end = match.span()
        number, word, op = match.group("number", "word", "op")
        if word == "if" and text[end:end + 2] == " (":
            last = closing(text, end + 1)
            yield end + 1, last + 1, "(!" + text[end + 1:last + 1] + ")"
        elif word or op:
            for other in SWAP.get(word or op, []):
                yield start, end, other
        elif number:
            end = match.end("number")
            if re.fullmatch(r"\d+", number):
                for other in {int(number) + 1, max(int(number) - 1, 0), 2 * int(number)} - {int(number)}:
                    yield start, end, str(other)
            elif not number.startswith("0x"):
                yield start, end, repr(2 * float(number))
                yield start, end, repr(float(number) / 2)
    for match in STATEMENT.finditer(text):
        yield match.start(1), match.end(1), ";"


class Tests:
    """The test programs of a build folder: which are near a file, how each is linked and run."""

    def __init__(self, build, work):
        self.build, self.work, self.text, self.links, self.bad = build, work, {}, {}, set()
        for path in glob.glob("tests/unit/*.c") + glob.glob("tests/rules/*.c"):
            text = open(path).read()
            for header in re.findall(r'#include "([^"]*)"', text):  # a sample is part of the test
                for folder in ("tests", "tests/unit"):
                    if os.path.exists(f"{folder}/{header}"):
                        text += open(f"{folder}/{header}").read()
            self.text[os.path.basename(path)[:-2]] = text

    def near(self, path, pattern):
        """Programs that test a file, the nearest first."""
        if pattern:
            return sorted(name for name in self.text if re.search(pattern, name))
        parts = path[:-2].split("/")[1:]  # src/derive/rules/run.c: derive, rules, run
        exported = re.findall(r"^(?!static)\w[\w ]*[ *](ifm_\w+)\(", open(path).read(), re.M)
        score = {}
        for name, text in self.text.items():
            words, stem = name.split("_"), parts[-1].split("_")
            score[name] = (4 * sum(word in words for word in stem) / len(stem) + 2 * (parts[0] in words)
                           + sum(f"{function}(" in text for function in exported)
                           + 2 * (f'"{"/".join(parts[:-1])}/' in text)
                           + (name.startswith("rule_") and parts[0] in ("derive", "judge", "stats")))
        return sorted((name for name in score if score[name] > 0), key=lambda name: (-score[name], name))

    def ready(self, names):
        """Builds the programs and runs each as it is; keeps those that pass."""
        if new := [name for name in names if name not in self.links]:
            with open(f"{self.build}/.mutate_lock", "w") as lock:  # of several that run at a time, one builds
                fcntl.flock(lock, fcntl.LOCK_EX)
                subprocess.run(["ninja", "-C", self.build, *new], check=True, stdout=subprocess.DEVNULL)
                shutil.copy(f"{self.build}/libifm.a", self.work)
        for name in new:
            self.links[name] = subprocess.run(["ninja", "-C", self.build, "-t", "commands", "-s", f"tests/{name}"],
                                              check=True, capture_output=True, text=True).stdout.splitlines()[-1]
            if not self.run(f"{self.build}/tests/{name}"):
                print(f"left out: {name} fails or is slow without a change", flush=True)
                self.bad.add(name)
        return [name for name in names if name not in self.bad]

    def run(self, program):
        environment, null = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1", TMPDIR=self.work), subprocess.DEVNULL
        memory = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 33, 1 << 33))  # a changed loop may never end
        with subprocess.Popen([os.path.abspath(program)], env=environment, stdin=null, stdout=null, stderr=null,
                              start_new_session=True, preexec_fn=memory) as process:
            try:
                return process.wait(LIMIT_S) in (0, 77)
            except subprocess.TimeoutExpired:
                return False
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def notices(self, name, changed):
        """Whether a program fails with an object in place of the library's."""
        program = f"{self.work}/{name}"
        words = [word for word in shlex.split(self.links[name]) if word not in (":", "&&")]
        words[words.index("-o") + 1] = program
        words.insert(words.index("libifm.a"), changed)
        words = [f"{self.work}/{word}" if word == "libifm.a" else word for word in words]
        subprocess.run([*words, "-Wl,-S"], cwd=self.build, check=True)
        passed = self.run(program)
        os.remove(program)
        return not passed


def compile_to(build, path, source, target):
    """Compiles `source` as the build compiles `path`; None where it does not compile."""
    rows = json.load(open(f"{build}/compile_commands.json"))
    row = next(row for row in rows if row["file"] == os.path.abspath(path))
    words = [word for word in shlex.split(row["command"]) if word not in ("-Werror", "-g")]
    words[words.index("-o") + 1] = target
    words[words.index("-c") + 1] = source
    done = subprocess.run([*words, "-w", "-g0"], cwd=row["directory"], stderr=subprocess.DEVNULL)
    return open(target, "rb").read() if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--build", default="build-clang")
    for name, default in (("--count", 15), ("--seed", 1), ("--near", 8)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--tests", default="")
    options = parser.parse_args()
    work, pool = tempfile.mkdtemp(prefix="mutate-"), []
    source, target = f"{work}/mutant.c", f"{work}/mutant.o"
    for spot in options.files:
        path, _, lines = spot.partition(":")
        first, _, last = lines.partition("-")
        text = open(path).read()
        for change in changes_of(text):
            line = text.count("\n", 0, change[0]) + 1
            if not lines or int(first) <= line <= int(last or first):
                pool.append((path, line, change))
    random.Random(options.seed).shuffle(pool)
    tests, killed, survived, dropped, originals = Tests(options.build, work), 0, 0, 0, {}
    try:
        for path, line, (start, end, new) in pool:
            if killed + survived == options.count:
                break
            text = open(path).read()
            changed = text[:start] + new + text[end:]
            if path not in originals:
                shutil.copy(path, source)
                originals[path] = compile_to(options.build, path, source, target)
            open(source, "w").write(changed)
            if compile_to(options.build, path, source, target) in (None, originals[path]):
                dropped += 1  # no program, or the very same one
                continue
            near = tests.ready(tests.near(path, options.tests)[:options.near])
            by = next((name for name in near if tests.notices(name, target)), None)
            killed, survived = killed + (by is not None), survived + (by is None)
            was, now = (lines.splitlines()[line - 1].strip() for lines in (text, changed))
            verdict = f"killed by {by}" if by else f"SURVIVED {len(near)} programs"
            print(f"{path}:{line}: {verdict}\n  - {was}\n  + {now}", flush=True)
    finally:
        shutil.rmtree(work)
    print(f"{killed} killed, {survived} survived; {dropped} others did not compile or gave the same object")
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(main())
