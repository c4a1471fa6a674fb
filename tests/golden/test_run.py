#!/usr/bin/env python3
"""The golden runner must fail when it should: cases against a command that is a small shell script."""
import os
import subprocess
import sys
import tempfile

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run.py")
COMMAND = """#!/bin/sh
case $1 in
say) shift; echo "$*" ;;
warn) echo "warning: $2" >&2 ;;
three) printf 'head\\n12.5 ms\\ntail\\n' ;;
fail) echo "error: no" >&2; exit 2 ;;
make) echo x >"$2" ;;
esac
"""

# files of the case, exit status that the runner must have
CASES = [
    ({"cmd": "inferometer say hello\n", "stdout.exact": "hello\n"}, 0),
    ({"cmd": "inferometer say hello\n", "stdout.exact": "hullo\n"}, 1),
    ({"cmd": "inferometer say hello\n"}, 1),
    ({"cmd": "inferometer say\n", "stdout.exact": "\n"}, 0),
    ({"cmd": "inferometer warn x\n", "stdout.exact": ""}, 1),
    ({"cmd": "inferometer warn x\n", "stderr.glob": "warning: *\n"}, 0),
    ({"cmd": "inferometer three\n", "stdout.glob": "head\n* ms\ntail\n"}, 0),
    ({"cmd": "inferometer three\n", "stdout.glob": "...\ntail\n"}, 0),
    ({"cmd": "inferometer three\n", "stdout.glob": "head\n...\n"}, 0),
    ({"cmd": "inferometer three\n", "stdout.glob": "head\ntail\n"}, 1),
    ({"cmd": "inferometer three\n", "stdout.glob": "...\nhead\n"}, 1),
    ({"cmd": "inferometer three\n", "stdout.glob": "head\n1?.5 ms\ntail\n"}, 1),
    ({"cmd": "inferometer fail\n", "exit": "2\n", "stderr.exact": "error: no\n"}, 0),
    ({"cmd": "inferometer fail\n", "stderr.exact": "error: no\n"}, 1),
    ({"cmd": "inferometer make out\n", "files": "out\n!other\n"}, 0),
    ({"cmd": "inferometer make out\n", "files": "other\n"}, 1),
    ({"cmd": "inferometer make out\n", "files": "!out\n"}, 1),
    ({"cmd": "pwd\n", "stdout.exact": "<scratch>\n"}, 0),
    ({"cmd": "echo no sensor; exit 77\n"}, 77),
    ({}, 1),
]


def write(path, text, mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def run(command, case, *options):
    done = subprocess.run([sys.executable, RUN, *options, "--command", command, case], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as root:
        command = os.path.join(root, "command")
        write(command, COMMAND, 0o755)
        for number, (files, wanted) in enumerate(CASES):
            case = os.path.join(root, f"case-{number}")
            os.mkdir(case)
            for name, text in files.items():
                write(os.path.join(case, name), text)
            code, output = run(command, case)
            if code != wanted:
                failures += 1
                print(f"case {number} {files}: exit {code}, wanted {wanted}\n{output}")
            # What is blessed passes afterwards (the files are the author's to correct).
            if wanted == 1 and "cmd" in files and "files" not in files:
                run(command, case, "--bless")
                code, output = run(command, case)
                if code != 0:
                    failures += 1
                    print(f"case {number} {files}: fails after --bless\n{output}")
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
