#!/usr/bin/env bash
# A FIFO or a device in place of a file of a run folder, or of a file that is named: every command ends at
# once, most with one error that says that it is no regular file. None waits for a writer or reads without an end.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need timeout coreutils
enough=250 # seconds, on a busy machine; what hangs never ends

"$INFEROMETER" null --device fake --script 'step_ns=1000; noise=0.01' --ceilings none --seed 1 --repeats 12 \
    --out whole >/dev/null 2>errors || fail "$(cat errors)"

# ends WHAT command...: within the time, and not killed by a signal. The exit status is in $status.
ends()
{
    local what=$1
    shift
    status=0
    timeout "$enough" "$@" >said 2>errors </dev/null || status=$?
    [ "$status" -lt 124 ] || fail "$what: exit status $status: $(tail -3 errors)"
}

calls=0
put() # KIND FILE
{
    rm -f "$2"
    case $1 in
        fifo) mkfifo "$2" ;;
        device) ln -s /dev/zero "$2" ;;
    esac
}

for kind in fifo device; do
    while read -r file; do
        for command in verify derive report gate "compare whole" list "run --resume" rerun; do
            rm -rf odd again
            cp -r whole odd
            put $kind "odd/$file"
            # shellcheck disable=SC2086
            case $command in
                gate) set -- gate --gates significant odd ;;
                rerun) set -- rerun odd --out again ;;
                *) set -- $command odd ;;
            esac
            ends "$kind in place of $file: $*" "$INFEROMETER" "$@"
            calls=$((calls + 1))
            case $1:$file in
                # what all of them read must be an error, and say what it is
                verify:run.log | derive:run.log | report:run.log | gate:run.log | compare:run.log | \
                    verify:plan.json | derive:plan.json | gate:plan.json | compare:plan.json | \
                    verify:config.lock.json | derive:samples/0-latency.csv | derive:samples/0-latency-slots.csv)
                    [ "$status" != 0 ] || fail "$kind in place of $file: $* is content"
                    grep -q "regular file" errors said || fail "$kind in place of $file: $*: $(cat errors)"
                    ;;
            esac
        done
    done < <(cd whole && find . -type f | sed 's|^\./||')
done

# Files that are named on the command line.
for kind in fifo device; do
    put $kind named
    for words in "run -c named --out new" "gate --gates named whole" \
        "gate --against named whole" "unlock --state named" "lock --state named --governor performance --dry-run" \
        "decode --kv-file named --out new" "validate named" "run --resume named" "list named" "verify named" \
        "exec --input named --runs 1 --out new -- true" "run --plugin named --workload x --out new" \
        "workloads --plugin named"; do
        rm -rf new
        # shellcheck disable=SC2086
        ends "$words ($kind)" "$INFEROMETER" $words
        calls=$((calls + 1))
    done
done
echo "$calls calls over FIFOs and devices, none of which hangs"
