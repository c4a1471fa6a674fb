#!/usr/bin/env bash
# A program that waits for a CPU, since other processes have them, is disturbed, though the lab sleeps meanwhile: its
# blocks are marked, under a shell script too. One that sleeps by itself is not, and where nobody can know, nobody says
# that nothing disturbed it.
source "$(dirname "$0")/lib.sh"
need python3 python3
grep -q '^0 0 0$' /proc/thread-self/schedstat && skip "the kernel does not count the time that threads wait for a CPU"

cat >spin.c <<'C'
#include <stdlib.h>
#include <time.h>
static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
int main(int argc, char **argv) /* so many ms of processor time */
{
    const double end = argc > 1 ? 1e-3 * atof(argv[1]) : 0.06;
    while (seconds(CLOCK_PROCESS_CPUTIME_ID) < end)
        ;
    return 0;
}
C
need cc gcc
cc -O1 -o spin spin.c || fail "spin.c does not compile"
ln -s spin same

# Twice as many processes as CPUs want them all, each in a session of its own: a kernel that shares CPUs out by session
# (autogroup) would leave the program its own beside all of one.
load=()
for _ in $(seq $((2 * $(nproc)))); do
    setsid bash -c 'while :; do :; done' &
    load+=($!)
done
trap 'kill "${load[@]}" 2>/dev/null || true; rm -rf "$scratch"' EXIT
status=0
"$INFEROMETER" exec ./spin ./same --name spin --name same --repeats 16 --quiet --out loaded >out 2>errors ||
    status=$?
# The processor time has an answer there: half as much again is found by its gate, equal programs pass it.
for pair in 'more 90 1' 'less 40 0'; do
    set -- $pair
    code=0
    "$INFEROMETER" ci './spin 60' "./spin $2" --metric cpu --max-regression 20% --repeats 16 --quiet --out "$1" \
        >"$1.txt" 2>errors || code=$?
    [ "$code" = "$3" ] || fail "$1 processor time ends with $code, not $3: $(cat "$1.txt" errors)"
    has "waiting, I/O and GPUs are not in it" <"$1/verdict.json" ||
        fail "$1: the verdict does not say what it leaves out"
    has "CPU time per run" <"$1.txt" || fail "$1: the sentence does not name it: $(cat "$1.txt")"
    has 'no regression of CPU time beyond 20 %' <"$1/junit.xml" || fail "$1: $(cat "$1/junit.xml")"
    "$INFEROMETER" verify "$1" >/dev/null 2>errors || fail "verify $1: $(cat errors)"
done
"$INFEROMETER" exec './spin 60' './spin 90' --name old --name new --repeats 16 --quiet --out open >open.txt 2>errors ||
    [ $? = 3 ] || fail "open: $(cat errors)"
"$INFEROMETER" exec "sh -c './spin; ./spin'" --name script --repeats 12 --quiet --out script >script.txt 2>errors ||
    [ $? = 3 ] || fail "script: $(cat errors)"
kill "${load[@]}"
wait "${load[@]}" 2>/dev/null || true
[ "$status" = 0 ] || [ "$status" = 3 ] || fail "loaded: $status, $(cat errors)"
marked=$(number loaded spin blocks_marked) blocks=$(number loaded spin blocks_count)
[ "$marked" -ge $((blocks - 1)) ] ||
    fail "$marked of $blocks blocks are marked beside twice as many processes as there are CPUs"
