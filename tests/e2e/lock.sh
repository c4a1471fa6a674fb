#!/usr/bin/env bash
# `inferometer lock` and `unlock` over a management library of the tests and a tree of files. Nothing of this machine is
# touched: without the tests' library in place nothing is tried.
source "$(dirname "$0")/lib.sh"
need python3 python3
fake=${IFM_FAKE_NVML:?the folder of the fake management libraries}
mkdir driver tree
cp "$fake/fake_nvml.so" driver/libnvidia-ml.so.1
export LD_LIBRARY_PATH=$PWD/driver FAKE_NVML="gpus=2 limit=691" FAKE_NVML_STATE=$PWD/settings
export INFEROMETER_LOCKS=$PWD/state/locks.json
"$INFEROMETER" lock --power-cap 650 --dry-run >plan.txt 2>note.txt || fail "a dry run fails: $(cat note.txt)"
grep -q "power_limit *gpu0 gpu1 *691 W *650 W *691 W *as it is" plan.txt ||
    fail "this is not the tests' library: $(cat plan.txt)"
grep -q "nothing was changed" note.txt || fail "a dry run does not say that it changed nothing"
[ ! -e settings ] && [ ! -e state ] || fail "a dry run wrote something"

settled() { [ ! -s settings ] || ! grep -qv "power_limit 691000" settings; }

# Inputs that are wrong: exit status 2, one error, nothing changed.
wrong()
{
    local words=$1 status=0
    shift
    "$INFEROMETER" lock "$@" >out.txt 2>errors.txt || status=$?
    [ "$status" = 2 ] || fail "lock $*: exit status $status, not 2: $(cat errors.txt)"
    grep -q -- "$words" errors.txt || fail "lock $*: $(cat errors.txt)"
    [ ! -e settings ] && [ ! -e state/locks.json ] || fail "lock $* changed something"
}
wrong "no knob is named: nothing was changed"
wrong "no knob is named" -- true
wrong "whole number above 0" --gpu-clock fast
wrong "whole number above 0" --gpu-clock 1500.5
wrong "number above 0" --power-cap 0
wrong "--turbo takes off" --turbo on
wrong "did you mean --gpu-clock" --gpu-clok 1500
wrong "--gpu-clock: it needs a value" --gpu-clock
wrong "unexpected argument \"true\"" --gpu-clock 1500 true
wrong "no command after --" --gpu-clock 1500 --
wrong "there is no program" --gpu-clock 1500 -- no-such-program-anywhere
wrong "no clock of 1501 MHz" --gpu-clock 1501 -- true
wrong "no knob of a GPU" --gpu 0 --governor performance
wrong "which has 2" --gpu 2 --gpu-clock 1500
wrong "wants indices of GPUs" --gpu first --gpu-clock 1500

# Around a command: its output and its exit status, locks while it runs and none after.
status=0
"$INFEROMETER" lock --gpu-clock 1500 --power-cap 650 --persistence -- \
    sh -c 'cat settings; [ "$INFEROMETER_LOCKS" = "$PWD/state/locks.json" ] && exit 7' >seen.txt \
    2>table.txt || status=$?
[ "$status" = 7 ] || fail "exit status $status, not the command's 7: $(cat table.txt)"
[ "$(grep -c . seen.txt)" = 6 ] || fail "not all was locked while the command ran: $(cat seen.txt)"
grep -q "gpu_clock *gpu0 gpu1 *not readable *1500 MHz *1500 MHz *locked" table.txt || fail "the table: $(cat table.txt)"
grep -q "power_limit *gpu0 gpu1 *691 W *650 W *691 W *restored" table.txt || fail "the table: $(cat table.txt)"
settled && [ ! -e state/locks.json ] || fail "after the command: $(cat settings)"

# SIGTERM and SIGINT end the command first.
for signal in TERM INT; do
    rm -f started ended
    python3 - "$signal" "$INFEROMETER" <<'PY' || fail "SIG$signal during the command"
import os, signal, subprocess, sys, time
name, command = sys.argv[1:]
child = subprocess.Popen([command, "lock", "--gpu-clock", "1500", "--", "sh", "-c",
                          "trap 'touch ended; exit 9' TERM INT; touch started; while :; do sleep 0.05; done"],
                         stderr=subprocess.DEVNULL)
