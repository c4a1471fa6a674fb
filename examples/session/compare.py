#!/usr/bin/env python3
"""Compare two Python functions in the lab's blocks, with inferometer.py.

    python3 compare.py [--library libinferometer.so] [--out RUN_FOLDER] [--option measure.mde=0.02] [--same]

Where inferometer.py is not installed, it is taken from the source tree.
"""
import argparse
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import inferometer  # noqa: E402

numbers = list(range(5000))


def loop():
    total = 0
    for number in numbers:
        total += number
    return total


def builtin():
    return sum(numbers)


def main():
    parser = argparse.ArgumentParser(description="compare a loop with the built-in sum")
    parser.add_argument("--library", help="path of libinferometer.so")
    parser.add_argument("--out", help="run folder, new or empty (default: below runs/)")
    parser.add_argument("--option", action="append", default=[], metavar="PATH=VALUE", help="a setting of the run")
    parser.add_argument("--same", action="store_true", help="compare the loop with itself")
    options = parser.parse_args()
    arms = {"loop": loop, "again": loop} if options.same else {"loop": loop, "builtin": builtin}
    try:
        result = inferometer.compare(arms, out=options.out, options="\n".join(options.option),
                                     library=options.library)
    except inferometer.Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(result)
    return result.exit_code


if __name__ == "__main__":
    sys.exit(main())
