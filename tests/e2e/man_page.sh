#!/usr/bin/env bash
# The generated man page is one that mandoc and groff accept, and names every command and flag that help names.
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
for heading in NAME SYNOPSIS DESCRIPTION COMMANDS PARAMETERS ENVIRONMENT FILES 'EXIT STATUS' EXAMPLES; do
    grep -qx "$heading" page || fail "the man page has no section $heading"
done
# Every command of help, with what it does.
commands=$("$INFEROMETER" help | awk '/^  [a-z]/ { print $1 }')
[ "$(wc -w <<<"$commands")" -gt 15 ] || fail "help names too few commands: $commands"
for command in $commands; do
    grep -qE "^     $command( |\$)" page || fail "the man page does not name the command $command"
done
# The other formatter, where it is there: it must break every line.
if command -v groff >/dev/null; then
    groff -mdoc -Tutf8 -ww inferometer.1 2>warnings >/dev/null || fail "groff: $(head -3 warnings)"
    [ ! -s warnings ] || fail "groff: $(head -3 warnings)"
fi
echo "$(wc -w <<<"$flags") flags, $(wc -w <<<"$commands") commands, all in the man page"
