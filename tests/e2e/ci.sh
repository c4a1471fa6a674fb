#!/usr/bin/env bash
# `ci`: equal programs never fail, a slower one does, too few runs decide nothing; Markdown and JUnit say the same, and
# an edit of either is found out.
source "$(dirname "$0")/lib.sh"
# run FOLDER OLD NEW OPTIONS...: the exit code in $code
run()
{
    local folder=$1
    shift
    code=0
    "$INFEROMETER" ci "$@" --quiet --out "$folder" >"$folder.txt" 2>errors || code=$?
    [ "$code" = 0 ] || [ "$code" = 1 ] || [ "$code" = 3 ] || fail "$folder ends with $code: $(cat errors)"
    python3 - "$folder" "$code" <<'P' || fail "$folder: Markdown and JUnit do not say $code"
import json, sys, xml.etree.ElementTree as tree
folder, code = sys.argv[1], int(sys.argv[2])
verdict = json.load(open(folder + "/verdict.json"))
assert verdict["exit_code"] == code, verdict
assert verdict["outcome"] in {0: ("pass",), 1: ("fail",), 3: ("inconclusive", "blocked")}[code], verdict
suite = tree.parse(folder + "/junit.xml").getroot().find("testsuite")
kinds = {0: "system-out", 1: "failure", 3: "error"}
assert len(suite.findall("testcase")) == int(suite.get("tests")) >= 1
assert suite.find("testcase/" + kinds[code]) is not None, tree.tostring(suite)
assert [int(suite.get(name)) > 0 for name in ("failures", "errors")] == [code == 1, code == 3], suite.attrib
text = open(folder + "/gate.md", encoding="utf-8").read()
word = {0: ("PASS",), 1: ("FAIL",), 3: ("INCONCLUSIVE", "BLOCKED", "INVALID")}[code]
assert text.startswith(tuple("## " + each for each in word)), text
P
    "$INFEROMETER" verify "$folder" >verified 2>&1 || fail "$folder: $(cat verified)"
}

# Equal programs: at noise below, about and far above what the limit can hold. The clock is scripted, so that a busy
# machine has no say.
answers=""
for seed in 1 2 3 4 5; do
    for noise in 0.002 0.03 0.1; do
        run "equal-$seed-$noise" './old 1' './new 1' --max-regression 3% --device fake --repeats 60 --seed "$seed" \
            --script "step_ns=2000000; noise=$noise; slot_noise=$noise"
        [ "$code" != 1 ] || fail "equal programs fail: seed $seed, noise $noise: $(cat "equal-$seed-$noise.txt")"
        answers+=$code
    done
done
[[ $answers == *0* && $answers == *3* ]] || fail "of equal programs some pass and some are open: $answers"
# Real ones
run same 'sleep 0.01' 'sleep 0.01' --max-regression 25% --cap 3s
[ "$code" != 1 ] || fail "sleep 0.01 is slower than itself: $(cat same.txt)"
run real 'sleep 0.04' 'sleep 0.06' --max-regression 3% --cap 20s
[ "$code" = 1 ] || { [ "$code" = 3 ] && disturbed real; } ||
    fail "half as slow again ends with $code: $(cat real.txt)"
run slower './old 1' './new 1' --max-regression 3% --device fake --repeats 60 --markdown copy.md --junit copy.xml \
    --script "step_ns=2000000; arm.new.step_ns=3000000; noise=0.002"
[ "$code" = 1 ] || fail "half as slow again ends with $code: $(cat slower.txt)"
cmp -s copy.md slower/gate.md && cmp -s copy.xml slower/junit.xml || fail "the copies differ from the folder's files"
has -F '| **new** |' <slower/gate.md || fail "the table is not in gate.md"
run few 'sleep 0.01' 'sleep 0.02' --repeats 4
[ "$code" = 3 ] || fail "two blocks end with $code: $(cat few.txt)"

# A pipeline lets 3 pass: a NEW that fails ends with 1, be it in one run of 15, after which there are numbers; where OLD
# fails, nothing is known of NEW. Exit code, verdict, JUnit and Markdown agree (run).
cat >flaky <<'S'
#!/bin/sh
n=$(cat runs 2>/dev/null || echo 0)
echo $((n + 1)) >runs
[ "$n" != 14 ]
S
chmod +x flaky
cp /bin/true fine
run broken true false
[ "$code" = 1 ] && has 'arm new' <errors || fail "a failing NEW ends with $code: $(cat errors)"
run main-broken false true
[ "$code" = 3 ] && has 'old is the baseline' <main-broken/gate.md || fail "a failing OLD ends with $code: $(cat errors)"
run at-times ./fine ./flaky --repeats 60
[ "$code" = 1 ] && has 'arm new ended with exit status 1' <at-times/junit.xml ||
    fail "NEW fails once: $code: $(cat errors)"
has '^do not use: ' <at-times.txt || fail "the numbers of a NEW that fails may be used: $(cat at-times.txt)"
rm runs
run at-times-main ./flaky ./fine --repeats 60
[ "$code" = 3 ] && has '"blocked"' <at-times-main/junit.xml || fail "OLD fails once: $code: $(cat errors)"
rm runs
code=0
"$INFEROMETER" exec ./fine ./flaky --repeats 60 --quiet --out at-times-exec >printed 2>errors || code=$?
[ "$code" = 3 ] && has '^INVALID .*flaky ended with exit status 1' <printed || fail "exec: $code: $(cat printed)"

# Interrupted: the hint is what goes on with both files
cut_short INT cut 12 "$INFEROMETER" ci 'sleep 0.01' 'sleep 0.012' --repeats 120 --quiet --out cut
[ ! -e cut/junit.xml ] || fail "an interrupted run has a junit.xml"
hint=$(sed -n 's/.*go on with `[^`]*inferometer \(.*\)`/\1/p' errors)
[ "$hint" = "ci --resume cut" ] || fail "the hint is '$hint': $(cat errors)"
code=0
"$INFEROMETER" ci --resume cut --quiet >/dev/null 2>errors || code=$?
[ "$code" = 0 ] || [ "$code" = 1 ] || [ "$code" = 3 ] || fail "resume ends with $code: $(cat errors)"
[ -s cut/junit.xml ] && [ -s cut/gate.md ] || fail "resume wrote no gate files"

# Edited and hashed again, and where no gate is
rehash() { sed -i "s|^[0-9a-f]*\(  $2\)\$|$(sha256sum <"$1/$2" | cut -d' ' -f1)\1|" "$1/manifest.sha256"; }
for name in gate.md junit.xml; do
    cp -r slower forged
    sed -i 's/FAIL/PASS/; s/<failure.*/<system-out>fine<\/system-out>/' "forged/$name"
    rehash forged "$name"
    ! "$INFEROMETER" verify forged >verified 2>&1 || fail "a forged $name is verified"
    has -F "$name" <verified || fail "$name is not named: $(cat verified)"
    "$INFEROMETER" derive forged >/dev/null 2>errors || fail "derive: $(cat errors)"
    cmp -s "forged/$name" "slower/$name" || fail "derive does not write $name anew"
    rm -r forged
done
"$INFEROMETER" exec 'sleep 0.01' --repeats 12 --quiet --out ungated >/dev/null 2>errors || fail "$(cat errors)"
cp slower/junit.xml ungated/
! "$INFEROMETER" derive ungated >/dev/null 2>errors || fail "a junit.xml of another run is vouched for"
has -F 'the record does not give it' <errors || fail "the stray is not named: $(cat errors)"
passed=${answers//[!0]/}
echo "${#answers} runs of equal programs: ${#passed} passed, the others open; slower fails; forged files are found out"
