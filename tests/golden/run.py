#!/usr/bin/env python3
"""Golden command-line transcripts.

run.py [--bless] --command PATH CASE_DIR

A case is a folder with
    cmd              a shell script; `inferometer` is on PATH; it runs in a scratch folder of its own
    exit             the exit status of the script (0 when there is no such file)
    stdout.exact | stdout.glob, stderr.exact | stderr.glob
                     what it printed; without either, the stream must be empty
    files            one name a line that must exist afterwards; "!name" must not
    in/              copied into the scratch folder first

In a .glob file "*" stands for any text of a line, and a line "..." for any number of lines (also none); everything
else is literal. Before comparing, the scratch folder's path becomes <scratch>, so no machine's path is kept. A script
that exits 77 asks to be skipped and prints why.

--bless rewrites what differs: .exact files with what came, .glob files line by line, keeping patterns that still fit
and replacing the digits of new lines with "*". Read the diff before you commit it.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
TIME_LIMIT_S = 600


def line_fits(pattern, line):
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), line, re.S) is not None


def glob_fits(patterns, lines):
    """Dynamic programming over (pattern, line): fits[j] says whether the patterns so far can end at line j."""
    fits = [True] + [False] * len(lines)
    for pattern in patterns:
        if pattern == "...":
            seen = False
            after = []
            for fit in fits:
                seen = seen or fit
                after.append(seen)
        else:
            after = [False] + [fits[j] and line_fits(pattern, lines[j]) for j in range(len(lines))]
        fits = after
    return fits[-1]


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def execute(case, command):
    """Run the script; (exit status, stdout, stderr, names of files that exist)."""
    with tempfile.TemporaryDirectory(prefix="golden-") as root:
        scratch, binaries = os.path.join(root, "scratch"), os.path.join(root, "bin")
        os.mkdir(binaries)
        os.symlink(os.path.abspath(command), os.path.join(binaries, "inferometer"))
        if os.path.isdir(os.path.join(case, "in")):
            shutil.copytree(os.path.join(case, "in"), scratch)
        else:
            os.mkdir(scratch)
        environment = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
        environment.update(PATH=binaries + ":/usr/bin:/bin", HOME=scratch, LC_ALL="C.UTF-8", NO_COLOR="1",
                           COLUMNS="100", TERM="dumb", TZ="UTC")
        done = subprocess.run(["bash", "-u", os.path.abspath(os.path.join(case, "cmd"))], cwd=scratch, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=TIME_LIMIT_S, check=False)
        streams = [text.decode("utf-8", "backslashreplace").replace(scratch, "<scratch>")
                   for text in (done.stdout, done.stderr)]
        wanted = (read(os.path.join(case, "files")) or "").split()
        present = {name for name in wanted if os.path.lexists(os.path.join(scratch, name.lstrip("!")))}
        for base, folders, _ in os.walk(root):
            for folder in folders:
                os.chmod(os.path.join(base, folder), 0o700)
        return done.returncode, streams[0], streams[1], wanted, present


def compare_stream(case, name, got):
    """An empty list when the stream is as expected, else what differs."""
    exact, glob = read(os.path.join(case, name + ".exact")), read(os.path.join(case, name + ".glob"))
    if glob is not None:
        if glob_fits(glob.splitlines(), got.splitlines()):
            return []
        return [f"{name} does not fit {name}.glob; wanted:\n{indent(glob)}got:\n{indent(got)}"]
    if (exact or "") == got:
        return []
    return [f"{name} differs; wanted:\n{indent(exact or '')}got:\n{indent(got)}"]


def indent(text):
    return "".join(f"    | {line}\n" for line in text.splitlines())


def bless_stream(case, name, got):
    if not compare_stream(case, name, got):
        return
    glob_path = os.path.join(case, name + ".glob")
    if os.path.exists(glob_path):
        patterns = [line for line in read(glob_path).splitlines() if line != "..."]
        lines = []
        for line in got.splitlines():
            fitting = [pattern for pattern in patterns if line_fits(pattern, line)]
            lines.append(fitting[0] if fitting else re.sub(r"\d[\d.,e+-]*", "*", line))
        write(glob_path, "".join(line + "\n" for line in lines))
    elif got:
        write(os.path.join(case, name + ".exact"), got)
    elif os.path.exists(os.path.join(case, name + ".exact")):
        os.remove(os.path.join(case, name + ".exact"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--command", required=True)
    parser.add_argument("case")
    options = parser.parse_args()
    case = options.case
    if not os.path.exists(os.path.join(case, "cmd")):
        print(f"{case}: has no file cmd")
        return 1
    code, out, err, wanted, present = execute(case, options.command)
    if code == SKIP:
        print((out + err).strip() or "the case gave no reason")
        return SKIP
    if options.bless:
        bless_stream(case, "stdout", out)
        bless_stream(case, "stderr", err)
        if code != int(read(os.path.join(case, "exit")) or 0):
            write(os.path.join(case, "exit"), f"{code}\n")
        return 0
    problems = []
    want = int(read(os.path.join(case, "exit")) or 0)
    if code != want:
        problems.append(f"exit status {code}, wanted {want}")
    problems += compare_stream(case, "stdout", out) + compare_stream(case, "stderr", err)
    for name in wanted:
        if name.startswith("!") == (name in present):
            problems.append(f"file {name.lstrip('!')}: {'exists' if name in present else 'missing'}")
    for problem in problems:
        print(problem)
    if problems:
        print(f"{os.path.basename(os.path.normpath(case))}: {len(problems)} problems: "
              + "; ".join(problem.splitlines()[0] for problem in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
