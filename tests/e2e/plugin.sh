#!/usr/bin/env bash
# Plugins, from the shared object to the folder: the example measured as a comparison over an axis, its identity in the
# record, the ways back (rerun, resume, verify), failures inside a plugin, and one clear error for each broken one.
source "$(dirname "$0")/lib.sh"
need python3 python3
need cc gcc
: "${IFM_PLUGINS:?the folder of the plugins that the build makes}"
ifm=$INFEROMETER
tried=0

# Exit status, a word of the message, then the command; nothing may be left behind.
refused()
{
    local wanted=$1 word=$2 status=0
    shift 2
    "$@" >out 2>errors || status=$?
    [ "$status" = "$wanted" ] || fail "$*: exit status $status, not $wanted: $(cat errors)"
    [ "$(grep -c '^error: ' errors)" = 1 ] || fail "$*: not one error: $(cat errors)"
    grep -qF -- "$word" errors || fail "$*: the error does not say '$word': $(cat errors)"
    tried=$((tried + 1))
}

passes()
{
    "$@" >out 2>errors || fail "$*: exit status $?: $(cat errors)"
    tried=$((tried + 1))
}

says() { grep -qF -- "$1" "${2:-out}" || fail "${2:-the output} does not say '$1': $(cat "${2:-out}")"; }

# Broken ones, each named by file and member.
for pair in "ABI:abi is 2" "SIZE:struct_size is" "NULL_TABLE:returns NULL" "NO_STEP:step is NULL" \
    "TAKEN:name 'decode' is taken" "DEVICES:devices has bits that are not known" \
    "DEFAULT:parameter 'n': fallback does not fit: broken.n: 0 is out of range; allowed: 1 .. 9" \
    "NO_SYMBOL:no function inferometer_plugin"; do
    refused 2 "${pair#*:}" "$ifm" run --plugin "$IFM_PLUGINS/broken_${pair%%:*}.so" --workload broken --out never
    says "broken_${pair%%:*}.so" errors
done
echo "not an object" >text.so
refused 2 "text.so: cannot be loaded" "$ifm" run --plugin text.so --out never
refused 2 "none.so: the plugin cannot be read" "$ifm" run --plugin none.so --out never
refused 2 "needs a value" "$ifm" run --plugin
refused 2 "did you mean --plugin?" "$ifm" run --plugn text.so
refused 2 "--plugin does not belong to this command" "$ifm" derive never --plugin text.so
refused 2 "unknown workload 'dot'" "$ifm" run --workload dot --out never
says "--plugin" errors
refused 2 "dot.n: 0 is out of range" "$ifm" dot --plugin "$IFM_PLUGINS/dot.so" --n 0 --out never
[ ! -e never ] || fail "a refused plugin left a run folder"

# What it brings: listing, help, schema, flags before and after the command.
cp "$IFM_PLUGINS/dot.so" "$IFM_PLUGINS/full.so" .
passes "$ifm" workloads --plugin "$IFM_PLUGINS/broken_OLD.so" # a table of the first header
passes "$ifm" workloads --plugin ./dot.so
says "the dot product of two f32 vectors"
says "plugin   dot.so"
passes "$ifm" --plugin=./full.so help full
says "--block-size BYTES"
says "full.seed=N"
passes "$ifm" schema --plugin ./dot.so
says '"dot.impl"'
passes "$ifm" workloads --plugin ./dot.so --plugin ./full.so --plugin ./dot.so
[ "$(grep -c '^dot$' out)" = 1 ] || fail "a plugin that is given twice is listed $(grep -c '^dot$' out) times"

# The example's study: two arms, two cells, checked against the oracle; the key `plugin` beside the file.
mkdir study
cp "$IFM_SOURCE/examples/plugin/dot.yaml" dot.so study/
passes "$ifm" run -c study/dot.yaml --override measure.repeats=60 --override dot.n=1000,4099 --ceilings none --out run
[ "$(find run/samples -name '*-slots.csv' | wc -l)" = 2 ] || fail "not two cells"
for arm in naive unrolled; do
    grep "\"check\".*\"arm\":\"$arm\"" run/run.log | has '"done":true.*"finite":true' || fail "$arm was not checked"
done
python3 - run <<'PY' || fail "the numbers of the two arms are not there"
import json, sys
numbers = json.load(open(sys.argv[1] + "/derived.json"))["numbers"]
for cell in ("dot n=1000", "dot n=4099"):
    for metric, arm in (("change_percent", "unrolled"), ("error_rms_rel", "naive"), ("flops_per_s", "naive")):
        found = [n for n in numbers if (n["metric"], n["cell"], n["arm"]) == (metric, cell, arm)]
        # A busy machine may have its times refused, with the reason; the error does not depend on it.
        assert len(found) == 1, (metric, cell, arm, found)
        assert found[0]["state"] == "ok" or (metric != "error_rms_rel" and found[0]["reason"]), found
PY

# Identity: in lock and journal without a path, the path in private.json alone.
sum=$(sha256sum study/dot.so | cut -d' ' -f1)
for file in run/config.lock.json run/run.log; do
    grep -q "$sum" "$file" || fail "$file does not hold the plugin's SHA-256"
done
! grep -rlF "$PWD" run --include='*' --exclude=private.json || fail "a published file holds a path"
grep -qF "$PWD/study/dot.so" run/private.json || fail "private.json does not say where the plugin was"

