#!/usr/bin/env bash
# Read bandwidth of `stream` beside public probes on the same threads, interleaved round by round in random order.
#
#   bench/peers.sh [ROUNDS]      default 9; MIB=512 THREADS=$(nproc) in the environment
#
# Every figure is a mean over about as much wall time: ours is bytes / latency_ns_mean of the read shapes of one run of
# the command, likwid-bench and sysbench print a mean over their own run, mbw a mean of its copies (counted twice: read
# and written). The ratio is taken round by round against the best peer of that round, because a shared machine changes
# its speed between rounds. Bar: median ratio at least 0.95; exit 1 below.
set -euo pipefail
cd "$(dirname "$0")/.."
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
rounds=${1:-9} threads=${THREADS:-$(nproc)} mib=${MIB:-512}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

ours()
{
    "$INFEROMETER" stream --probe read --threads "$threads" --size "${mib}MiB" --warmup 5 --mde 0.000001 --cap 3s \
        --quiet --format json --out "$scratch/run-$1" 2>/dev/null | MIB=$mib python3 -c '
import json, os, sys
means = [row["value"] for row in json.load(sys.stdin)["numbers"] if row["metric"] == "latency_ns_mean"]
print(int(os.environ["MIB"]) * 2**20 / min(means))'
    rm -rf "$scratch/run-$1"
}
likwid()
{
    likwid-bench -t "$1" -w "N:${mib}MB:$threads" 2>/dev/null | awk '/^MByte\/s:/ { print $2 / 1e3 }'
}
likwid_avx512() { likwid load_avx512; }
likwid_avx() { likwid load_avx; }
likwid_sse() { likwid load_sse; }
sysbench_read()
{
    sysbench memory --threads="$threads" --memory-oper=read --memory-access-mode=seq --memory-scope=local \
        --memory-block-size="$((mib / threads))M" --memory-total-size=1T --time=2 run 2>/dev/null |
        awk -F'[(]' '/MiB\/sec/ { print $2 * 1048576 / 1e9 }'
}
mbw_copy() { mbw -q -n 5 -t 0 "$mib" 2>/dev/null | awk '/^AVG/ { print 2 * $(NF - 1) * 1048576 / 1e9 }'; }

probes=(ours)
command -v likwid-bench >/dev/null && probes+=(likwid_avx512 likwid_avx likwid_sse)
command -v sysbench >/dev/null && probes+=(sysbench_read)
command -v mbw >/dev/null && probes+=(mbw_copy)
[ ${#probes[@]} -gt 1 ] || { echo "peers.sh: install likwid, sysbench or mbw" >&2; exit 4; }

for round in $(seq "$rounds"); do
    for probe in $(printf '%s\n' "${probes[@]}" | shuf); do
        figure=$("$probe" "$round" || true)
        [ -z "$figure" ] || echo "$round $probe $figure"
    done
done | tee "$scratch/raw" | sed 's/^/round /' >&2
python3 - "$scratch/raw" <<'EOF'
import collections, statistics, sys
rounds, values = collections.defaultdict(dict), collections.defaultdict(list)
for line in open(sys.argv[1]):
    number, probe, figure = line.split()
    rounds[number][probe] = float(figure)
    values[probe].append(float(figure))
for probe, figures in sorted(values.items()):
    print(f"{probe:16} median {statistics.median(figures):6.2f} GB/s  (lowest {min(figures):.2f}, "
          f"highest {max(figures):.2f}, n {len(figures)})")
ratios = sorted(r["ours"] / max(v for p, v in r.items() if p != "ours") for r in rounds.values() if "ours" in r)
print(f"ours / best peer of the round: median {statistics.median(ratios):.3f}  "
      f"(lowest {ratios[0]:.3f}, highest {ratios[-1]:.3f}, n {len(ratios)})")
sys.exit(statistics.median(ratios) < 0.95)
EOF
