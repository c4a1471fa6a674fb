#!/usr/bin/env bash
# The generated man page is one that mandoc accepts, and names every flag of the parameter table that help names.
source "$(dirname "$0")/lib.sh"
need mandoc mandoc
"$INFEROMETER" man >inferometer.1 2>errors || fail "$(cat errors)"
mandoc -T lint -W warning inferometer.1 >lint || fail "$(head -3 lint)"
mandoc -T utf8 inferometer.1 | sed 's/.\x08//g' >page
flags=$("$INFEROMETER" run --help | grep -oE -- '--[a-z][a-z-]+' | sort -u)
[ "$(wc -w <<<"$flags")" -gt 20 ] || fail "run --help names too few flags: $flags"
for flag in $flags; do
    grep -qF -- "$flag" page || fail "the man page does not name $flag"
done
echo "$(wc -w <<<"$flags") flags, all in the man page"
