#!/usr/bin/env bash
# A plugin that ends its process, ends a thread of the lab, never returns, or changes the locale or the rounding mode:
# its arm has failed, the others are measured, and no command ever ends with status 0 and without a verdict.
source "$(dirname "$0")/lib.sh"
need python3 python3
: "${IFM_PLUGINS:?the folder of the plugins that the build makes}"
cp "$IFM_PLUGINS/unruly.so" "$IFM_PLUGINS/unruly_load.so" .
tried=0

# Calls that never return have 30 seconds and more, so they go on beside all others, each in a folder of its own.
hangs() # WHEN WORDS [ARGUMENTS...]
{
    local when=$1 words=$2
    shift 2
    mkdir "hang-$when$#"
    cp unruly.so "hang-$when$#"
    cd "hang-$when$#"
    study hang "$when" 2
    status=0
    timeout 600 "$INFEROMETER" run -c study.yaml --cap 0.1s --out run "$@" >out 2>errors || status=$?
    [ "$status" = 0 ] || [ "$status" = 3 ] || fail "a hang in $when: status $status: $(cat errors)"
    [ "$(grep -c "cell .*: arm bad failed .*$words" errors)" = 1 ] || fail "a hang in $when: $(cat errors)"
    only_bad_failed run "$words"
}

hangs_before()
{
    status=0
    timeout 600 "$INFEROMETER" unruly --plugin ./unruly.so --when describe --fault hang --out never >hangs 2>&1 ||
        status=$?
    [ "$status" = 2 ] || fail "a hang in describe: status $status: $(cat hangs)"
    has 'unruly.so: .*its describe did not return within 60 s' <hangs || fail "a hang in describe: $(cat hangs)"
}

study()
{
    cat >study.yaml <<YAML
plugin: unruly.so
workload: unruly
ceilings: none
arms:
  - {name: good, baseline: true}
  - {name: bad, set: {unruly.fault: $1, unruly.when: $2, unruly.late: $3}}
  - {name: other}
measure: {stop: repeats, repeats: 30, blocks_min: 6, warmup: 5, warmup_cap: 50ms, slot_min: 0s}
YAML
}

# The arm `bad` of a folder failed for a reason that holds the words; the others have numbers; the folder verifies.
only_bad_failed()
{
    local folder=$1 words=$2
    grep '"stage":"arm_failed"' "$folder/run.log" | grep '"arm":"bad"' | has -E -- "$words" ||
        fail "$folder: the arm's failure is not told: $(grep arm_failed "$folder/run.log")"
    ! grep '"stage":"arm_failed"' "$folder/run.log" | has -vE '"arm":"bad"' || fail "$folder: another arm failed too"
    grep -q '"stage":"run_done"' "$folder/run.log" || fail "$folder: the run is not done"
    python3 - "$folder" <<'PY' || fail "$folder: the numbers are not those of the arms that are left"
import json, sys
numbers = json.load(open(sys.argv[1] + "/derived.json"))["numbers"]
state = {(n["arm"], n["metric"]): n["state"] for n in numbers}
assert state["bad", "step_ns"] != "ok", state
# A busy machine may have times refused; they are there all the same.
assert state["good", "step_ns"] in ("ok", "refused") and state["other", "step_ns"] in ("ok", "refused"), state
assert state["other", "error_rms_rel"] == "ok", state
PY
    "$INFEROMETER" verify "$folder" >out 2>&1 || fail "$folder: verify: $(cat out)"
}

# Fault, function, calls of step before it, words of the reason, then arguments.
fails_alone()
{
    local fault=$1 when=$2 late=$3 words=$4 status=0 folder
    shift 4
    tried=$((tried + 1))
    folder=run-$tried-$fault-$when
    study "$fault" "$when" "$late"
    timeout 300 "$INFEROMETER" run -c study.yaml --out "$folder" --quiet "$@" >out 2>errors || status=$?
    # Times may be refused on a busy machine; what counts is that there is a verdict, whatever it says.
    [ "$status" = 0 ] || [ "$status" = 3 ] || fail "$folder: status $status: $(cat errors)"
    [ -s "$folder/verdict.json" ] || fail "$folder: status $status without a verdict: $(cat errors)"
    only_bad_failed "$folder" "$words"
}

