#!/usr/bin/env python3
"""Every parameter is read: parameters.py ROOT.

A row of a parameter table binds a path to a member of a struct. A member that no source reads, but for those that carry
settings from one file to another, is a parameter without effect, whatever its help says. A path of
docs/configuration.md whose row a macro makes is taken to be bound to a member of its own name.
"""
import glob
import os
import re
import sys

ROW = re.compile(r'\{"([a-z_]+\.[a-z_0-9]+)",\s*(?:"[^"]*"|NULL),\s*IFM_TYPE_\w+.*?[\s,]'
                 r'(?:[A-Z]\w*\(|offsetof\([^,()]+,\s*)(\w+)\)\}', re.S)
# They bind, write and compare whole structs: to stand there is no effect.
CARRIERS = {"src/config/common.c", "src/model/plan_json.c", "src/story/prepare.c"}


def main():
    root = sys.argv[1]
    files = sorted(glob.glob(f"{root}/src/**/*.[ch]", recursive=True))
    sources = {}
    for path in files:
        with open(path, encoding="utf-8") as file:
            sources[os.path.relpath(path, root)] = file.read()
    rows = {path: field for text in sources.values() for path, field in ROW.findall(text)}
    with open(f"{root}/docs/configuration.md", encoding="utf-8") as file:
        documented = set(re.findall(r"^\| `([a-z_]+\.[a-z_0-9]+)` \|", file.read(), re.M))
    rows.update({path: path.split(".")[1] for path in documented - rows.keys()})
    wrong = []
    for path, field in sorted(rows.items()):
        read = re.compile(r"(->|\.)" + field + r"\b(?!\s*=[^=])")
        if not any(read.search(text) for name, text in sources.items() if name not in CARRIERS):
            wrong.append(f"{path}: nothing reads its member {field}: it has no effect")
    print("\n".join(wrong) if wrong else f"{len(rows)} parameters are read")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
