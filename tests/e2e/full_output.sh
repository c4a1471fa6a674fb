#!/usr/bin/env bash
# A text that cannot be written whole, long or short, is an error and not a success.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[ -c /dev/full ] || skip "there is no device /dev/full"
"$INFEROMETER" decode --formats f16,int8 --kv-len 512 --device fake --ceilings none --script 'step_ns=1000' \
    --seed 1 --repeats 60 --quiet --out run >/dev/null 2>said || fail "the run: $(cat said)"
for command in schema man "completion bash" "help run" help version "list . --format json" "list ." explain \
    workloads "explain step_ns" doctor "summary run" "compare run" "verify run" "derive run" "report run --format md" \
    "judge run" "gate run --gates significant --junit -" "run -c run/config.lock.json --dry-run"; do
    status=0
    # shellcheck disable=SC2086
    "$INFEROMETER" $command >/dev/full 2>said || status=$?
    case $command in
    gate*) [ "$status" != 0 ] || fail "$command: exit status 0" && continue ;; # it has a status of its own
    esac
    [ "$status" = 5 ] || fail "$command: exit status $status, not 5"
    [ "$(grep -c '^error: standard output: ' said)" = 1 ] || fail "$command: not one error: $(cat said)"
done
echo "what a full device swallows is told of"
