#!/usr/bin/env bash
# A million samples are recorded, derived, published and verified in time that grows with their number and no faster,
# and in little of it. Processor time counts, against that of a tenth of them and of a loop of the shell: neither a slow
# machine nor a busy one matters. bench/scale.sh gives the seconds.
source "$(dirname "$0")/lib.sh"

# Milliseconds of processor time: of this shell (14) or of what it has waited for (16).
spent() { awk -v at="$1" -v hz="$(getconf CLK_TCK)" '{ print ($at + $(at + 1)) * 1000 / hz }' /proc/$$/stat; }

# measure SAMPLES FOLDER: records and verifies; $took is what that cost
measure()
{
    local before
    before=$(spent 16)
    "$INFEROMETER" run --workload null --device fake --script "step_ns=1000; noise=0.01" --ceilings none \
        --repeats "$1" --slot-steps 10000 --out "$2" >/dev/null 2>errors || fail "$(cat errors)"
    "$INFEROMETER" verify "$2" >/dev/null 2>errors || fail "$(cat errors)"
    took=$(($(spent 16) - before))
}
measure 100000 tenth
tenth=$took
measure 1000000 out
before=$(spent 14)
for ((i = 0; i < 200000; i++)); do :; done
loop=$(($(spent 14) - before))
rows=$(cat out/samples/*-latency.csv | grep -c '^[0-9]')
[ "$rows" -ge 1000000 ] || fail "$rows samples in the record, not a million"
# Quiet, the loop takes 0.36 s where 3 s are the bar for a million samples: three times the bar here.
[ "$took" -le $((25 * loop)) ] || fail "$rows samples took $took ms of processor time, a loop of the shell $loop"
[ "$took" -le $((20 * tenth)) ] || fail "$rows samples took $took ms of processor time, a tenth of them $tenth"
echo "$rows samples in $took ms of processor time, a tenth of them in $tenth; the loop in $loop"
