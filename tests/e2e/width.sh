#!/usr/bin/env bash
# Lines follow the terminal that shows them, from 60 to 160 columns; into a pipe they are 100 wide, and a row is a line.
source "$(dirname "$0")/lib.sh"
need python3 python3

"$INFEROMETER" decode --device fake --out a >/dev/null 2>&1 || fail "no run to show"
"$INFEROMETER" decode --device fake --out b >/dev/null 2>&1 || fail "no second run"

cat >on_a_terminal.py <<'P'
import fcntl, os, pty, re, struct, subprocess, sys, termios

def shown(width, command):
    """What the command writes to a terminal of so many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    child = os.fork()
    if child == 0:
        os.dup2(slave, 1)
        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        os.execvp(command[0], command)
    os.close(slave)
    text = b""
    try:
        while piece := os.read(master, 65536):
            text += piece
    except OSError:
        pass
    os.waitpid(child, 0)
    return re.sub(r"\033\[[0-9;]*m", "", text.decode()).replace("\r", "").splitlines()

program, wide = sys.argv[1], 0
commands = ["report a", "report a --verbose", "compare a", "compare a b", "explain TPOT", "explain tpot_bound_ns",
            "workloads", "flops llama-3-8b",
            "decode --device fake --dry-run", "decode --device fake --out WIDTH", "power", "doctor"]
for width in 60, 80, 140:
    for words in commands:
        lines = shown(width, [program, *words.replace("WIDTH", f"w{width}").split()])
        if not lines:
            sys.exit(f"{words}: nothing at {width} columns")
        for line in lines:
            # a word is never broken: a path or a command is copied whole
            if len(line) > width and len(line.split()) > 1:
                sys.exit(f"{words}: {len(line)} columns on a terminal of {width}: {line}")
        wide = max([wide, *map(len, lines)])
if wide <= 100:
    sys.exit(f"no line takes more than {wide} of 140 columns")

narrow, usual = (" ".join(shown(width, [program, "report", "a"])).split() for width in (60, 100))
if "p50" in usual and "p50" not in narrow:
    sys.exit("a column is missing at 60 columns: " + " ".join(narrow))

def words_of(text):
    return {re.sub(r"[0-9.]+", "0", word) for word in text.split()}

doctor = [program, "doctor"]
broken = words_of("\n".join(shown(80, doctor))) - words_of(subprocess.check_output(doctor, text=True))
if broken:
    sys.exit(f"doctor breaks words: {sorted(broken)}")
P
python3 on_a_terminal.py "$INFEROMETER" || fail "lines and terminal"

"$INFEROMETER" report a >piped
COLUMNS=60 "$INFEROMETER" report a | cmp - piped || fail "a pipe has no terminal"
"$INFEROMETER" explain TPOT | awk 'length($0) > 100 { exit 1 }' || fail "explain is wider than 100 columns in a pipe"
