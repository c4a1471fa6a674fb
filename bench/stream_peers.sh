#!/usr/bin/env bash
# `stream` read bandwidth beside public probes, interleaved round by round, on the same threads and in the same minutes.
# Bar: at least 95 % of the best of three. Probes that are not installed are named (Debian: sysbench, mbw, likwid).
set -euo pipefail
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
rounds=${ROUNDS:-5} threads=${THREADS:-$(nproc)} mib=${MIB:-512}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

ours()
{
    "$INFEROMETER" stream --threads "$threads" --size "${mib}MiB" --preset quick \
        --format json --out "ours-$1" 2>/dev/null |
        python3 -c '
import json, sys
rows = json.load(sys.stdin)["numbers"]
rates = [row["value"] for row in rows if row["metric"] == "read_bytes_per_s" and row["state"] == "ok"]
print(max(rates) / 1e9 if rates else "")'
}
with_sysbench()
{
    sysbench memory --threads="$threads" --memory-oper=read --memory-access-mode=seq \
        --memory-block-size="$((mib / threads))M" \
        --memory-total-size=1T --time=2 run | awk -F'[(]' '/MiB\/sec/ { print $2 * 1048576 / 1e9 }'
}
with_mbw()
{
    # One thread, a copy: read bytes alone, so that it can be compared.
    mbw -q -n 5 -t 0 "$mib" | awk '/AVG/ { print $(NF - 1) * 1048576 / 1e9 }'
}
with_likwid()
{
    likwid-bench -t load_avx -w "N:${mib}MB:$threads" 2>/dev/null | awk '/MByte\/s/ { print $2 / 1e3 }'
}

probes=(ours)
for probe in sysbench mbw likwid; do
    command=$probe
    [ $probe = likwid ] && command=likwid-bench
    if command -v $command >/dev/null; then probes+=("with_$probe"); else echo "$probe: not installed, left out"; fi
done
for round in $(seq "$rounds"); do
    for probe in "${probes[@]}"; do
        figure=$("$probe" "$round" || true)
        echo "$probe ${figure:-none}"
    done
done | tee /dev/stderr | awk '
    $2 != "none" { n[$1]++; if ($2 > best[$1]) best[$1] = $2; sum[$1] += $2 }
    END { for (p in n) printf "%-14s best %.2f GB/s, mean %.2f GB/s of %d rounds\n", p, best[p], sum[p] / n[p], n[p] }'
