#!/usr/bin/env bash
# The same x86-64 programs on processors that lack what this machine may have: qemu-user makes one with AVX2 and no
# AVX-512, and one with neither. Each starts, "auto" takes the best set that there is, a forced one runs its own code
# (code of another set would die of an illegal instruction), and one that is missing is one clear sentence.
source "$(dirname "$0")/../e2e/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "its processors are of x86-64"
[ -z "${IFM_EMULATOR:-}" ] || skip "the programs of this build are not of x86-64"
need qemu-x86_64 qemu-user
programs=$(dirname "$INFEROMETER")/tests

# on CPU BEST SETS MISSING: the kernels' tests, then the command itself.
on()
{
    local cpu=$1 best=$2 sets=$3 missing=$4 isa test
    local emulator=(qemu-x86_64 -cpu "$cpu")
    IFM_EXPECT_BEST_ISA=$best "${emulator[@]}" "$programs/test_dispatch" >out 2>&1 || fail "$cpu: $(tail -3 out)"
    for test in "$programs"/test_kernel_*; do
        [ -x "$test" ] || continue
        (cd "$IFM_SOURCE" && "${emulator[@]}" "$test") >out 2>&1 ||
            fail "$cpu: $(basename "$test"): $(grep -m 1 -E 'ERROR|FAILED' out || tail -1 out)"
    done
    "${emulator[@]}" "$INFEROMETER" doctor 2>/dev/null | has "instruction sets .* $sets *$" ||
        fail "$cpu: doctor does not say \"$sets\""
    for isa in auto ${sets//,/ }; do
        rm -rf run
        "${emulator[@]}" "$INFEROMETER" stream --probe read --isa "$isa" --size 64KiB --repeats 20 --warmup 2 \
            --out run >out 2>errors || fail "$cpu: --isa $isa: $(tail -1 errors)"
        [ "$isa" != auto ] || isa=$best
        grep '"stage":"check"' run/run.log | has "\"isa\":\"$isa\"" ||
            fail "$cpu: the record of --isa $isa does not name that kernel"
        ! grep '"stage":"check"' run/run.log | grep -v "\"isa\":\"$isa\"" | has . ||
            fail "$cpu: the record of --isa $isa names another kernel"
    done
    rm -rf run
    "${emulator[@]}" "$INFEROMETER" stream --probe read --isa "$missing" --size 64KiB --out run >out 2>errors &&
        fail "$cpu: --isa $missing was accepted"
    tr -s '\n ' ' ' <out | has "does not support the instruction set $missing (it has: $sets)" ||
        fail "$cpu: --isa $missing: no sentence says what is there"
}
on Haswell avx2 "avx2, sse2, scalar" avx512
on Nehalem sse2 "sse2, scalar" avx2
echo "two processors, every set"
