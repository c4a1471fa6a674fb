#!/usr/bin/env bash
# No thread makes a system call inside a timed slot. The os instrument reads getrusage right before and right after the
# timed part, so that under strace every slot is a pair of getrusage calls of the driving thread, and nothing may stand
# between the two: neither a call of that thread nor one of a worker. That the pairs are the slots, and not the gaps, is
# shown by their durations: together they last at least as long as the recorded slots.
source "$(dirname "$0")/lib.sh"
need strace strace
threads=$(nproc)
[ "$threads" -gt 2 ] && threads=2
if ! strace -f -ttt -qq -o trace "$INFEROMETER" null --threads "$threads" --ceilings none --repeats 200 --out out \
    >/dev/null 2>errors; then
    ! grep -qi ptrace errors || skip "ptrace is not permitted here: $(tail -1 errors)"
    fail "$(cat errors)"
fi
slots=$(slots_of out)
[ "$slots" -gt 0 ] || fail "the record holds no slot"
recorded_ns=$(cat out/samples/*-slots.csv | awk -F, '/^[0-9]/ { sum += $7 - $6 } END { printf "%.0f", sum }')

# Lines are "<tid> <time> <call>", in the order in which the kernel saw them. The driving thread is the first one.
awk -v slots="$slots" -v recorded_ns="$recorded_ns" '
    NR == 1 { driver = $1 }
    $1 == driver && $3 ~ /^getrusage\(/ {
        is_open = !is_open
        if (is_open) { began = $2 } else { pairs++; bracketed_ns += ($2 - began) * 1e9 }
        next
    }
    is_open && $3 !~ /^(---|\+\+\+)/ {
        if (bad++ < 5) print "inside slot " pairs + 1 ": " $0
    }
    END {
        if (is_open) { print "a slot has no end bracket"; bad++ }
        if (pairs < slots) { print pairs " bracketed slots, but the record holds " slots; bad++ }
        if (bracketed_ns < recorded_ns) { print "the brackets last " bracketed_ns " ns, the slots " recorded_ns; bad++ }
        if (!bad) print pairs " slots bracketed, no system call in any"
        exit bad > 0
    }' trace