hangs open 'its open did not return within 3[0-9] s' &
hanging=$!
hangs step 'its step did not return within 3[0-9] s' --isolation processes &
hanging="$hanging $!"
hangs_before &
hanging="$hanging $!"

fails_alone exit open 0 'its open ended the process with exit status 0'
fails_alone exit_at_once open 0 'its open ended the process with exit status 0'
fails_alone exit step 40 'its step.* ended the process with exit status 0'
fails_alone exit_at_once step 0 'ended the process with exit status 0'
fails_alone quick_exit step 40 'ended the process with exit status 0'
fails_alone exit_at_once check 0 'its check ended the process with exit status 0'
fails_alone exit features 0 'ended the process with exit status 0'
fails_alone end_thread open 0 'its open ended a thread of the lab'
fails_alone end_thread step 40 'ended a thread of the lab'
fails_alone end_worker step 40 'ended a thread of the lab'
fails_alone abort step 40 'signal 6'
fails_alone crash step 40 'signal 11'
for when in open step check; do
    fails_alone locale $when 40 'changed the locale'
    fails_alone thread_locale $when 40 'changed the locale'
    fails_alone rounding $when 40 'changed the floating point environment'
done
last=run-$tried-rounding-check

# An arm that rests every second or tenth call: whichever call the slots end with, its times are refused.
for rest in rest-30 rest-31 rest_tenth-30; do
    study ${rest%-*} step 0
    status=0
    "$INFEROMETER" run -c study.yaml --override measure.repeats=${rest#*-} --out $rest --quiet >out 2>errors ||
        status=$?
    [ "$status" = 3 ] || fail "an arm that rests ends with status $status, not 3: $(cat out errors)"
    python3 - $rest <<'PY' || fail "an arm that rests has a time"
import json, sys
numbers = json.load(open(sys.argv[1] + "/derived.json"))["numbers"]
time = next(n for n in numbers if n["arm"] == "bad" and n["metric"] == "step_ns")
assert time["state"] == "refused" and time["reason"].startswith("rule-10"), time
PY
done

# Arms in processes of their own: with a plugin at all, and with the same ends.
study none step 0
status=0
"$INFEROMETER" run -c study.yaml --isolation processes --out processes --quiet >out 2>errors || status=$?
[ "$status" = 0 ] || [ "$status" = 3 ] || fail "processes: status $status: $(cat errors)"
[ "$(grep -c '"stage":"processes".*"started":[4-9]' processes/run.log)" = 3 ] ||
    fail "processes: not one process for each arm and block: $(grep '"stage":"processes"' processes/run.log)"
! grep -q '"stage":"arm_failed"' processes/run.log || fail "processes: an arm failed"
fails_alone exit step 2 'process of arm bad ended by itself with status 0' --isolation processes
fails_alone end_thread step 2 'process of arm bad was ended by signal 6' --isolation processes
fails_alone rounding step 2 'changed the floating point environment' --isolation processes

# Once more from the folder: rerun finds the same, and a folder that is whole has nothing to resume.
"$INFEROMETER" rerun "$last" --out again --quiet >out 2>errors || [ $? = 3 ] || fail "rerun: $(cat errors)"
only_bad_failed again 'changed the floating point environment'
"$INFEROMETER" run --resume again --quiet >out 2>errors || [ $? = 3 ] || fail "resume: $(cat errors)"

# An end while an arm is closed takes no number back, but the run says that it is not whole; --resume ends it.
study exit_at_once close 0
status=0
"$INFEROMETER" run -c study.yaml --out close --quiet >out 2>errors || status=$?
[ "$status" = 3 ] || fail "an exit in close ends with status $status, not 3: $(cat errors)"
grep -q 'its close ended the process with exit status 0' errors || fail "close: $(cat errors)"
"$INFEROMETER" run --resume close --quiet >out 2>errors || [ $? = 3 ] || fail "resume after close: $(cat errors)"
[ -s close/verdict.json ] || fail "close: no verdict after --resume"

# Every arm: the cell has failed.
status=0
"$INFEROMETER" unruly --plugin ./unruly.so --fault exit --ceilings none --out alone --quiet >out 2>errors || status=$?
[ "$status" = 3 ] || fail "a run of one arm that exits ends with status $status, not 3: $(cat errors)"
grep '"stage":"cell_failed"' alone/run.log | has 'every arm failed' || fail "alone: $(tail -2 alone/run.log)"

# Before anything is measured: one error, status 2, no folder.
for fault in exit exit_at_once quick_exit end_thread abort crash locale rounding; do
    status=0
    "$INFEROMETER" unruly --plugin ./unruly.so --when describe --fault $fault --out never >out 2>errors || status=$?
    [ "$status" = 2 ] || fail "$fault in describe ends with status $status, not 2: $(cat errors)"
    [ "$(grep -c '^error: ' errors)" = 1 ] || fail "$fault in describe: not one error: $(cat errors)"
    grep -q describe errors || fail "$fault in describe is not named: $(cat errors)"
done
for command in workloads "help unruly" schema "run --dry-run --workload unruly"; do
    status=0
    # shellcheck disable=SC2086
    "$INFEROMETER" $command --plugin ./unruly_load.so >out 2>errors || status=$?
    [ "$status" = 2 ] || fail "$command with a plugin that exits when it is loaded: status $status: $(cat errors)"
    grep -q 'unruly_load.so: .*loading' errors || fail "$command: the file is not named: $(cat errors)"
done
[ ! -e never ] || fail "a folder was left"

# By choice in this process: an exit is never a status 0 either, and what was changed is put back.
for fault in exit exit_at_once quick_exit end_thread crash; do
    for when in describe open step; do
        study $fault $when 40
        status=0
        rm -rf inside
        "$INFEROMETER" run --inprocess -c study.yaml --out inside --quiet >out 2>errors || status=$?
        [ "$status" != 0 ] || fail "$fault in $when ends with status 0 under --inprocess"
        [ ! -e inside/verdict.json ] || fail "$fault in $when left a verdict under --inprocess"
    done
done
fails_alone rounding step 40 'changed the floating point environment' --inprocess
fails_alone locale open 40 'changed the locale' --inprocess

# Signals: to the process that waits, which passes them on; and the child dies with it. Also in the process that goes on
# without an arm.
study exit open 0
cut_short INT gone_on 8 "$INFEROMETER" run -c study.yaml --override measure.repeats=20000 --out gone_on --quiet
[ "$status" = 130 ] || fail "status $status after SIGINT to a run without an arm, not 130: $(cat errors)"
study none step 0
cut_short INT stopped 12 "$INFEROMETER" run -c study.yaml --override measure.repeats=20000 --out stopped --quiet
[ "$status" = 130 ] || fail "status $status after SIGINT, not 130: $(cat errors)"
before=$(slots_of stopped)
cut_short KILL stopped $((before + 12)) "$INFEROMETER" run --resume stopped --quiet
[ "$status" = 137 ] || fail "status $status after SIGKILL, not 137"
for _ in $(seq 600); do
    grep -lzx stopped /proc/[0-9]*/cmdline >left 2>/dev/null || true
    [ -s left ] || break
    sleep 0.1
done
[ ! -s left ] || fail "the child outlives its parent: $(cat left)"
for job in $hanging; do
    wait "$job" || fail "a call that does not return is not ended: see above"
    tried=$((tried + 1))
done
echo "$tried ways to fail, each the arm's alone"
