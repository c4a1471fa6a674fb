#!/usr/bin/env python3
"""headers.py must fail: a good tree passes, and each bad header, added to it alone, is refused by name.

test_headers.py COMPILER
"""
import os
import subprocess
import sys
import tempfile

HEADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "headers.py")
GOOD = {
    "src/base/good.h": "#ifndef G\n#define G\n#include <stddef.h>\nsize_t f(void);\nstruct one { int x; };\n#endif\n",
    "src/kernel/cpu/x_body.h": "int lanes[IFM_LANE_BYTES];\nint again = IFM_TILE;\n",
    "include/inferometer/good.h": "#ifndef I\n#define I\nint f(int x);\n#endif\n",
}
STRICT = "#ifndef B\n#define B\n#include <time.h>\nenum { B_ = CLOCK_REALTIME };\n#endif\n"
# world that refuses it, path, text; the worlds before it in WORLDS accept it
BAD = [
    ("plain", "src/base/bad.h", "size_t f(void);\n"),
    ("plain", "src/base/bad.h", "struct one { int x; };\n"),
    ("plain", "src/base/bad.h", "#include <cuda.h>\n"),
    ("plain", "src/base/bad.h", "static inline int f(int x) { return 0; }\n"),
    ("plain", "src/kernel/cpu/bad_body.h", "int lanes[IFM_LANES_UNKNOWN];\n"),
    ("public", "include/inferometer/bad.h", STRICT),
    ("public", "include/inferometer/bad.h", "int g(int class);\n"),
]
WORLDS = ["plain", "public"]


def judge(root, world, compiler):
    done = subprocess.run([sys.executable, HEADERS, root, world, "--", compiler], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def main():
    compiler, failures = sys.argv[1], []
    for world, path, text in [(None, None, None)] + BAD:
        if path and "class" in text and "clang" not in os.path.basename(compiler):
            continue  # a word of C++ alone
        with tempfile.TemporaryDirectory() as root:
            for name, content in {**GOOD, **({path: text} if path else {})}.items():
                os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(content)
            for where in WORLDS:
                code, said = judge(root, where, compiler)
                wanted = 1 if where == world else 0
                if code != wanted or (wanted and f"{path}: " not in said):
                    failures.append(f"{where}, {path}, {text!r}: exit {code}, not {wanted}: {said}")
                if where == world:
                    break
    for failure in failures:
        print(failure)
    print(f"{len(BAD)} bad headers, {len(failures)} judged wrongly")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