marked=$(number script script blocks_marked) blocks=$(number script script blocks_count)
[ "$marked" -ge $((blocks - 1)) ] || fail "a script hides the load: $marked of $blocks blocks are marked"
has 'other programs took [0-9]* % of each CPU' <script/report.html || fail "script: the report does not say why"
# It computes or waits, whatever else there is: both together are its time.
python3 - <<'P' || fail "what the program waited: $(number loaded spin command_run_delay_ns)"
import csv
slots = [s for s in csv.DictReader(open("loaded/samples/0-latency-slots.csv")) if s["arm"] == "0" and s["phase"] == "1"]
total = lambda column: sum(int(s[column]) for s in slots)
took = total("end_ns") - total("start_ns")
assert 0.05 * took < total("child_run_delay_ns") < took, (took, total("child_run_delay_ns"))
assert total("child_run_delay_ns") + total("child_cpu_ns") > 0.7 * took, (took, total("child_cpu_ns"))
P
"$INFEROMETER" report loaded >out 2>&1 || fail "report: $(cat out)"
grep -q 'the program waited for a CPU' loaded/report.html || fail "the report does not say what disturbed the blocks"
"$INFEROMETER" verify loaded >/dev/null 2>errors || fail "verify: $(cat errors)"

if has 'new is undecided' <open.txt; then
    if has 'the machine disturbed' <open.txt && has 'CPU time per run' <open.txt; then
        fail "disturbed blocks took the word of the time, and the processor time has one unasked: $(cat open.txt)"
    fi
    has -F 'CPU time alone, without what it waits, is decided: +' <open/report.md ||
        fail "undecided, and no word of the processor time, which is decided: $(cat open.txt)"
fi

"$INFEROMETER" compare open >compared 2>errors || fail "compare: $(cat errors)"
has "CPU time" <compared && has -E 'more, [+][45][0-9.]+ %' <compared ||
    fail "compare has no CPU time: $(cat compared)"

# A program that waits longer by itself has no more processor time, and its gate sees nothing of it.
code=0
"$INFEROMETER" ci 'sleep 0.02' 'sleep 0.1' --metric cpu --max-regression 90% --repeats 24 --quiet --out wait >wait.txt \
    2>errors || code=$?
[ "$code" != 1 ] || fail "a sleep fails the gate of processor time: $(cat wait.txt)"
[ "$(number wait new step_ns | cut -d. -f1)" -gt 100000000 ] || fail "the sleep is no longer: $(cat wait.txt)"

# One that is off its CPU by its own will waits for nobody: hardly any of its time.
"$INFEROMETER" exec 'sleep 0.4' 'sleep 0.40' --name one --name other --repeats 12 --quiet --out slept >out 2>errors ||
    [ $? = 3 ] || fail "slept: $(cat errors)"
python3 - <<'P' || fail "a program that sleeps is said to wait for a CPU"
import csv
slots = [s for s in csv.DictReader(open("slept/samples/0-latency-slots.csv")) if s["phase"] == "1"]
waits = sum(int(s["child_run_delay_ns"]) for s in slots)
assert waits < sum(int(s["end_ns"]) - int(s["start_ns"]) for s in slots) / 2, waits # on the busiest machine
P
marked=$(number slept one blocks_marked)
[ "$marked" = 0 ] || disturbed slept || fail "$marked blocks of a program that sleeps are marked"

# The kernel tells nothing of descendants that have ended. What others took of the CPUs meanwhile is known all the same,
# but for slots of a few ticks: of these nobody says "undisturbed".
"$INFEROMETER" exec "sh -c './spin; ./spin'" ./spin --name tree --name plain --repeats 12 --quiet --out tree \
    >out 2>errors || [ $? = 3 ] || fail "tree: $(cat errors)"
number tree tree blocks_marked | has '^[0-9]' || fail "tree: $(number tree tree blocks_marked)"
number tree tree command_run_delay_ns | has '^absent: ' || fail "tree: $(number tree tree command_run_delay_ns)"
number tree plain command_run_delay_ns | has '^[0-9]' || fail "plain: $(number tree plain command_run_delay_ns)"
"$INFEROMETER" exec "sh -c './spin 5; ./spin 5'" --name short --repeats 12 --slot-steps 1 --quiet --out short \
    >out 2>errors || [ $? = 3 ] || fail "short: $(cat errors)"
number short short blocks_marked | has '^absent: .*first thread' || fail "short: $(number short short blocks_marked)"
grep -q 'whether other work disturbed its runs is not known' short/derived.json ||
    fail "nobody says that it is not known"
