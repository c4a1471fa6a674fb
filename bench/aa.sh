#!/usr/bin/env bash
# A against A: two arms that are the same code, compared again and again, for each way of isolating them.
#
#   bench/aa.sh [N] [MODE...]     default 200 shared buffers processes; SPIN=300000 BLOCKS=10 in the environment
#
# Each comparison is a cell of its own (measure.replica, so its own seed and order): BLOCKS blocks of slots of 5 steps
# of about 100 us. Counted is how often the 95 % interval of the change excludes zero, which is the sharper count, and
# how often the word is faster or slower, which takes the margin too; both with their exact 95 % bounds (Clopper and
# Pearson 1934). Bar: the interval excludes zero in at most 125 of 2,000, that is 6.25 %; exit 1 above.
set -euo pipefail
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
n=${1:-200} spin=${SPIN:-300000} blocks=${BLOCKS:-10} batch=250
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- shared buffers processes
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/aa.yaml" <<YAML
workload: null
null.spin: $spin
ceilings: none
device.threads: 1
arms:
  - name: a
    baseline: true
  - name: b
measure:
  stop: repeats
  repeats: $((blocks * 10))
  blocks_min: $blocks
  slot_steps: 5
  slot_min: 0s
  warmup: 5
  warmup_cap: 0.1s
YAML

cat >"$scratch/count.py" <<'PYTHON'
import csv, math, sys

def tail(k, n, p):  # P(X >= k), X binomial(n, p)
    log = lambda i: (math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1)
                     + i * math.log(p) + (n - i) * math.log1p(-p))
    return math.fsum(math.exp(log(i)) for i in range(k, n + 1))

def solve(f):  # of an increasing f, on (0, 1)
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return low

def share(k, n):
    low = 0.0 if k == 0 else solve(lambda p: tail(k, n, p) - 0.025)
    high = 1.0 if k == n else solve(lambda p: 0.025 - (1 - tail(k + 1, n, p)))
    return f"{k:4d} of {n} = {100 * k / n:5.2f} % [{100 * low:.2f}, {100 * high:.2f}]"

mode, seconds, paths = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
rows = [row for path in paths for row in csv.DictReader(open(path, newline=""))
        if row["metric"] == "change_percent" and row["state"] == "ok"]
excluded = sum(float(row["low"]) > 0 or float(row["high"]) < 0 for row in rows)
called = sum(row["text"] in ("faster", "slower") for row in rows)
print(f"{mode:10s} interval excludes zero {share(excluded, len(rows))}")
print(f"{'':10s} faster or slower       {share(called, len(rows))}   {seconds:.0f} s")
sys.exit(len(rows) == 0 or excluded > 0.0625 * len(rows))
PYTHON

status=0
for mode in "$@"; do
    start=$EPOCHREALTIME done=0 paths=()
    while [ "$done" -lt "$n" ]; do
        count=$((n - done < batch ? n - done : batch))
        "$INFEROMETER" run -c "$scratch/aa.yaml" --isolation "$mode" --replica "$(seq -s, 1 "$count")" \
            --seed $((done + 1)) --out "$scratch/$mode-$done" --quiet --format csv \
            >"$scratch/$mode-$done.csv" 2>"$scratch/errors" || { cat "$scratch/errors" >&2 && exit 1; }
        rm -rf "$scratch/$mode-$done"
        paths+=("$scratch/$mode-$done.csv")
        done=$((done + count))
    done
    python3 "$scratch/count.py" "$mode" "$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')" \
        "${paths[@]}" || status=1
done
exit $status
