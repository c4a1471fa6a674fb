#!/usr/bin/env bash
# Ctrl-C between the start of a session and its first command: no command is started any more.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
LONG_S=100
for _ in $(seq 10); do
    rm -rf out started
    "$INFEROMETER" exec "sh -c 'touch $PWD/started; sleep $LONG_S'" --repeats 2 --out out >said 2>&1 &
    pid=$!
    while kill -0 $pid 2>/dev/null && ! grep -F '"run_start"' out/run.log >/dev/null 2>&1; do :; done
    [ -e started ] && late=1 || late=0
    begun=$SECONDS status=0
    kill -INT $pid
    wait $pid || status=$?
    [ "$status" = 130 ] || fail "status $status: $(cat said)"
    [ $((SECONDS - begun)) -lt $((LONG_S / 2)) ] || fail "the first command was waited for"
    [ $late = 1 ] || [ -e started ] || break
done
[ ! -e started ] || skip "each time the command had started before the signal came"
echo "no command is started after an interruption"
