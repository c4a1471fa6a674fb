#!/usr/bin/env bash
# Closed standard streams: what would have been printed lands in no file of the run, in any combination; a command
# that only prints says that it could not.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 python3
n=0
check()
{
    [ "$status" = 0 ] || fail "$1: status $status"
    python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' "$2/run.log" ||
        fail "$1: something else stands in run.log"
    "$INFEROMETER" verify "$2" >said 2>&1 || fail "$1: $(cat said)"
    [ "$(stat -c %a "$2/private.json")" = 600 ] || fail "private.json is not for its owner alone"
    n=$((n + 1))
}
run=(null --ceilings none --threads 1 --repeats 60 --override measure.locks=observed)
status=0
"$INFEROMETER" "${run[@]}" --out none <&- >&- 2>&- || status=$?
check "<&- >&- 2>&-" none
"$INFEROMETER" "${run[@]}" --out two >&- 2>&- || status=$?
check ">&- 2>&-" two
"$INFEROMETER" "${run[@]}" --out one 2>&- >table || status=$?
check "2>&-" one
"$INFEROMETER" "${run[@]}" --out in <&- >table 2>said || status=$?
check "<&-" in
"$INFEROMETER" exec --repeats 8 'sh -c "echo out; echo error >&2"' --output inherit --out exec \
    >&- 2>&- || status=$?
check "exec >&- 2>&-" exec
for command in derive report judge; do
    status=0
    "$INFEROMETER" $command none <&- >&- 2>&- || status=$?
    check "$command with closed streams" none
done
# A command that only prints has done nothing where nobody can read it; one whose exit code says what was found has.
for command in "compare one two" "list ." "summary one" "explain" version "help run" "run --help"; do
    status=0
    # shellcheck disable=SC2086
    "$INFEROMETER" $command >&- 2>said || status=$?
    [ "$status" = 5 ] && [ "$(grep -c '^error: standard output' said)" = 1 ] && [ "$(wc -l <said)" = 1 ] ||
        fail "$command >&-: status $status: $(cat said)"
done
"$INFEROMETER" verify one >&- 2>said || fail "verify one >&-: $(cat said)"
echo "$n runs with closed streams are whole"
