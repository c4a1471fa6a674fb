#!/bin/sh
# Read bandwidth of our probes beside public ones, interleaved on the same machine in the same minutes.
#
#   bench/peers.sh [ROUNDS]      default 5; SIZE_MB=512 THREADS=$(nproc) in the environment
#
# Peers: likwid-bench (load kernels), sysbench (memory read; local scope, as with a global buffer its threads read each
# other's cache lines), mbw (a copy: read and write counted, as it has no read test). Each round runs every program
# once; medians over rounds are printed in GB/s (10^9), then the ratio of our best read probe to the best peer. Exit 1
# below 0.95.
set -eu
cd "$(dirname "$0")/.."
rounds=${1:-5} size=${SIZE_MB:-512} threads=${THREADS:-$(nproc)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kernels=build/src/kernel/cpu/libifm_kernel_cpu.a
[ -f "$kernels" ] || { echo "peers.sh: build first (make)" >&2; exit 2; }
cc -std=gnu17 -O2 -D_GNU_SOURCE -Isrc bench/bench_kernels.c "$kernels" -lm -lpthread -o "$work/ours"

# note NAME GB/s: a row of the raw results
note() { [ -n "$2" ] && printf '%s %s\n' "$1" "$2" >>"$work/raw" || true; }
ours() {
    "$work/ours" --size "$size" --threads "$threads" --rounds 15 --decode 1,1,1,64,64 \
        read.linear read.streams4 read.prefetch | while read -r name median _; do note "ours:$name" "$median"; done
}
peers() {
    for test in load_avx512 load_avx load_sse; do
        note "likwid-bench:$test" "$(likwid-bench -t $test -w "N:${size}MB:$threads" 2>/dev/null |
            awk '/^MByte\/s:/ {print $2 / 1000}')"
    done
    note sysbench:read "$(sysbench memory --memory-block-size="${size}M" --memory-total-size=$((size * 40))M \
        --memory-oper=read --memory-scope=local --threads="$threads" run 2>/dev/null |
        sed -n 's/.*(\([0-9.]*\) MiB\/sec).*/\1/p' | awk '{print $1 * 1.048576 / 1000}')"
    note mbw:memcpy "$(mbw -q -n 5 -t0 "$size" 2>/dev/null | awk '/^AVG/ {print 2 * $(NF - 1) * 1.048576 / 1000}')"
}

round=1
while [ "$round" -le "$rounds" ]; do
    echo "round $round of $rounds" >&2
    ours
    peers
    round=$((round + 1))
done
[ -s "$work/raw" ] || { echo "peers.sh: nothing ran" >&2; exit 2; }
sort -k1,1 -k2,2n "$work/raw" | awk '
    { n[$1]++; value[$1, n[$1]] = $2 }
    END {
        for (name in n) {
            k = n[name]
            median = k % 2 ? value[name, (k + 1) / 2] : (value[name, k / 2] + value[name, k / 2 + 1]) / 2
            printf "%-28s %8.2f GB/s  (lowest %.2f, highest %.2f, n %d)\n", name, median, value[name, 1],
                value[name, k], k | "sort"
            if (name ~ /^ours:/ && median > ours) { ours = median; winner = name }
            if (name !~ /^ours:/ && median > peer) { peer = median; best = name }
        }
        close("sort")
        if (peer == 0) { print "no peer is installed: likwid, sysbench, mbw"; exit 2 }
        printf "ratio %.3f  (%s %.2f over %s %.2f)\n", ours / peer, winner, ours, best, peer
        exit ours / peer < 0.95
    }'
