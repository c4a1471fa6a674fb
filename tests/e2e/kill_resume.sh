#!/usr/bin/env bash
# kill -9 at any slot loses at most the open block: after --resume the measured record equals that of a run that nobody
# killed, in the order of arms, the samples and their durations. The fake device kills its own process when slot N
# starts (a resumed run does not die again) and, being scripted, makes the comparison exact.
source "$(dirname "$0")/lib.sh"

config() # DIE
{
    cat <<YAML
workload: null
seed: 7
ceilings: none
device:
  kind: fake
  script: "step_ns=1000; arm.slow.step_ns=2000$1"
measure:
  warmup: 10
  stop: repeats
  repeats: 240
arms:
  - name: quick
    baseline: true
  - name: slow
YAML
}

# One line a measured slot: arm, samples, inner, durations.
measured() # DIR
{
    for slots in "$1"/samples/*-slots.csv; do
        awk -F, '
            NR == FNR { durations[$1] = durations[$1] " " $3; next }
            /^[0-9]/ { if ($2 == "1" || $2 == "measure") print $3, $4, $5 ":" durations[row]; row++ }
        ' "${slots%-slots.csv}.csv" "$slots"
    done
}

config "" >whole.yaml
"$INFEROMETER" run -c whole.yaml --out whole >/dev/null 2>errors || fail "$(cat errors)"
measured whole >whole.txt
slots=$(slots_of whole)
[ "$(wc -l <whole.txt)" -ge 12 ] || fail "only $(wc -l <whole.txt) measured slots"
grep -q ' 20[0-9][0-9]' whole.txt || fail "the script's slow arm is not in the record"
tried=0
for die in 1 2 $((slots / 3)) $((slots / 2 + 1)) $((slots - 1)); do
    dir=killed-$die
    config "; die_after_slots=$die" >killed.yaml
    status=0
    # The braces send the shell's own word about the killed child to the same file.
    { "$INFEROMETER" run -c killed.yaml --out "$dir" >/dev/null; } 2>errors || status=$?
    [ "$status" = 137 ] || fail "die_after_slots=$die: exit status $status, not 137: $(cat errors)"
    status=0
    "$INFEROMETER" verify "$dir" >/dev/null 2>&1 || status=$?
    [ "$status" = 3 ] || fail "verify of a run that was killed at slot $die ends with $status, not 3"
    "$INFEROMETER" run --resume "$dir" >/dev/null 2>errors || fail "resume after slot $die: $(cat errors)"
    "$INFEROMETER" verify "$dir" >/dev/null 2>errors || fail "verify after slot $die: $(cat errors)"
    measured "$dir" | cmp -s whole.txt - || fail "killed at slot $die: the record differs from an unharmed run's"
    tried=$((tried + 1))
done
echo "$tried kills, $tried equal records"
