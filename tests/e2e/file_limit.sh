#!/usr/bin/env bash
# A limit on the size of files (ulimit -f) or on open files (ulimit -n): one error that names the limit, never a death
# by signal, and no advice that is about something else.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
study=(null --device fake --ceilings none --script 'step_ns=1000' --seed 1 --repeats 60 --quiet)
"$INFEROMETER" "${study[@]}" --out whole >/dev/null 2>errors || fail "the run: $(cat errors)"
cp -r whole kept
n=0
# said COMMAND...: its status and what it says, under the limit. What it says goes through a pipe, which has no size.
said()
{
    status=0
    errors=$( (ulimit "$limit" "$at" && exec "$INFEROMETER" "$@") 2>&1 >/dev/null) || status=$?
    if [ "$status" = 127 ]; then # the loader had no file left for the libraries: the command never began
        errors=
        return
    fi
    [ "$status" -lt 128 ] || fail "ulimit $limit $at, $*: ended by signal $((status - 128))"
    case $status in
    0 | 1 | 3) ;; # a verdict has no error
    *) [ "$(grep -c '^error: ' <<<"$errors")" = 1 ] || fail "ulimit $limit $at, $*: $errors" ;;
    esac
    n=$((n + 1))
}
names() { grep -E "$1" <<<"$errors" >/dev/null; }
limit=-f at=0
for words in "derive whole" "report whole" "judge whole" "gate whole --gates significant --junit junit.xml" \
    "gate whole --gates significant --markdown -"; do
    # shellcheck disable=SC2086
    said $words
done
said "${study[@]}" --out new
[ "$status" = 5 ] || fail "a run that may write nothing: status $status"
for words in "derive whole" "report whole"; do
    # shellcheck disable=SC2086
    said $words
    [ "$status" = 5 ] && names 'ulimit -f' || fail "$words: status $status: $errors"
done
at=8
rm -rf new
said "${study[@]}" --out new
[ "$status" = 5 ] && names 'ulimit -f' || fail "a run with small files: status $status: $errors"
limit=-n named=0
for at in 4 5 6 7 8 9 10 12; do
    rm -rf new again
    cp -r kept again
    for words in "verify again" "derive again" "list ." "run --resume again"; do
        # shellcheck disable=SC2086
        said $words
        ! names 'dmesg|free some space|not empty' || fail "ulimit -n $at, $words: $errors"
        ! names 'ulimit -n' || named=$((named + 1))
    done
    said "${study[@]}" --out new
    ! names 'dmesg|free some space|not empty' || fail "ulimit -n $at: $errors"
done
[ "$named" -gt 0 ] || fail "no command met the limit on open files"
ln -s circle circle
for words in "derive circle" "verify circle" "run -c circle" "gate whole --junit circle" "list circle" \
    "null --device fake --out circle"; do
    status=0
    # shellcheck disable=SC2086
    errors=$("$INFEROMETER" $words 2>&1 >/dev/null) || status=$?
    [ "$status" = 2 ] || fail "$words: status $status: $errors"
    ! names 'dmesg|free some space' || fail "$words: $errors"
done
echo "$n commands under limits end with an error or succeed"
