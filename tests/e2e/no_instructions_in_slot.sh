#!/usr/bin/env bash
# What is armed costs nothing in the timed part of a slot: callgrind counts the instructions of exactly that part of
# `null`, and they are as many with the instruments of a latency pass and the sensors of power, idle or being read, as
# with none. A clock that does one thing more is noticed, and so is one addition a step in the command itself.
source "$(dirname "$0")/lib.sh"
need valgrind valgrind
need strip binutils
[ -n "${IFM_SLOT_COST:-}" ] || skip "a sanitizer counts its own instructions in this build"
library=${IFM_FAKE_NVML:?the folder of the management libraries that the build makes}/fake_nvml.so

# Symbols are enough, and not every valgrind can read what every compiler says of lines.
strip -g -o slot_cost "$IFM_SLOT_COST"
strip -g -o inferometer "$INFEROMETER"
export LD_BIND_NOW=1 # what binds a function at its first call is no part of a slot

# count NAME command...: instructions of the timed part, into NAME.count
count()
{
    local name=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file="$name.callgrind" --toggle-collect='time_hot*' "$@" >"$name.out" \
        2>"$name.log" || {
        ! grep -q 'unhandled instruction\|Illegal instruction\|SIGILL' "$name.log" ||
            skip "this valgrind does not know an instruction of the build"
        fail "$name: $(tail -5 "$name.log")"
    }
    awk '/ Collected : / { print $NF }' "$name.log" >"$name.count"
    [ "$(cat "$name.count")" -gt 0 ] || fail "$name: nothing was counted, so that the timed part was not found"
}

for mode in off armed sampling more; do
    count $mode ./slot_cost $mode "$library"
    cmp -s off.out $mode.out || fail "$mode: other slots than those of off: $(cat $mode.out)"
done
off=$(cat off.count)
[ "$(cat more.count)" -gt "$off" ] || fail "one thing more in the clock is not noticed: $(cat more.count) and $off"
for mode in armed sampling; do
    [ "$(cat $mode.count)" = "$off" ] || fail "$mode: $(cat $mode.count) instructions, but $off without instruments"
done

# The command: instructions a slot, whose samples are as many as the settings say. How many slots warm it up differs.
a_slot()
{
    local name=$1
    shift
    LD_PRELOAD=$IFM_UNSEEN_VALGRIND \
        count "$name" ./inferometer null --ceilings none --stop repeats --repeats 2000 --slot-steps 200 \
        --out "$name" "$@"
    local slots
    slots=$(slots_of "$name")
    [ "$slots" -gt 0 ] && [ $(($(cat "$name.count") % slots)) = 0 ] ||
        fail "$name: $(cat "$name.count") instructions are no whole number for each of $slots slots"
    echo $(($(cat "$name.count") / slots))
}
null=$(a_slot null)
spin=$(a_slot spin --spin 1)
[ "$spin" -gt "$null" ] || fail "an addition a step is not noticed: $spin and $null instructions a slot"
echo "$off instructions in $(cat off.out), with and without instruments; one thing more in the clock: $(cat more.count)"
