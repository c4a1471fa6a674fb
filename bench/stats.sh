#!/usr/bin/env bash
# What intervals cost, side by side with SciPy on the same values, one CPU and one thread each.
# Bar: BCa of the mean, median and p95 together (n = 1,000, 100,000 resamples) in 60 ms, and the mean at least
# five times as fast as scipy.stats.bootstrap, with the same answer within Monte-Carlo error.
# Needs a build (ninja -C build bench_stats) and Debian's python3-scipy; without SciPy it prints our half and says so.
set -euo pipefail
build=${IFM_BUILD:-build}
python=${IFM_SCIPY_PYTHON:-/usr/bin/python3}
cpu=${IFM_BENCH_CPU:-0}
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
ninja -C "$build" bench_stats >/dev/null
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$build/bench/bench_stats" --samples >"$scratch/samples"
taskset -c "$cpu" "$build/bench/bench_stats" >"$scratch/ours"
if ! "$python" -c 'import scipy' 2>/dev/null; then
    awk '{ printf "%-20s %9.2f ms (best %.2f)\n", $1, $2, $3 }' "$scratch/ours"
    echo "no SciPy under $python: nothing to compare with"
    exit 0
fi
# One row of `peers` for each case that SciPy can do; a case without a row is printed alone.
taskset -c "$cpu" "$python" - "$scratch" <<'PYTHON'
import sys, time
import numpy as np
from scipy import stats

folder = sys.argv[1]
x = np.loadtxt(folder + "/samples")
B = 100000


def bootstrap(method, batch):
    return lambda: stats.bootstrap(
        (x,), np.mean, n_resamples=B, batch=batch, method=method, random_state=1, vectorized=True
    ).confidence_interval


def best_batch(method):
    """SciPy's own choice (all at once, 0.8 GB) is slow: give it the best of a few."""
    timed = []
    for batch in (100, 1000, 5000):
        start = time.perf_counter()
        bootstrap(method, batch)()
        timed.append((time.perf_counter() - start, batch))
    return min(timed)[1]


peers = {
    "mean_percentile": bootstrap("percentile", best_batch("percentile")),
    "mean_bca": bootstrap("BCa", best_batch("BCa")),
}
print(f"{'case':20} {'ours ms':>9} {'SciPy ms':>9} {'ratio':>6}   interval, ours | SciPy")
for line in open(folder + "/ours"):
    name, median, _, low, high = line.split()
    median, low, high = float(median), float(low), float(high)
    if name not in peers:
        print(f"{name:20} {median:9.2f} {'':9} {'':6}   [{low:.4f}, {high:.4f}]")
        continue
    times = []
    for _ in range(5):
        start = time.perf_counter()
        interval = peers[name]()
        times.append((time.perf_counter() - start) * 1e3)
    theirs = float(np.median(times))
    print(
        f"{name:20} {median:9.2f} {theirs:9.2f} {theirs / median:6.1f}   "
        f"[{low:.4f}, {high:.4f}] | [{interval.low:.4f}, {interval.high:.4f}]"
    )
PYTHON
