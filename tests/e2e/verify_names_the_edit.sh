#!/usr/bin/env bash
# Whoever edits the configuration or the plan of a run, derives anew and hashes everything again is still found out:
# the lock must resolve to itself, and the plan must hold its gates and settings.
source "$(dirname "$0")/lib.sh"
need python3 python3
cat >study.yaml <<'YAML'
workload: null
ceilings: none
device:
  kind: fake
  script: "step_ns=1000; noise=0.01; arm.slow.step_ns=2000"
measure:
  stop: repeats
  repeats: 240
arms:
  - name: quick
    baseline: true
  - name: slow
gates:
  - metric: change_percent
    op: at_most
    threshold: 5
YAML
status=0
"$INFEROMETER" run -c study.yaml --out honest >/dev/null 2>errors || status=$?
[ "$status" = 1 ] || fail "the honest run ends with $status, not 1: $(cat errors)"
"$INFEROMETER" verify honest >/dev/null 2>errors || fail "verify refuses the honest run: $(cat errors)"

forge() # NAME FILE PYTHON
{
    cp -r honest "$1"
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
exec(sys.argv[2])
json.dump(d, open(sys.argv[1], "w"))' "$1/$2" "$3"
    rm "$1/manifest.sha256"
    status=0
    "$INFEROMETER" derive "$1" >/dev/null 2>errors || status=$?
    if [ "$2" = config.lock.json ]; then # its own hash tells
        [ "$status" = 3 ] && grep -q "$2" errors || fail "$1: derive ends with $status: $(cat errors)"
        (cd "$1" && find . -type f ! -name private.json ! -name manifest.sha256 -printf '%P\n' | LC_ALL=C sort |
            xargs sha256sum >manifest.sha256)
    else
        [ "$status" = 0 ] || fail "$1: derive fails: $(cat errors)"
    fi
    status=0
    "$INFEROMETER" verify "$1" >/dev/null 2>errors || status=$?
    [ "$status" = 3 ] || fail "$1: verify ends with $status, not 3: $(cat errors)"
    grep -q "$2" errors || fail "$1: verify does not name $2: $(cat errors)"
    for command in summary compare "compare honest" gate; do # none prints numbers of a folder that verify refuses
        status=0
        # shellcheck disable=SC2086
        "$INFEROMETER" $command "$1" >said 2>errors || status=$?
        [ "$status" = 3 ] && grep -q "$2" errors && [ ! -s said ] ||
            fail "$1: $command ends with $status, not 3: $(cat said errors)"
    done
}
forge gate plan.json 'd["gates"][0]["threshold"] = 500.0'
forge margin plan.json 'd["cells"][0]["measure"]["margin"] = 0.9'
forge lock config.lock.json 'd["gates"][0]["threshold"] = 500.0'
echo "3 forgeries named"
