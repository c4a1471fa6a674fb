#!/usr/bin/env bash
# No thread allocates or frees inside a timed slot: the allocator is interposed (alloc_guard.c), for each workload.
source "$(dirname "$0")/lib.sh"
[ -n "${IFM_ALLOC_GUARD:-}" ] || skip "a sanitizer owns the allocator in this build"
threads=$(nproc)
[ "$threads" -gt 2 ] && threads=2
for workload in null stream decode; do
    case $workload in
    null) set -- ;;
    stream) set -- --size 1MiB --override stream.probe=read ;;
    decode) set -- --kv-len 256 --batch 1 ;;
    esac
    IFM_ALLOC_REPORT=${scratch:?}/report LD_PRELOAD=$IFM_ALLOC_GUARD "$INFEROMETER" "$workload" "$@" \
        --threads "$threads" --ceilings none --repeats 60 --warmup 10 --out "$workload" >/dev/null 2>errors ||
        fail "$workload: $(cat errors)"
    read -r slots allocations outside <report
    recorded=$(slots_of "$workload")
    [ "$slots" -ge "$recorded" ] || fail "$workload: $slots bracketed slots, but the record holds $recorded"
    [ "$outside" -gt 0 ] || fail "$workload: the guard saw no allocation at all, so it does not work"
    [ "$allocations" = 0 ] || fail "$workload: $allocations allocations inside $slots slots"
    echo "$workload: no allocation in $slots slots"
done
