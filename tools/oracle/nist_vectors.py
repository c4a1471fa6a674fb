"""Writes tests/vectors/nist_univariate.json: sets of the NIST Statistical Reference Datasets (public domain) that
are made or kept here, with NIST's certified values (https://www.itl.nist.gov/div898/strd/univ/homepage.html).

Michelso comes from R's `morley` in tests/vectors/stats_r.json, NumAcc1-4 and PiDigits are built as described, and the
observations of Lew, Lottery and Mavro stand in tools/oracle/nist/.
Run from the root of the tree, after stats_vectors.R. Owns its output file alone.
"""
import json
import sys


def pi_digits(count):
    """The first `count` decimal digits of pi, the 3 included, by Machin's formula in whole numbers.

    NIST's file has a 3 where pi has an 8, at observation 957, and its certified values belong to the file."""
    unity = 10 ** (count + 10)
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)

    def arccot(x):
        total = term = unity // x
        n, sign = 3, -1
        while term:
            term //= x * x
            total += sign * (term // n)
            n, sign = n + 2, -sign
        return total

    digits = [int(digit) for digit in str(4 * (4 * arccot(5) - arccot(239)))[:count]]
    digits[956] = 3
    return digits


def observations(name):
    with open(f"tools/oracle/nist/{name}.txt", encoding="utf-8") as file:
        return [float(word) for word in file.read().split()]


def main():
    with open("tests/vectors/stats_r.json", encoding="utf-8") as file:
        morley = json.load(file)["morley"]
    pairs = 500
    sets = [
        ("Michelso", [round(v / 1000 + 299, 2) for v in morley], 299.8524, 0.0790105478190518, 0.535199668621283,
         1e-12),
        ("Lew", observations("Lew"), -177.435, 277.332168044316, -0.307304800605679, 1e-13),
        ("Lottery", observations("Lottery"), 518.958715596330, 291.699727470969, -0.120948622967393, 1e-13),
        ("Mavro", observations("Mavro"), 2.001856, 0.000429123454003053, 0.937989183438248, 1e-11),
        ("PiDigits", pi_digits(5000), 4.5348, 2.86733906028871, -0.00355099287237972, 1e-13),
        ("NumAcc1", [10000001, 10000003, 10000002], 10000002, 1, -0.5, 1e-15),
        ("NumAcc2", [1.2] + [1.1, 1.3] * pairs, 1.2, 0.1, -0.999, 1e-13),
        ("NumAcc3", [1000000.2] + [1000000.1, 1000000.3] * pairs, 1000000.2, 0.1, -0.999, 1e-8),
        ("NumAcc4", [10000000.2] + [10000000.1, 10000000.3] * pairs, 10000000.2, 0.1, -0.999, 1e-7),
    ]
    keys = ("name", "values", "mean", "sd", "lag1", "tolerance")
    with open("tests/vectors/nist_univariate.json", "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(dict(zip(keys, row))) for row in sets) + "\n]\n")


main()
