"""Writes tests/vectors/stats_scipy.json: what NumPy and SciPy say about the samples of tests/unit/test_stats_*.c.

Debian 12: /usr/bin/python3 (NumPy 1.24, SciPy 1.10). Run from the root of the tree; the answers are committed, so that
the tests need neither. Owns its output file alone.
"""
import json

import numpy as np
from scipy import stats

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


def one(x, seed):
    s = np.sort(x)
    n, g = len(x), int(np.floor(0.2 * len(x) + 1e-9))
    sw = stats.mstats.winsorize(s, limits=(0.2, 0.2)).std(ddof=1)
    se = float(sw / (0.6 * np.sqrt(n)))
    t, df = stats.t.ppf(0.975, n - 2 * g - 1), n - 2 * g - 1
    for _ in range(3):  # SciPy's inverse is good to 1e-9 only: Newton on its distribution function
        t -= (stats.t.cdf(t, df) - 0.975) / stats.t.pdf(t, df)
    mean = float(stats.trim_mean(s, 0.2))
    return {
        "values": list(map(float, x)),
        "skewness": float(stats.skew(x)),
        "trimmed": {"mean": mean, "se": se, "low": float(mean - t * se), "high": float(mean + t * se)},
        "acceleration": jackknife_acceleration(x),
        "bootstrap": bca(x, seed),
    }


def main():
    made = samples()
    out = {
        "source": "tools/oracle/stats_vectors.py",
        "samples": {name: one(x, i) for i, (name, x) in enumerate(made.items())},
    }
    with open("tests/vectors/stats_scipy.json", "w", encoding="utf-8") as file:
        json.dump(out, file, indent=1)
        file.write("\n")


main()
