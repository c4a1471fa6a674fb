#!/usr/bin/env bash
# What an undecided run tells to type measures the blocks that it promises, whatever ended the run.
source "$(dirname "$0")/lib.sh"
blocks() { grep -o '"blocks":[0-9]*,"elapsed' "$1/run.log" | grep -o '[0-9][0-9]*' | tail -1; }
cases=0
# follows NAME LEAST COMMAND...: as many blocks as the run had and its advice promises, LEAST percent of them at least,
# or fewer where its rule ended it with every gate answered.
follows()
{
    local name=$1 least=$2 flags more had got open
    shift 2
    "$INFEROMETER" "$@" --device fake --quiet --out "$name" >"$name.told" 2>errors || [ $? = 3 ] ||
        fail "$name: $(cat errors)"
    tr '\n' ' ' <"$name.told" | tr -s ' ' >told
    flags=$(sed -n 's/.*next: add \(.*\): about .*/\1/p' told)
    more=$(sed -n 's/.*: about \([0-9]*\) more block.*/\1/p' told)
    [ -n "$flags" ] && [ -n "$more" ] || fail "$name: nothing to type: $(cat "$name.told")"
    # shellcheck disable=SC2086 # words
    "$INFEROMETER" "$@" $flags --device fake --quiet --out "$name-more" >/dev/null 2>errors || open=$?
    [ "${open:-0}" = 0 ] || [ "$open" = 3 ] || fail "$name $flags: $(cat errors)"
    had=$(blocks "$name") got=$(blocks "$name-more")
    [ "${open:-0}" = 3 ] || ! grep '"reason":"decided"' "$name-more/run.log" >/dev/null || least=0
    ((100 * got >= least * (had + more))) || fail "$name: $flags has $got blocks, $had + $more were promised"
    cases=$((cases + 1))
}
script='step_ns=10000000; noise=0.01; arm.new.step_ns=10060000'
gated=(ci old new --max-regression 1% --script "$script" --seed 8)
follows cap 100 "${gated[@]}" --cap 2s
follows mde 90 "${gated[@]}" --stop mde
follows most 100 "${gated[@]}" --override measure.blocks_max=60
# Steps below measure.slot_min: many go into a slot where many are asked for.
short=(exec 'base 1' 'other 2' --script 'step_ns=10000; noise=0.05; arm.other.step_ns=10060' --seed 19)
follows short 98 "${short[@]}" --repeats 60
follows twelve 98 "${short[@]}" --repeats 600 --slot-steps 12
# Slots that hold twelve runs are not told to hold twelve.
"$INFEROMETER" exec base other --device fake --quiet --seed 7 --cap 20s --slot-steps 12 --out full \
    --script 'step_ns=20000000; noise=0.03; arm.other.step_ns=20200000' >full.told 2>errors ||
    fail "full: $(cat errors)"
grep '^next: ' full.told >/dev/null || fail "full: $(cat full.told)"
! grep -e '--slot-steps 12' full.told >/dev/null || fail "full: $(cat full.told)"
echo "$cases runs that were followed"
