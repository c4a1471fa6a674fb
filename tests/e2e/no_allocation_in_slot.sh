#!/usr/bin/env bash
# No thread allocates or frees inside a timed slot: the allocator is interposed (alloc_guard.c), for each workload, a
# plugin, and arms in buffers and processes of their own.
source "$(dirname "$0")/lib.sh"
[ -n "${IFM_ALLOC_GUARD:-}" ] || skip "a sanitizer owns the allocator in this build"
threads=() # the empty step has one; the others two, or as many as there are
check() # NAME ARGUMENT...
{
    local name=$1
    shift
    IFM_ALLOC_REPORT=${scratch:?}/$name.report LD_PRELOAD=$IFM_ALLOC_GUARD "$INFEROMETER" "$@" \
        "${threads[@]}" --ceilings none --repeats 60 --warmup 10 --out "$name" >/dev/null 2>errors ||
        fail "$name: $(cat errors)"
    # One line a process: the run and its workers.
    read -r slots allocations outside < <(awk '{ s += $1; a += $2; o += $3 } END { print s, a, o }' "$name.report")
    recorded=$(slots_of "$name")
    [ "$slots" -ge "$recorded" ] || fail "$name: $slots bracketed slots, but the record holds $recorded"
    [ "$outside" -gt 0 ] || fail "$name: the guard saw no allocation at all, so it does not work"
    [ "$allocations" = 0 ] || fail "$name: $allocations allocations inside $slots slots"
    echo "$name: no allocation in $slots slots"
}

# A cycle that fills a page: with 32 sink tokens, the second one is compressed at token 416.
decode=(decode --kv-len 408 --batch 1 --q-heads 4 --kv-heads 2 --head-dim 64 --layers 2)
# Every arm that there is: our kernels, and OpenBLAS where it is installed.
attention=(attention --batch 1 --q-heads 4 --kv-heads 2 --seq-len 128 --head-dim 64 --layers 2)
check null null
threads=(--threads "$(($(nproc) > 1 ? 2 : 1))")
check stream stream --size 1MiB --override stream.probe=read
check decode "${decode[@]}"
check cycle "${decode[@]}" --inference --decode-tokens 16
check attention "${attention[@]}" --causal --ragged 0.5
check f16 "${attention[@]}" --storage f16
check gemm gemm --n 256 --k 256 --layers 2
check gemm-m16 gemm --m 16 --n 256 --k 256 --weights f32 --layers 2
check buffers "${decode[@]}" --isolation buffers
check processes "${decode[@]}" --isolation processes
check plugin dot --plugin "${IFM_PLUGINS:?the folder of the plugins that the build makes}/dot.so" --n 1000
