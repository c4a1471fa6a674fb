#!/usr/bin/env bash
# A program that waits for a CPU, since other processes have them, is disturbed, though the lab sleeps meanwhile: its
# blocks are marked. One that sleeps by itself is not, and where nobody can know, nobody says that nothing disturbed it.
source "$(dirname "$0")/lib.sh"
need python3 python3
grep -q '^0 0 0$' /proc/thread-self/schedstat && skip "the kernel does not count the time that threads wait for a CPU"

cat >spin.c <<'C'
#include <time.h>
static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
int main(void) /* 60 ms of processor time */
{
    while (seconds(CLOCK_PROCESS_CPUTIME_ID) < 0.06)
        ;
    return 0;
}
C
need cc gcc
cc -O1 -o spin spin.c || fail "spin.c does not compile"
ln -s spin same

# Twice as many processes as CPUs want them all.
load=()
for _ in $(seq $((2 * $(nproc)))); do
    (while :; do :; done) &
    load+=($!)
done
trap 'kill "${load[@]}" 2>/dev/null || true; rm -rf "$scratch"' EXIT
status=0
"$INFEROMETER" exec ./spin ./same --name spin --name same --repeats 16 --quiet --out loaded >out 2>errors ||
    status=$?
kill "${load[@]}"
wait "${load[@]}" 2>/dev/null || true
[ "$status" = 0 ] || [ "$status" = 3 ] || fail "loaded: $status, $(cat errors)"
marked=$(number loaded spin blocks_marked) blocks=$(number loaded spin blocks_count)
[ "$marked" -ge $((blocks - 1)) ] ||
    fail "$marked of $blocks blocks are marked beside twice as many processes as there are CPUs"
waited=$(number loaded spin command_run_delay_ns)
[ "$waited" -gt 100000000 ] || fail "what the program waited: $waited"
"$INFEROMETER" report loaded >out 2>&1 || fail "report: $(cat out)"
grep -q 'the program waited for a CPU' loaded/report.html || fail "the report does not say what disturbed the blocks"
"$INFEROMETER" verify loaded >/dev/null 2>errors || fail "verify: $(cat errors)"

# One that is off its CPU by its own will waits for nobody: hardly any of its time.
"$INFEROMETER" exec 'sleep 0.4' 'sleep 0.40' --name one --name other --repeats 12 --quiet --out slept >out 2>errors ||
    [ $? = 3 ] || fail "slept: $(cat errors)"
marked=$(number slept one blocks_marked) blocks=$(number slept one blocks_count)
[ "$marked" -le $((blocks / 4)) ] || fail "$marked of $blocks blocks of a program that sleeps are marked"

# The kernel tells nothing of descendants that have ended: then it is not known, and not "undisturbed".
"$INFEROMETER" exec "sh -c './spin; ./spin'" ./spin --name tree --name plain --repeats 12 --quiet --out tree \
    >out 2>errors || [ $? = 3 ] || fail "tree: $(cat errors)"
number tree tree blocks_marked | has '^absent: .*first thread' || fail "tree: $(number tree tree blocks_marked)"
number tree tree command_run_delay_ns | has '^absent: ' || fail "tree: $(number tree tree command_run_delay_ns)"
number tree plain command_run_delay_ns | has '^[0-9]' || fail "plain: $(number tree plain command_run_delay_ns)"
grep -q 'whether other work disturbed its runs is not known' tree/derived.json ||
    fail "nobody says that it is not known"
