#!/usr/bin/env bash
# `exec` gives no credit for work that was not done: a program that forks its work and returns is measured to the end of
# the last descendant, one that leaves a daemon is refused, and runs that failed are no samples, whatever the flag.
source "$(dirname "$0")/lib.sh"
need python3 python3
need pgrep procps
few=(--repeats 24 --quiet)

# value FOLDER ARM METRIC: "state number reason"
value()
{
    python3 - "$@" <<'PY'
import json, sys
folder, arm, metric = sys.argv[1:]
for n in json.load(open(folder + "/derived.json"))["numbers"]:
    if (n["arm"], n["metric"]) == (arm, metric):
        print(n["state"], n.get("value"), n.get("reason", ""))
PY
}

# 50 ms of work in a descendant, however it hides: each run takes that long, and its processor time is counted.
cat >work <<'SH2'
#!/bin/sh
sleep 0.05
i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done
SH2
chmod +x work
"$INFEROMETER" exec './work' "sh -c './work & exit 0'" "sh -c 'setsid ./work & exit 0'" \
    "sh -c 'sh -c \"setsid ./work & exit 0\" & exit 0'" --name plain --name fork --name session --name twice \
    "${few[@]}" --out trees >out 2>errors || [ $? = 3 ] || fail "trees: $(cat errors)"
python3 - <<'PY' || fail "work that was forked away is not in the time"
import csv, glob, json
rows = list(csv.DictReader(open(glob.glob("trees/samples/*-latency.csv")[0])))
shortest = min(int(r["duration_ns"]) for r in rows)
assert shortest >= 50e6, shortest
numbers = {(n["arm"], n["metric"]): n for n in json.load(open("trees/derived.json"))["numbers"]}
slots = list(csv.DictReader(open(glob.glob("trees/samples/*-latency-slots.csv")[0])))
runs = {arm: sum(int(s["samples"]) for s in slots if s["phase"] == "1" and s["arm"] == str(i))
        for i, arm in enumerate(("plain", "fork", "session", "twice"))}
# ./work has a child that it waits for; what the program leaves is ./work alone, or a shell before it too.
assert numbers["plain", "command_strays"]["value"] == 0
assert numbers["fork", "command_strays"]["value"] == runs["fork"]
assert numbers["session", "command_strays"]["value"] == runs["session"]
assert runs["twice"] <= numbers["twice", "command_strays"]["value"] <= 2 * runs["twice"]
own = {i: sum(int(s["child_cpu_ns"]) for s in slots if s["arm"] == str(i)) for i in range(4)}
assert min(own.values()) > 0.3 * max(own.values()), own
PY
# In the report's own file: on a busy machine five warnings about it come first on the terminal.
"$INFEROMETER" report trees >out 2>&1 || fail "report: $(cat out)"
grep -q 'processes outlived the program in' trees/report.md || fail "the strays are not shown: $(cat trees/report.md)"
"$INFEROMETER" verify trees >/dev/null 2>errors || fail "verify: $(cat errors)"

# One that never ends: refused at its limit, and nothing is left.
status=0
"$INFEROMETER" exec true "sh -c 'setsid sleep 60.$$ & exit 0'" --name quick --name daemon \
    "${few[@]}" --out daemon >out 2>errors || status=$?
[ "$status" = 3 ] || fail "a daemon ends with status $status, not 3: $(cat errors)"
grep '"stage":"cell_failed"' daemon/run.log | has 'command of arm daemon left a process behind' ||
    fail "the daemon is not named: $(tail -2 daemon/run.log)"
pgrep -f "^sleep 60.$$" >/dev/null && fail "the daemon lives on"
# The limit on the whole run holds for its tree too.
status=0
"$INFEROMETER" exec "sh -c 'sleep 60.$$ & exit 0'" --timeout 100ms "${few[@]}" --out late >out 2>errors || status=$?
[ "$status" = 3 ] || fail "a tree at its time limit ends with status $status, not 3"
grep '"stage":"cell_failed"' late/run.log | has 'longer than --timeout' || fail "late: $(tail -2 late/run.log)"

# Output is thrown away by default, and no program can see that it is and do less, as GNU grep does before /dev/null.
blind='[ /dev/stdout -ef /dev/null ] || [ /dev/stderr -ef /dev/null ] && exit 7; printf %100000d 1; printf x >&2'
"$INFEROMETER" exec --shell "$blind" "${few[@]}" --out blind >out 2>errors || fail "the sink is seen: $(cat errors)"
"$INFEROMETER" exec --shell "$blind" --output kept "${few[@]}" --out blind_kept >out 2>errors ||
    fail "the sink is seen beside a file: $(cat errors)"
[ "$(wc -c <kept)" = 100000 ] || fail "the output is not kept: $(wc -c <kept) bytes"
status=0
"$INFEROMETER" exec --shell "$blind" --output null "${few[@]}" --out seen >out 2>errors || status=$?
[ "$status" = 3 ] && grep '"stage":"cell_failed"' seen/run.log | has 'exit status 7' ||
    fail "--output null is not /dev/null: $status, $(cat errors)"
grep -q '"command.output": "null"' seen/config.lock.json || fail "the lock does not say that output was /dev/null"

# Failed runs under --ignore-failure: counted, with their status; no time, no comparison, and no gate passes.
cat >sometimes <<'SH2'
#!/bin/sh
n=$(cat count 2>/dev/null || echo 0)
echo $((n + 1)) >count
[ $((n % 7)) != 6 ] || exit 3
SH2
chmod +x sometimes
"$INFEROMETER" exec true 'sh -c "exit 3"' "sh -c 'kill -SEGV \$\$'" ./sometimes --name good --name three --name crash \
    --name sometimes --ignore-failure "${few[@]}" --out failed >out 2>errors ||
    fail "failed runs that were let pass end with $?: $(cat errors)"