for _ in range(600):
    if os.path.exists("started"):
        break
    time.sleep(0.05)
assert "gpu_clock 1500" in open("settings").read()
child.send_signal(getattr(signal, "SIG" + name))
assert child.wait(250) == 9, child.returncode
PY
    [ -e ended ] || fail "the command was not told of SIG$signal"
    settled && [ ! -e state/locks.json ] || fail "after SIG$signal: $(cat settings)"
done

# kill -9: the locks stay, a second lock is refused, unlock puts them back, and again does no harm.
"$INFEROMETER" lock --gpu-clock 1500 -- sh -c 'kill -9 $PPID; sleep 0.2' >/dev/null 2>&1 && fail "it was not killed"
grep -q "gpu0 gpu_clock 1500" settings || fail "nothing was locked when it was killed"
status=0
"$INFEROMETER" lock --power-cap 650 >/dev/null 2>errors.txt || status=$?
[ "$status" = 2 ] && grep -q 'run `[^`]*inferometer unlock` first' errors.txt ||
    fail "a second lock: $status, $(cat errors.txt)"
"$INFEROMETER" unlock --format json >rows.json
grep -q '"restored"' rows.json || fail "unlock: $(cat rows.json)"
settled && [ ! -e state/locks.json ] || fail "after unlock: $(cat settings)"
"$INFEROMETER" unlock >/dev/null 2>note.txt
grep -q "nothing is locked" note.txt || fail "a second unlock: $(cat note.txt)"

# Without a command they stay. A lock that is not applied, or denied, is status 4 and nothing stays.
"$INFEROMETER" lock --gpu 1 --gpu-clock 1500 >/dev/null 2>note.txt
grep -q 'until `[^`]*inferometer unlock`' note.txt && grep -q "gpu1 gpu_clock 1500" settings ||
    fail "it did not stay locked"
"$INFEROMETER" unlock >/dev/null
for words in "ignore=gpu_clock:was not applied" "deny=gpu_clock:run it as root"; do
    status=0
    FAKE_NVML="gpus=2 limit=691 ${words%%:*}" \
        "$INFEROMETER" lock --power-cap 650 --gpu-clock 1500 >/dev/null 2>errors.txt || status=$?
    [ "$status" = 4 ] && grep -q "${words#*:}" errors.txt || fail "$words: $status, $(cat errors.txt)"
    settled && [ ! -e state/locks.json ] || fail "$words: $(cat settings)"
done

# CPUs, in a tree of files, which never has this machine's GPUs.
cpu=tree/sys/devices/system/cpu
mkdir -p tree/proc/self $cpu/cpu0/cpufreq $cpu/cpu1/cpufreq $cpu/cpufreq
echo "Cpus_allowed_list: 0-1" >tree/proc/self/status
for n in 0 1; do
    echo powersave >$cpu/cpu$n/cpufreq/scaling_governor
    echo 800000 >$cpu/cpu$n/cpufreq/scaling_min_freq
    echo 3000000 >$cpu/cpu$n/cpufreq/scaling_max_freq
done
echo 1 >$cpu/cpufreq/boost
sum=$(cat $cpu/cpu?/cpufreq/* $cpu/cpufreq/boost)
"$INFEROMETER" lock --root tree --governor performance --frequency 2000 --turbo off -- \
    sh -c "cat $cpu/cpu?/cpufreq/* $cpu/cpufreq/boost" >seen.txt 2>table.txt
[ "$(tr -d '\n' <seen.txt)" = performance20000002000000performance200000020000000 ] || # governor, highest, lowest
    fail "the CPUs were not locked: $(cat seen.txt table.txt)"
[ "$(cat $cpu/cpu?/cpufreq/* $cpu/cpufreq/boost | tr -d '\n')" = "$(echo "$sum" | tr -d '\n')" ] ||
    fail "the CPUs were not unlocked"
status=0
"$INFEROMETER" lock --root tree --gpu-clock 1500 >/dev/null 2>errors.txt || status=$?
[ "$status" = 4 ] && grep -q "a tree of files has no GPU" errors.txt || fail "a tree's GPU: $status, $(cat errors.txt)"
echo "locked, given back, put back after kill -9; 14 wrong inputs changed nothing"
