#!/usr/bin/env bash
# A text that cannot be written whole, long or short, is an error and not a success.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[ -c /dev/full ] || skip "there is no device /dev/full"
for command in schema man "completion bash" "help run" version "list . --format json"; do
    status=0
    # shellcheck disable=SC2086
    "$INFEROMETER" $command >/dev/full 2>said || status=$?
    [ "$status" = 5 ] || fail "$command: exit status $status, not 5"
    [ "$(grep -c '^error: standard output: ' said)" = 1 ] || fail "$command: not one error: $(cat said)"
done
echo "what a full device swallows is told of"