# In a run of its own: on a busy machine any program may be late.
"$INFEROMETER" exec true 'sleep 9' --name good --name late --timeout 100ms --ignore-failure "${few[@]}" --out timed \
    >out2 2>errors || [ $? = 3 ] || fail "timed: $(cat errors)"
value timed late change_percent | has -E '^refused None .*of [0-9]+ runs failed \(time limit\)' ||
    fail "late: $(value timed late change_percent)"
while read -r arm words; do
    for metric in step_ns change_percent speedup; do
        value failed "$arm" $metric | has -E "^refused None .*of [0-9]+ runs failed \\($words\\)" ||
            fail "$arm: $metric is $(value failed "$arm" $metric)"
    done
    [ "$(value failed "$arm" command_failures | cut -d' ' -f1)" = ok ] || fail "$arm: failures are not counted"
    tr '\n' ' ' <out | tr -s ' ' | has -E "runs failed \\($words\\)" ||
        fail "$arm: its failures are not shown: $(cat out)"
done <<'ARMS'
three exit status 3
crash signal 11
sometimes exit status 3
ARMS
value failed good command_failures | has "^ok 0" || fail "good: $(value failed good command_failures)"
"$INFEROMETER" verify failed >/dev/null 2>errors || fail "verify: $(cat errors)"
status=0
"$INFEROMETER" gate failed --gates significant >gate 2>errors || status=$?
[ "$status" = 3 ] || [ "$status" = 4 ] || fail "a gate on failed runs ends with status $status: $(cat gate errors)"
grep -qi blocked gate || fail "the gate is not blocked: $(cat gate)"

# A baseline that fails takes every comparison with it.
"$INFEROMETER" exec 'sh -c "exit 3"' true --name base --name other --ignore-failure --repeats 30 --quiet --out base \
    >out 2>errors || [ $? = 3 ] || fail "base: $(cat errors)"
value base other change_percent | has '^refused None .*runs failed (exit status 3)' ||
    fail "compared with failed runs: $(value base other change_percent)"

# Programs that take about as long run as often in a slot: what one leaves for later runs then meets both alike.
slots()
{
    rm -rf level
    "$INFEROMETER" exec a b --device fake --script "step_ns=30000000; arm.b.step_ns=$1" --name a --name b --seed 1 \
        --cap 2s --quiet --out level >out 2>errors || fail "level: $(cat errors)"
    grep '"calibrate"' level/run.log | grep -o 'samples_per_slot":[0-9]*' | tr -dc '0-9\n' | tr '\n' ' '
}
[ "$(slots 9000000)" = "1 1 " ] || fail "30 and 9 ms: $(slots 9000000)runs a slot, not 1 1"
[ "$(slots 1000000)" = "1 30 " ] || fail "30 and 1 ms: $(slots 1000000)runs a slot, not 1 30"
# A program that is built anew while it is measured is two programs: no time, no comparison, and the gate is blocked.
# What a hook builds for each run is not held against it.
printf '#!/bin/sh\n[ ! -e begun ] || cp one made.sh\n: >begun\n' >make && chmod +x make
for how in swapped wrapped linked made hooked; do
    printf '#!/bin/sh\nsleep 0.02\n' >one && cp one two && chmod +x one two
    hook=()
    [ $how != hooked ] || hook=(--prepare true)
    two=./two what=program file=two
    # By the setup of its own arm, the second: before, it is not there.
    [ $how != made ] || hook=(--setup ./make) two='sh made.sh' what=script file=made.sh
    # shellcheck disable=SC2209
    [ $how != wrapped ] || two='env FOO=1 nice -n 1 ./two' what='wrapped program'
    [ $how != linked ] || { ln -sfn two link && two=./link; }
    "$INFEROMETER" ci ./one "$two" --max-regression 100% --repeats 60 --output discard "${hook[@]}" --quiet --out $how \
        >out 2>errors &
    pid=$!
    while kill -0 $pid 2>/dev/null && [ "$(slots_of $how 2>/dev/null || true)" -lt 4 ]; do
        sleep 0.02
    done
    printf '#!/bin/sh\nsleep 0.02; :\n' >new && chmod +x new && mv new $file
    status=0
    wait $pid || status=$?
    if [ $how != hooked ]; then
        [ $status = 3 ] || fail "a program that was replaced ends with $status, not 3: $(cat out errors)"
        grep -q '^BLOCKED' out || fail "the gate is not blocked: $(cat out)"
        value $how new step_ns | has "the file of its $what was changed while it was measured" ||
            fail "the change is not said: $(value $how new step_ns)"
    else
        value $how new step_ns | has '^ok' || fail "a hook may build it: $(value $how new step_ns)"
    fi
done

# The lab itself was stopped: the block says so, and no program is blamed.
"$INFEROMETER" exec 'sleep 0.02' 'sleep 0.021' --repeats 60 --quiet --out stopped >out 2>errors &
pid=$!
while kill -0 $pid 2>/dev/null && [ "$(grep -c '"stage":"warmup"' stopped/run.log 2>/dev/null || true)" != 2 ]; do
    sleep 0.02
done
for _ in 1 2 3; do # one of them inside a block
    kill -STOP $pid && sleep 0.2 && kill -CONT $pid && sleep 0.05
done
wait $pid || fail "a run that was stopped and continued: $(cat errors)"
grep '"stage":"disturbed"' stopped/run.log | has 'inferometer itself was stopped' ||
    fail "the stop is not said: $(tail -3 stopped/run.log)"
echo "trees to their end, daemons refused, failed runs left out, slots even, replaced programs and a stopped lab told"
