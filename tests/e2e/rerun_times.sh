#!/usr/bin/env bash
# How well a measurement repeats between sessions: a script does, whatever folder it stands in, and is not quotable.
source "$(dirname "$0")/lib.sh"
need python3 python3
"$INFEROMETER" decode --compress 4 --kv-len 1024 --device fake --seed 1 --quiet --ceilings none \
    --repeats 120 --out first --script 'step_ns=100000; noise=0.005; arm.int4.step_ns=50000' >/dev/null 2>errors ||
    fail "$(cat errors)"

# Of scripted times the last line, which may take three, says what it would of measured ones.
scripted()
{
    local code=0
    "$INFEROMETER" rerun "$@" --quiet >table 2>errors || code=$?
    [ $code = 3 ] || fail "rerun $*: ends with $code, $(cat table errors)"
    tail -3 table | tr '\n' ' ' >last
    grep -q 'quote nothing: the times are scripted; of measured ones it would be: ' last || fail "says: $(cat table)"
}
scripted first --times 3 --out again
grep -Eq ': quote int4 2\.0[0-9]x \([0-9.]+x to [0-9.]+x over 4 runs\) $' last || fail "says: $(cat table)"
for n in 1 2 3; do
    "$INFEROMETER" verify "again-$n" >/dev/null 2>errors || fail "again-$n: $(cat errors)"
done
[ ! -e again-4 ] && [ ! -e again ] || fail "more folders than sessions: $(ls)"

# The next ones go beside them; the JSON says what the table says.
"$INFEROMETER" rerun first --times 2 --epsilon 1% --quiet --out again --format json >json 2>errors || [ $? = 3 ] ||
    fail "rerun: $(cat errors)"
[ -e again-5/manifest.sha256 ] || fail "no further folders: $(ls)"
python3 - <<'P' || fail "the JSON: $(cat json)"
import json
d = json.load(open("json"))
assert d["quotable"] == "not answered" and "it would be: quote int4 2.0" in d["notes"][-1], d
assert d["repeatable"] == d["speedups"] == "repeatable" and d["epsilon_percent"] == 1, d
assert len(set(d["sessions"] + [d["original"]])) == 3, d
assert 0 < d["span_s"] < 3600 and "all runs within" not in d["notes"][-1], d
assert {(r["arm"], r["metric"]) for r in d["rows"]} == {("f16", "step_ns"), ("int4", "step_ns"), ("int4", "speedup")}, d
for r in d["rows"]:
    assert 0 < r["least"] <= r["mean"] <= r["most"] and 0 < r["original"], r
    assert r["spread_percent"] <= 1 and r["answer"] == "repeatable", r
P

# A run that left no whole record has nothing to be held against its repeats.
mkdir bare && cp first/config.lock.json first/run.log bare/
scripted bare --times 2 --out of-bare
grep -q 'over 2 runs) $' last && grep -q 'no whole record' table || fail "says: $(cat table)"

# Times of a machine that has become slower do not repeat; of the ratio, which does, the exit code speaks.
for arm in 1 2; do
    # shellcheck disable=SC2016 # the program expands them
    printf '#!/bin/sh\nread -r pace <"${0%%/*}/pace"\nfor i in %s; do sleep "$pace"; done\n' "$(seq -s ' ' $arm)" \
        >"arm$arm"
    chmod +x "arm$arm"
done
echo 0.05 >pace
"$INFEROMETER" exec ./arm2 ./arm1 --repeats 8 --quiet --out programs >/dev/null 2>errors || [ $? = 3 ] ||
    fail "programs: $(cat errors)"
echo 0.2 >pace
code=0
"$INFEROMETER" rerun programs --times 2 --epsilon 30% --quiet --out slower --format json >json 2>errors || code=$?
[ $code = 0 ] || [ $code = 3 ] || fail "ends with $code: $(cat json errors)"
python3 - $code <<'P' || fail "the JSON: $(cat json)"
import json, sys
d = json.load(open("json"))
assert d["repeatable"] == "not repeatable" and d["speedups"] == "repeatable", d
assert d["quotable"] == {"0": "yes", "3": "not answered"}[sys.argv[1]], d
assert "the times of arm2, arm1" in d["notes"][-1] and "another hour may differ by more" in d["notes"][-1], d
P

