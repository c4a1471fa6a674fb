#!/usr/bin/env bash
# Somebody else's code under our blocks: the C and the Python example through the shared library, an A/A comparison, and
# a session that its caller leaves early. The run folders are ordinary ones.
source "$(dirname "$0")/lib.sh"
library=${IFM_LIBRARY:-$(dirname "$INFEROMETER")/libinferometer.so}
[ -e "$library" ] || skip "needs libinferometer.so; a sanitizer build has none"
compiler=$(command -v cc || command -v gcc || command -v clang) || skip "needs cc, of the Debian package gcc"
folder=$(dirname "$library")

# Nothing but the API leaves the library, and it does not bring the lab's symbols into the caller's process.
nm -D --defined-only "$library" | awk '{ print $3 }' | grep -v '^inferometer_' && fail "it exports more than its API"

"$compiler" -std=c11 -O2 -Wall -Wextra -Werror -Wpedantic -I"$IFM_SOURCE/include" \
    "$IFM_SOURCE/examples/session/compare.c" -L"$folder" -linferometer -Wl,-rpath,"$folder" -o compare ||
    fail "the C example does not compile as C11"
# decided WORDS FOLDER command...: the command says the words; where the machine drifted under it or disturbed it, it is
# made again, three times at most.
decided()
{
    local words=$1 folder=$2
    shift 2
    for _ in 1 2 3; do
        rm -rf "$folder"
        "$@" >out 2>err || fail "$*: $(cat err)"
        [ -s err ] && fail "the library printed: $(cat err)"
        grep -q "$words" out && return 0
        grep -q 'not compared.*: rule-07\|undecided' out || return 1
    done
    open_but_faster "$folder"
}

# Beside other work there may be no word; then the record says so, and the second arm's slots are shorter, typically.
open_but_faster()
{
    disturbed "$1" && python3 - "$1" <<'P'
import csv, json, statistics, sys
change = next(n for n in json.load(open(sys.argv[1] + "/derived.json"))["numbers"] if n["metric"] == "change_percent")
steps = [[], []]
for s in csv.DictReader(open(sys.argv[1] + "/samples/0-latency-slots.csv")):
    steps[int(s["arm"])].append((int(s["end_ns"]) - int(s["start_ns"])) / int(s["samples"]) / int(s["inner"]))
one, other = map(statistics.median, steps)
sys.exit(not (change.get("text") in ("undecided", None, "") and other < one))
P
}
decided '^in_four is faster: -' real ./compare real "measure.mde=0.05;measure.cap=5s" ||
    fail "four sums at once are not faster than one: $(cat out)"
# The margin is wide, so that a busy machine cannot make this fail: equal code differs by less.
./compare same "measure.mde=0.15;measure.cap=5s;measure.margin=0.1" same >out 2>err || fail "A/A: $(cat err)"
grep -Eq '^in_four is (undecided|equivalent): ' out || { grep -q '^not compared: ' out && disturbed same; } ||
    fail "A/A finds a difference: $(cat out)"
for run in real same; do
    "$INFEROMETER" verify "$run" >/dev/null 2>err || fail "verify $run: $(cat err)"
    "$INFEROMETER" report "$run" >/dev/null 2>err || fail "report $run: $(cat err)"
    "$INFEROMETER" verify "$run" >/dev/null 2>err || fail "verify $run after report: $(cat err)"
done
./compare real 2>err && fail "a folder that is not empty is overwritten"
grep -q '^hint: ' err || fail "no hint: $(cat err)"

# Between the instruments' brackets, that is in next, begin and end of a slot, nothing allocates or calls the system.
IFM_ALLOC_REPORT=${scratch:?}/report LD_PRELOAD=${IFM_ALLOC_GUARD:?} ./compare guarded measure.repeats=300 >/dev/null
read -r slots allocations outside <report
[ "$slots" -ge "$(slots_of guarded)" ] || fail "$slots bracketed slots, but the record holds $(slots_of guarded)"
[ "$outside" -gt 0 ] || fail "the guard saw no allocation at all, so it does not work"
[ "$allocations" = 0 ] || fail "$allocations allocations inside $slots slots"
if command -v strace >/dev/null && strace -o trace ./compare traced measure.repeats=300 >/dev/null 2>err; then
    awk '/^getrusage\(/ { is_open = !is_open; pairs += is_open; next }
         is_open && !/^(---|\+\+\+)/ { print "inside a slot: " $0; bad = 1 }
         END { exit bad || pairs < 24 }' trace || fail "a slot makes a system call"
fi

# A write that fails ends the session with what to do, which is not to resume; its whole blocks stay.
(
    trap '' XFSZ
    ulimit -f 64
    ./compare full "measure.stop=repeats;measure.repeats=1000000;measure.cap=60s"
) >out 2>err && fail "a record that cannot grow is taken"
grep -q 'File too large' err && grep -q 'then measure again' err || fail "a failed write says: $(cat err)"
"$INFEROMETER" derive full >out 2>err || fail "derive of a session whose write failed: $(cat err)"

