"""Writes tests/vectors/nist_univariate.json: sets of the NIST Statistical Reference Datasets (public domain) that
can be made here, with NIST's certified values (https://www.itl.nist.gov/div898/strd/univ/homepage.html).

Michelso comes from R's `morley` in tests/vectors/stats_r.json. PiDigits is the 3 and the first 4,999 decimals of pi, by
Machin's formula, with the one digit in which NIST's file differs from pi (the certified values are those of the file).
NumAcc1-4 are built as described.
Run from the root of the tree, after stats_vectors.R. Owns its output file alone.
"""
import json
import sys


def pi_digits(count):
    sys.set_int_max_str_digits(count + 100)
    scale = 10 ** (count + 10)

    def arctan_of_inverse(x):
        term = total = scale // x
        k = 1
        while term:
            term //= -x * x
            k += 2
            total += term // k
        return total

    digits = [int(c) for c in str(4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239)))[:count]]
    digits[956] = 3  # in the file; pi has 8 there
    return digits


def main():
    with open("tests/vectors/stats_r.json", encoding="utf-8") as file:
        morley = json.load(file)["morley"]
    pairs = 500
    sets = [
        ("Michelso", [round(v / 1000 + 299, 2) for v in morley], 299.8524, 0.0790105478190518, 0.535199668621283,
         1e-12),
        ("PiDigits", pi_digits(5000), 4.5348, 2.86733906028871, -0.00355099287237972, 1e-12),
        ("NumAcc1", [10000001, 10000003, 10000002], 10000002, 1, -0.5, 1e-15),
        ("NumAcc2", [1.2] + [1.1, 1.3] * pairs, 1.2, 0.1, -0.999, 1e-13),
        ("NumAcc3", [1000000.2] + [1000000.1, 1000000.3] * pairs, 1000000.2, 0.1, -0.999, 1e-8),
        ("NumAcc4", [10000000.2] + [10000000.1, 10000000.3] * pairs, 10000000.2, 0.1, -0.999, 1e-7),
    ]
    keys = ("name", "values", "mean", "sd", "lag1", "tolerance")
    with open("tests/vectors/nist_univariate.json", "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(dict(zip(keys, row))) for row in sets) + "\n]\n")


main()
