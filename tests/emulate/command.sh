#!/usr/bin/env bash
# A cross-compiled command under its emulator: it measures, refuses what its processor lacks, and both builds recompute
# the numbers of either one's record.
source "$(dirname "$0")/../e2e/lib.sh"
[ -n "${IFM_EMULATOR:-}" ] || skip "this build's programs run as they are"
read -ra emulator <<<"$IFM_EMULATOR"
here() { "${emulator[@]}" "$INFEROMETER" "$@"; }

here doctor 2>/dev/null | has "instruction sets .* scalar *$" || fail "doctor knows other sets than scalar"
here decode --kv-len 416 --batch 1 --q-heads 2 --kv-heads 1 --head-dim 64 --layers 1 --threads 2 --ceilings none \
    --repeats 40 --warmup 4 --out there >/dev/null 2>errors ||
    fail "$(tail -1 errors)"
here verify there >out 2>&1 || fail "its own record: $(head -1 out)"
here stream --probe read --isa sse2 --size 64KiB --out none >out 2>&1 && fail "--isa sse2 was accepted"
tr -s '\n ' ' ' <out | has "does not support the instruction set sse2 (it has: scalar)" ||
    fail "--isa sse2: no sentence says what is there"

native=${IFM_BUILD_GCC:-}/inferometer
[ -x "$native" ] || skip "all but the exchange of records, which needs the gcc build"
"$native" verify there >out 2>&1 || fail "the native build refuses its record: $(head -1 out)"
"$native" run --workload null --device fake --script "step_ns=1000; noise=0.05; ar=0.6; drift=0.01" --ceilings none \
    --repeats 600 --out native >/dev/null 2>errors || fail "$(tail -1 errors)"
here verify native >out 2>&1 || fail "it refuses the native record: $(head -1 out)"
echo "two records, two architectures"
