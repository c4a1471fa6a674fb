"""Writes tests/vectors/stats_scipy.json: what NumPy and SciPy say about the samples of tests/unit/test_stats_*.c.

Debian 12: /usr/bin/python3 (NumPy 1.24, SciPy 1.10). Run from the root of the tree; the answers are committed, so that
the tests need neither. Owns its output file alone.
"""
import json

import numpy as np
from scipy import special, stats

SLEEP_A = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2]
SLEEP_B = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def lehmer(n, seed):
    """Uniforms that C makes too: x -> 48271 x mod 2^31 - 1."""
    out = []
    for _ in range(n):
        seed = seed * 48271 % 2147483647
        out.append(seed / 2147483647)
    return out


def samples():
    return {
        "sleep_a": SLEEP_A,
        "sleep_b": SLEEP_B,
        "uniform_50": [round(u, 6) for u in lehmer(50, 11)],
        "skewed_200": [round(float(-np.log(u)), 6) for u in lehmer(200, 7)],
    }


def bca(x, seed):
    """Many resamples, so that the Monte-Carlo error of the oracle is small beside that of the test."""
    x = np.asarray(x, float)
    result = stats.bootstrap((x,), np.mean, n_resamples=400000, batch=2000, method="BCa", random_state=seed)
    plain = stats.bootstrap((x,), np.mean, n_resamples=400000, batch=2000, method="percentile", random_state=seed + 1)
    return {
        "bca": [float(v) for v in result.confidence_interval],
        "percentile": [float(v) for v in plain.confidence_interval],
        "se": float(plain.standard_error),
    }


def jackknife_acceleration(x):
    x = np.asarray(x, float)
    left_out = np.array([np.mean(np.delete(x, i)) for i in range(len(x))])
    u = left_out.mean() - left_out
    return float((u**3).sum() / (6 * (u**2).sum() ** 1.5))


def order_bootstrap(x, p):
    x, n = np.sort(x), len(x)
    k = max(1, int(np.ceil(n * p - 1e-9)))
    upto = special.betainc(k, n - k + 1, np.arange(1, n + 1) / n)
    w = np.diff(np.concatenate([[0], upto]))
    mean = float((w * x).sum())
    return {
        "p": p,
        "value": float(x[k - 1]),
        "se": float(np.sqrt((w * (x - mean) ** 2).sum())),
        "low": float(x[np.argmax(upto >= 0.025)]),
        "high": float(x[np.argmax(upto >= 0.975)]),
    }


def one(x, seed):
    s = np.sort(x)
    n, g = len(x), int(np.floor(0.2 * len(x) + 1e-9))
    q1, q3 = np.quantile(s, [0.25, 0.75])
    sw = stats.mstats.winsorize(s, limits=(0.2, 0.2)).std(ddof=1)
    se = float(sw / (0.6 * np.sqrt(n)))
    t, df = stats.t.ppf(0.975, n - 2 * g - 1), n - 2 * g - 1
    for _ in range(3):  # SciPy's inverse is good to 1e-9 only: Newton on its distribution function
        t -= (stats.t.cdf(t, df) - 0.975) / stats.t.pdf(t, df)
    mean = float(stats.trim_mean(s, 0.2))
    return {
        "values": list(map(float, x)),
        "skewness": float(stats.skew(x)),
        "mad": float(stats.median_abs_deviation(x) * 1.482602218505602),
        "trimmed": {"mean": mean, "se": se, "low": float(mean - t * se), "high": float(mean + t * se)},
        "fence": int(((s < q1 - 1.5 * (q3 - q1)) | (s > q3 + 1.5 * (q3 - q1))).sum()),
        "acceleration": jackknife_acceleration(x),
        "order": [order_bootstrap(x, p) for p in (0.5, 0.9)],
        "bootstrap": bca(x, seed),
    }


def main():
    made = samples()
    out = {
        "source": "tools/oracle/stats_vectors.py",
        "samples": {name: one(x, i) for i, (name, x) in enumerate(made.items())},
    }
    yuen = stats.ttest_ind(SLEEP_A, SLEEP_B, equal_var=False, trim=0.2)
    welch = stats.ttest_ind(SLEEP_A, SLEEP_B, equal_var=False)
    out["yuen"] = {"t": float(yuen.statistic), "p": float(yuen.pvalue)}
    out["welch"] = {"t": float(welch.statistic), "p": float(welch.pvalue)}
    rng = np.random.default_rng(5)
    a, b = np.asarray(made["uniform_50"]), np.asarray(made["skewed_200"])
    of_a = [np.median(rng.choice(a, (20000, 50)), axis=1) for _ in range(10)]
    of_b = [np.median(rng.choice(b, (20000, 200)), axis=1) for _ in range(10)]
    moved = np.concatenate(of_a) - np.concatenate(of_b)
    low, high = np.quantile(moved, [0.025, 0.975])
    out["medians"] = {"low": float(low), "high": float(high), "se": float(moved.std())}
    with open("tests/vectors/stats_scipy.json", "w", encoding="utf-8") as file:
        json.dump(out, file, indent=1)
        file.write("\n")


main()
