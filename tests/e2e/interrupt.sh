#!/usr/bin/env bash
# Ctrl-C ends a run with status 130, keeps every whole block, says what they show so far, and --resume finishes it.
source "$(dirname "$0")/lib.sh"
cut_short INT out 40 \
    "$INFEROMETER" null --ceilings none --threads 1 --override null.spin=200000 --repeats 60000 --out out
[ "$status" = 130 ] || fail "exit status $status after SIGINT, not 130: $(cat errors)"
before=$(slots_of out)
[ "$before" -gt 0 ] || fail "no slot was kept"
head -c "$(cat out/samples/*-slots.csv | wc -c)" out/samples/*-slots.csv >kept
"$INFEROMETER" run --resume out >/dev/null 2>errors || fail "resume: $(cat errors)"
after=$(slots_of out)
[ "$after" -ge "$before" ] || fail "resume lost slots: $before before, $after after"
cmp -s kept <(head -c "$(stat -c %s kept)" out/samples/*-slots.csv) || fail "resume changed what was recorded before"
"$INFEROMETER" verify out >/dev/null 2>errors || fail "verify: $(cat errors)"
cut_short INT two 40 "$INFEROMETER" exec "sleep 0.01" "sleep 0.012" --cap 60s --warmup-cap 100ms --out two
said='(sleep-2nd against sleep-1st [0-9.]+x|the machine disturbed)'
grep -qE "^note: preliminary, after [0-9]+ blocks?: $said" errors ||
    fail "nothing is said of what was measured: $(cat errors)"
echo "$before slots kept, $after in the end"
