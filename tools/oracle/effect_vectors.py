#!/usr/bin/env python3
"""Writes tests/vectors/effect_scipy.json: what src/stats must give for effect sizes, tests and the time axis.

Made with SciPy and NumPy as an oracle (SciPy 1.10); the rest is written from the definitions, with loops and matrices,
and shares nothing with the C code. Run it by hand from the root of the repository; the build only reads the result.

usage: python3 tools/oracle/effect_vectors.py [FILE]
"""
import itertools
import json
import sys

import numpy as np
from scipy import optimize, special, stats

SLEEP_A = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SLEEP_B = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
LEVEL = 0.95


def samples(rng):
    """Pairs of samples: normal, skewed, small, tied, unequal in size, and wholly apart."""
    yield SLEEP_B, SLEEP_A
    for n, m in ((6, 7), (10, 10), (20, 20), (21, 12), (40, 55)):
        yield rng.normal(1, 1, n).round(6).tolist(), rng.normal(0, 1, m).round(6).tolist()
        yield np.exp(rng.normal(0.5, 0.75, n)).round(6).tolist(), np.exp(rng.normal(0, 0.75, m)).round(6).tolist()
    yield rng.integers(0, 5, 15).tolist(), rng.integers(1, 6, 18).tolist()
    yield [5, 6, 7, 8, 9.5], [1, 2, 3.25, 4]


def cliff(a, b):
    """Over the matrix of all pairs (Cliff 1993; Feng and Cliff 2004)."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    n, m = len(a), len(b)
    d = np.sign(a[:, None] - b[None, :])
    delta = d.mean()
    used = delta if abs(delta) < 1 else np.sign(delta) * (n * m - 1) / (n * m)
    rows, columns = ((d.mean(1) - delta) ** 2).sum(), ((d.mean(0) - delta) ** 2).sum()
    v = (m * m * rows + n * n * columns - ((d - delta) ** 2).sum()) / (n * m * (n - 1) * (m - 1))
    v = max(v, (1 - used * used) / (n * m - 1))
    t = stats.t.ppf(0.5 + LEVEL / 2, n + m - 2)
    root = t * np.sqrt(v) * np.sqrt((1 - used**2) ** 2 + t * t * v)
    bottom = 1 - used**2 + t * t * v
    low, high = (used - used**3 - root) / bottom, (used - used**3 + root) / bottom
    return {"value": delta, "se": np.sqrt(v), "low": min(low, delta), "high": max(high, delta)}


def hedges(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    n, m = len(a), len(b)
    df = n + m - 2
    pooled = np.sqrt(((n - 1) * a.var(ddof=1) + (m - 1) * b.var(ddof=1)) / df)
    d, root = (a.mean() - b.mean()) / pooled, np.sqrt(1 / n + 1 / m)
    j = special.gamma(df / 2) / (np.sqrt(df / 2) * special.gamma((df - 1) / 2))
    t = d / root
    limit = lambda p: optimize.brentq(lambda nc: stats.nct.cdf(t, df, nc) - p, t - 30, t + 30, xtol=1e-13, rtol=1e-14)
    return {"value": j * d, "se": j * np.sqrt((n + m) / (n * m) + d * d / (2 * (n + m))),
            "low": j * root * limit(0.5 + LEVEL / 2), "high": j * root * limit(0.5 - LEVEL / 2)}


def flips(d):
    d = np.asarray(d)
    seen, far = abs(d.sum()), 0
    for signs in itertools.product((-1, 1), repeat=len(d)):
        far += abs(np.dot(signs, d)) >= seen - 1e-12 * abs(d).sum()
    return far / 2 ** len(d)


def mser5(x):
    y = np.asarray(x[: len(x) // 5 * 5]).reshape(-1, 5).mean(1)
    k = len(y)
    last = k - max(10, k // 10)
    cut = int(np.argmin([((y[d:] - y[d:].mean()) ** 2).sum() / (k - d) ** 2 for d in range(last + 1)]))
    return {"cut": 5 * cut, "reached": 2 * cut <= k}


def series(rng):
    for rho, n in ((0.0, 100), (0.5, 200), (0.9, 300), (-0.4, 150)):
        x = [rng.normal()]
        for _ in range(n - 1):
            x.append(rho * x[-1] + rng.normal())
        yield np.round(x, 5)
    yield np.round(rng.normal(0, 1, 200) + 6 * np.exp(-np.arange(200) / 15), 5)
    yield np.round(rng.normal(0, 1, 120) + np.arange(120) * 0.03, 1)


def main():
    rng = np.random.default_rng(20240229)
    nct = [[t, df, nc, float(stats.nct.cdf(t, df, nc))]
           for t in (-2.0, 0.0, 0.5, 3.0, 12.0) for df in (2, 5, 18, 250) for nc in (-1.5, 0.0, 0.8, 3.0, 11.0)]
    out = {
        "made_by": "tools/oracle/effect_vectors.py",
        "made_by": "tools/oracle/effect_vectors.py, SciPy " + stats.__name__.split(".")[0] and "SciPy",
        "noncentral_t": nct,
        "pairs": [{"a": a, "b": b, "cliff": cliff(a, b), "hedges": hedges(a, b)}
                  for a, b in samples(rng)],
        "flips": [{"d": d, "p": flips(d)} for d in
                  [rng.normal(0.4, 1, k).round(5).tolist() for k in (1, 5, 6, 11, 14)] + [[1, 1, -1, 2, 0, 0.5]]],
        "series": [{"x": x.tolist(), "mser5": mser5(x)} for x in series(rng)],
    }
    with open(sys.argv[1] if len(sys.argv) > 1 else "tests/vectors/effect_scipy.json", "w") as file:
        json.dump(out, file, separators=(",", ":"))
        file.write("\n")


main()