# A clock that runs backwards or stands still ends a session, and refuses what it timed before; one that skips five
# minutes marks a block.
clock() # FOLDER WHAT
{
    env IFM_FAULT_CALLS=clock IFM_FAULT_AT=50 IFM_FAULT_DO="$2" IFM_FAULT_NS=300000000000 IFM_FAULT_BELOW="$1" \
        IFM_FAULT_FROM='"stage":"warmup"' LD_PRELOAD="$IFM_FAULT" timeout 100 \
        ./compare "$1" "measure.stop=repeats;measure.repeats=200" >out 2>err
}
if [ -n "${IFM_FAULT:-}" ]; then
    for what in back freeze; do
        clock $what $what && fail "a clock that goes $what is taken: $(cat out)"
        grep -q 'clock ran backwards\|clock stood still' err && grep -q '^hint: choose another clock source' err ||
            fail "a clock that goes $what: $(cat err)"
        "$INFEROMETER" derive $what >out 2>err || fail "derive of a clock that goes $what: $(cat err)"
        grep -q 'rule-02: the clock' out || fail "derive of a clock that goes $what: $(cat out err)"
    done
    clock skips jump || fail "a clock that skips five minutes: $(cat err)"
    [ "$(grep -cE '"stage":"disturbed".*the clock counted 3[0-9]{2}[.]' skips/run.log)" = 1 ] || # and the block itself
        fail "five minutes went unnoticed"
fi

# No command can run the caller's code, and each says so.
for command in "run --workload session" "rerun real" "run --resume real"; do
    # shellcheck disable=SC2086
    "$INFEROMETER" $command >/dev/null 2>err && fail "$command runs"
    grep -q 'no command can run it' err || fail "$command: $(cat err)"
done

python3 -c 'import ctypes' 2>/dev/null || skip "the C part passed; the Python part needs python3 with ctypes"
export PYTHONDONTWRITEBYTECODE=1
compare=$IFM_SOURCE/examples/session/compare.py
export INFEROMETER_LIBRARY=$library
decided '^builtin: faster, ' python python3 "$compare" --out python --option measure.mde=0.05 ||
    fail "the built-in sum is not faster than a loop: $(cat out)"
"$INFEROMETER" verify python >/dev/null 2>err || fail "verify python: $(cat err)"
python3 "$compare" --library "$library" --option measure.mde=much >out 2>err && fail "a bad option is taken"
grep -q '^error: options: measure.mde=much' err || fail "a bad option: $(cat err)"

# A caller whose locale writes numbers with a comma.
if command -v localedef >/dev/null && localedef -i de_DE -f UTF-8 "$scratch/de_DE.UTF-8" 2>/dev/null; then
    LOCPATH=$scratch PYTHONPATH=$IFM_SOURCE/python python3 - "$library" <<'P' || fail "a locale with a comma"
import ctypes, locale, sys, inferometer
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
libc = ctypes.CDLL(None)
text = ctypes.create_string_buffer(8)
libc.snprintf(text, 8, b"%.1f", ctypes.c_double(0.5))
if text.value != b"0,5":
    sys.exit(f"the locale has no comma: {text.value}")
with inferometer.Session(inferometer.load(sys.argv[1]), "comma", "measure.mde=0.5") as session:
    session.measure({"one": lambda: sum(range(2000)), "two": lambda: sum(range(2000))})
libc.snprintf(text, 8, b"%.1f", ctypes.c_double(0.5))
if text.value != b"0,5":
    sys.exit(f"the caller's locale is not given back: {text.value}")
P
    "$INFEROMETER" verify comma >/dev/null 2>err || fail "verify of a run under another locale: $(cat err)"
fi

# An exception in the caller's code: the folder says that it was left early, and keeps its whole blocks.
PYTHONPATH=$IFM_SOURCE/python python3 - "$library" <<'P' || fail "an exception in a window"
import sys, inferometer
count = 0
def work():
    global count
    count += 1
    sum(range(2000))
    if count == 900:
        raise KeyboardInterrupt
try:
    with inferometer.Session(inferometer.load(sys.argv[1]), "left", "measure.mde=0.0031") as session:
        session.measure({"one": work, "two": work})
except KeyboardInterrupt:
    sys.exit(0)
sys.exit("it was not raised")
P
grep -q '"stage":"interrupted"' left/run.log || fail "the folder does not say that the session was left"
grep -q '"stage":"run_done"' left/run.log && fail "the folder says that it is complete"
# A kill in the middle of a write leaves a torn row: derive refuses it, and --resume cuts it off before it says no.
cp -r left torn
echo -n '999999,1' >>torn/samples/0-latency.csv
"$INFEROMETER" derive torn >/dev/null 2>err && fail "a torn record is taken"
"$INFEROMETER" run --resume torn >/dev/null 2>err && fail "a session is resumed"
grep -q 'derive torn' err || fail "the hint does not say how to see the blocks: $(cat err)"
"$INFEROMETER" derive torn >out 2>err || fail "derive after the cut: $(cat err)"
grep -q "its caller's code can only be measured again" out || fail "what to do is not said: $(cat out)"
"$INFEROMETER" derive left >out 2>err || fail "derive of a session that was left: $(cat err)"
"$INFEROMETER" verify left >/dev/null 2>err || fail "verify of a session that was left: $(cat err)"
echo "C and Python examples, A/A, a session left early: all verified"