# A program that was built anew since is another one: said, and its times are not held against the original's.
"$INFEROMETER" exec ./arm1 --repeats 4 --quiet --out built >/dev/null 2>errors || [ $? = 3 ] ||
    fail "built: $(cat errors)"
cp arm1 kept && mv kept arm1 && "$INFEROMETER" rerun built --quiet --out copied >/dev/null 2>errors || [ $? = 3 ] ||
    fail "the same program: $(cat errors)"
! grep 'another program' errors || fail "a program that nobody replaced"
echo '# anew' >>arm1
"$INFEROMETER" rerun built --times 2 --quiet --out anew >table 2>errors || [[ $? = [13] ]] || fail "anew: $(cat errors)"
[ "$(grep -c 'the program of arm1 is another file than in built: this rerun measures another program' errors)" = 2 ] ||
    fail "a replaced program is not named: $(cat errors)"
tr '\n' ' ' <table | grep -q 'another program of arm1: it is not held against its repeats' || fail "says: $(cat table)"

# A session waits as a single one does; so short a wait is in vain, which a warning says.
"$INFEROMETER" null --repeats 20 --quiet --out real >/dev/null 2>errors || [ $? = 3 ] || fail "null: $(cat errors)"
"$INFEROMETER" rerun real --times 2 --wait-quiet 0.1s --quiet --out waits >/dev/null 2>errors || [[ $? = [13] ]] ||
    fail "sessions that wait: $(cat errors)"
[ "$(grep -c 'not quiet within 0.1 s' errors)" = 2 ] || fail "not each session waits: $(cat errors)"

# Mistakes are named before anything is measured.
refused()
{
    local status=0
    "$INFEROMETER" "$@" >/dev/null 2>errors || status=$?
    [ "$status" = 2 ] || fail "$*: ends with $status, $(cat errors)"
}
for bad in "--times 1" "--times many" "--times 2 --epsilon 0" "--times 2 --epsilon wide"; do
    # shellcheck disable=SC2086
    refused rerun first $bad --quiet --out bad
done
refused run --times 2
refused derive first --times 2
! compgen -G 'bad*' >/dev/null || fail "a folder was made"
# A drift inside a run repeats with it.
"$INFEROMETER" exec 'a 1' 'b 2' --device fake --seed 1 --quiet --ceilings none --repeats 400 --out drift \
    --script 'step_ns=10000000; noise=0.02; arm.b.drift=0.05' >/dev/null 2>errors || fail "drift: $(cat errors)"
scripted drift --times 2 --out drift-again
tr '\n' ' ' <table | grep 'quote b .*x with care (.* over 3 runs; the speed-up drifts inside 3 of 3 runs)' >/dev/null ||
    fail "a drift is quoted: $(cat table)"
# Two equal programs: that is quoted too, by the word that derive has for it.
"$INFEROMETER" exec 'a 1' 'b 2' --device fake --seed 1 --quiet --ceilings none --repeats 400 --margin 2% --out equal \
    --script 'step_ns=10000000; noise=0.02' >said 2>errors || fail "equal: $(cat errors)"
grep 'b is equivalent to a' said >/dev/null || fail "equal: $(cat said)"
scripted equal --times 2 --out equal-again
grep -Eq 'quote b [01]\.[0-9]+x \(equivalent, ' last || fail "equal: $(cat table)"
# A program of two modes takes neither of them on average.
"$INFEROMETER" exec 'moody 2' --device fake --seed 1 --quiet --ceilings none --repeats 60 --out moody --script \
    'step_ns=10000000; noise=0.02; arm.moody.slow=0.4; arm.moody.slow_times=2' >/dev/null 2>errors ||
    fail "moody: $(cat errors)"
scripted moody --times 2 --out moody-again
grep -Eq 'quote moody .* over 3 runs; 2 modes in 3 of 3 runs: [0-9]+ % at 10\.0 ms, [0-9]+ % at .* ms\) $' last ||
    fail "modes: $(cat table)"
echo "17 sessions, 6 mistakes"
