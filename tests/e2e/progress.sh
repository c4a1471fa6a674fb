#!/usr/bin/env bash
# The line of progress is as wide as the terminal at most, in whole words, goes forward alone, and says what the run is
# at from its beginning to its end. A warning takes its place.
source "$(dirname "$0")/lib.sh"
need python3 python3

cat >watch.py <<'P'
import fcntl, os, pty, re, struct, sys, termios

def lines_of(width, command):
    """What stands on the line of progress of a terminal of so many columns, one after the other."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    child = os.fork()
    if child == 0:
        os.dup2(slave, 2)
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        os.execvp(command[0], command)
    os.close(slave)
    text = b""
    try:
        while piece := os.read(master, 65536):
            text += piece
    except OSError:
        pass
    status = os.waitpid(child, 0)[1]
    if status != 0:
        sys.exit(f"exit status {status}: {text.decode()}")
    lines = text.decode().split("\r\033[K")[1:]
    for line in lines:
        if "warning: " in line and not line.startswith("warning: "):
            sys.exit(f"a warning stands behind the line: {line}")
    return [line for line in lines if "\n" not in line]

def check(width, lines):
    percents = [int(found[1]) for line in lines if (found := re.match(r" *(\d+) %", line))]
    left = [int(found[1]) for line in lines if (found := re.search(r"about (\d+) s left", line))]
    said = [line for line in lines if line]
    for line in said:
        if len(line) >= width:
            sys.exit(f"{len(line)} columns on a terminal of {width}: {line}")
        if line.count("[") != line.count("]") or line != line.rstrip():
            sys.exit(f"cut off at {width} columns: {line}")
    if not percents or percents != sorted(percents) or percents[-1] > 99:
        sys.exit(f"at {width} columns it runs backwards, or ends before the end: {percents}")
    if any(re.search(r"about 0 s", line) for line in said):
        sys.exit(f"at {width} columns it says that no time is left, and goes on")
    if not left or left != sorted(left, reverse=True):
        sys.exit(f"at {width} columns the time that is left grows: {left}")
    for words in "setting up", "checking", "calibrating", "warming up":
        if width >= 60 and not any(words in line for line in said):
            sys.exit(f"it never says {words}: {said}")
    if "writing the report" not in said[-1] or lines[-1] != "":
        sys.exit(f"it ends with {lines[-3:]}")
    after = said[max(i for i, line in enumerate(said) if "left" in line) + 1:]
    if not any("checking" in line for line in after):
        sys.exit(f"behind the last block it says {after}")

for width in 40, 60, 120:
    run = "decode --kv-len 256,512 --cap 1s --out".split()
    check(width, lines_of(width, [sys.argv[1], *run, f"w{width}"]))
P
python3 watch.py "$INFEROMETER" || fail "the line of progress"
# On no terminal a dry run that takes seconds says so once, and a quiet one nothing.
"$INFEROMETER" exec 'sleep 5.1' true --repeats 12 --dry-run >plan 2>said || fail "$(cat said)"
grep -q '^note: cell command: 12 runs of each take about 7' said || fail "no time of fixed repeats: $(cat said)"
[ "$(grep -c "^note: a dry run does what a run does" said)" = 1 ] || fail "it says nothing: $(cat said)"
"$INFEROMETER" exec 'sleep 5.1' true --dry-run --quiet >plan 2>said || fail "$(cat said)"
! grep -q 'a dry run does' said || fail "it is not quiet: $(cat said)"
