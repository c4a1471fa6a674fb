#!/usr/bin/env python3
"""Read ctest's JUnit files: name what failed and what was skipped, and print the sums.

tally.py FILE... ; prints the names on standard error and "PASSED FAILED SKIPPED" on standard output.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree


def last_line(case):
    """The reason: the last line of what the test printed."""
    text = "".join(node.text or "" for node in case.iter("system-out"))
    lines = [re.sub(r"\s+", " ", line).strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"


def main(paths):
    passed = failed = skipped = 0
    for path in paths:
        stage = re.sub(r".*/|\.xml$", "", path)
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            name = case.get("name")
            if case.find("skipped") is not None and case.get("status") == "notrun":
                message = case.find("skipped").get("message", "")
                # A missing program is "notrun" too, but was not skipped on purpose.
                if message.startswith("SKIP_"):
                    skipped += 1
                    print(f"skipped: {stage}: {name}: {last_line(case)}", file=sys.stderr)
                else:
                    failed += 1
                    print(f"failed: {stage}: {name}: not run: {message}", file=sys.stderr)
            elif case.get("status") == "run":
                passed += 1
            else:
                failed += 1
                print(f"failed: {stage}: {name}: {last_line(case)}", file=sys.stderr)
    print(passed, failed, skipped)


if __name__ == "__main__":
    main(sys.argv[1:])