# Back again: verify loads nothing by itself, rerun and resume do.
passes "$ifm" verify run
says "not rebuilt from config.lock.json"
passes "$ifm" verify run --plugin ./dot.so
! grep -q "not rebuilt" out || fail "verify with the plugin did not plan again"
for command in derive judge report; do passes "$ifm" $command run; done
passes "$ifm" rerun run --out again
cmp -s run/config.lock.json again/config.lock.json || fail "rerun made another lock"
refused 2 "which is not loaded" "$ifm" run -c run/config.lock.json --out never
passes "$ifm" run -c run/config.lock.json --plugin study/dot.so --out from_lock
sed -i 's/"seed": 42/"seed": 43/' again/config.lock.json
edited=$(sha256sum again/config.lock.json | cut -d' ' -f1)
sed -i "s/^[0-9a-f]*\(  config.lock.json\)$/$edited\1/" again/manifest.sha256
refused 3 "edited lock: its hash is" "$ifm" verify again
printf '\n' >>study/dot.so
refused 2 "is not the one that was measured" "$ifm" rerun run --out never
refused 2 "is not the one that was measured" "$ifm" rerun run --plugin study/dot.so --out never
rm study/dot.so
refused 4 "is missing: there is no file" "$ifm" rerun run --out never
refused 4 "is missing" "$ifm" run --resume run
passes "$ifm" rerun run --plugin ./dot.so --out moved
rm run/private.json
refused 4 "private.json does not say where dot.so is" "$ifm" rerun run --out never
[ ! -e never ] || fail "a refused rerun left a run folder"

# A killed run goes on; the fake device needs no code of the plugin but its arithmetic.
script="step_ns=1000; noise=0.01"
fake() { "$ifm" dot --plugin ./dot.so --device fake --ceilings none --seed 1 --repeats 240 "$@"; }
passes fake --script "$script" --out whole
status=0
{ fake --script "$script; die_after_slots=8" --out killed >/dev/null; } 2>errors || status=$?
[ "$status" = 137 ] || fail "the killed run ended with $status"
passes "$ifm" run --resume killed
passes "$ifm" verify killed
[ "$(slots_of whole)" -le "$(slots_of killed)" ] || fail "the resumed run is short"

# Every member: counters in the record, hooks, a feature that ran, values of every type.
full() { "$ifm" full --plugin ./full.so --ceilings none "$@"; }
passes full --repeats 60 --twice --out full
head -1 full/samples/*-slots.csv | has ',steps_done,never_read$' || fail "the counters have no columns"
awk -F, 'NR > 1 && !($(NF - 1) >= 1 && $NF == "") { bad = 1 } END { exit bad }' full/samples/*-slots.csv ||
    fail "the counters are not in the slots, or one that was never read is not absent"
grep '"feature"' full/run.log | has '"feature":"twice","runs":[1-9]' || fail "the feature's runs were not counted"
passes "$ifm" verify full --plugin ./full.so

# Failures inside: of describe before anything runs, of the rest as a cell that failed, with the plugin's own words.
refused 2 "full.fault says describe" full --fault describe --out never
status=0
refused 2 "failed without a reason" full --fault silent --out never
full --fault why_not --out why_not >out 2>errors || status=$?
[ "$status" = 4 ] || fail "a shape that the plugin does not support ends with $status"
grep -q '"cell_skipped".*full.fault says why_not' why_not/run.log || fail "the refusal is not in the record"
for fault in open check after nan_error; do
    status=0
    full --fault $fault --repeats 60 --out "fault_$fault" >out 2>errors || status=$?
    grep -qE "\"cell_failed\".*(full.fault says $fault|an error of finite outputs)" "fault_$fault/run.log" ||
        fail "--fault $fault (exit $status): $(tail -3 "fault_$fault/run.log")"
    tried=$((tried + 1))
done
full --fault nan_output --repeats 60 --out nan_output >out 2>errors || true
grep '"check"' nan_output/run.log | has '"finite":false' || fail "a NaN in the output is not in the record"
ended_with() { [ "$1" = "$2" ] || fail "the crash ended with $1, not $2: $(cat errors)"; }
status=0
{ full --fault crash --repeats 600 --out crash >/dev/null; } 2>errors || status=$?
ended_with "$status" 3
grep '"stage":"cell_failed"' crash/run.log | has 'every arm failed.*signal 6' || fail "crash: $(tail -2 crash/run.log)"
status=0
{ full --fault crash --repeats 600 --inprocess --out inside >/dev/null; } 2>errors || status=$?
ended_with "$status" 134
[ "$(slots_of inside)" -ge 2 ] || fail "a crash inside a step lost the blocks before it"

# The header by itself, in C++ too.
printf '#include <inferometer/plugin.h>\nint main(void) { return sizeof(struct inferometer_plugin) == 0; }\n' >header.c
cp header.c header.cc
cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$IFM_SOURCE/include" -fsyntax-only header.c || fail "not plain C11"
if command -v c++ >/dev/null; then
    c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -I"$IFM_SOURCE/include" -fsyntax-only header.cc ||
        fail "not plain C++11"
fi

# The two lines of the example's README, as they stand there.
mkdir -p by_hand/examples
cp -r "$IFM_SOURCE/examples/plugin" by_hand/examples/
cp -r "$IFM_SOURCE/include" by_hand/
sed -n 's/^    cc /cc /p' by_hand/examples/plugin/README.md >by_hand/examples/plugin/build.sh
(cd by_hand/examples/plugin && sh -e build.sh) || fail "the build line of the example's README does not work"
passes "$ifm" run -c by_hand/examples/plugin/dot.yaml --dry-run
says "2 cells"
echo "$tried commands with plugins"
