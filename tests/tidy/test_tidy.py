#!/usr/bin/env python3
"""tidy must fail: a good tree passes, and each bad file, added to it alone, is refused under the rule's name."""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIDY = os.path.join(ROOT, "tools", "tidy.py")
OPEN = "/* A test file. */\n"


def c(body):
    return OPEN + body


def header(guard):
    return OPEN + f"#ifndef {guard}\n#define {guard}\n#endif\n"


def long_function(lines):
    return c("int f(void)\n{\n" + "    (void)0;\n" * (lines - 3) + "    return 0;\n}\n")


# rule, path, text
BAD = [
    ("include-law", "src/stats/x.c", c('#include "sample/record.h"\n')),
    ("include-law", "src/publish/x.c", c('#include "device/device.h"\n')),
    ("include-law", "src/publish/y.c", c('#include "workload/workload.h"\n')),
    ("include-law", "src/workload/x.c", c('#include "instrument/instrument.h"\n')),
    ("include-law", "src/tensor/x.c", c('#include "workload/kv_file.h"\n')),
    ("include-law", "src/derive/x.c", c('#include "run/run.h"\n')),
    ("include-law", "src/derive/y.c", c("#include <time.h>\n")),
    ("include-law", "src/plan/x.c", c('#include "base/clock.h"\n')),
    ("include-law", "src/base/x.c", c('#include "model/plan.h"\n')),
    ("include-law", "src/model/x.h",
     OPEN + '#ifndef IFM_MODEL_X_H\n#define IFM_MODEL_X_H\n#include "config/config.h"\n#endif\n'),
    ("include-law", "src/config/x.c", c('#include "plan/plan.h"\n')),
    ("include-law", "src/unknown/x.c", c("")),
    ("include-law", "src/stats/y.c", c('#include "z.h"\n')),
    ("unbounded-copy", "src/run/x.c", c("void f(char *a)\n{\n    strcpy(a, a);\n}\n")),
    ("unbounded-copy", "src/run/y.c", c("void f(char *a)\n{\n    sprintf (a, a);\n}\n")),
    ("silent-parse", "src/cli/x.c", c("int f(char *a)\n{\n    return atoi(a);\n}\n")),
    ("exit", "src/run/z.c", c("void f(void)\n{\n    exit(1);\n}\n")),
    ("assert", "src/run/a.c", c("void f(int x)\n{\n    assert(x);\n}\n")),
    ("random", "src/workload/r.c", c("int f(void)\n{\n    return rand();\n}\n")),
    ("shell", "src/host/s.c", c('int f(void)\n{\n    return system("x");\n}\n')),
    ("stack", "src/base/s.c", c("void *f(void)\n{\n    return alloca(1);\n}\n")),
    ("stdout", "src/run/p.c", c('void f(void)\n{\n    printf("x");\n}\n')),
    ("stdout", "src/run/q.c", c('void f(void)\n{\n    fprintf(stdout, "x");\n}\n')),
    ("setter", "src/power/s.c", c("void f(struct n *n)\n{\n    n->nvmlDeviceSetPersistenceMode(0, 1);\n}\n")),
    ("setter", "src/cli/s.c", c("void f(struct n *n)\n{\n    n->nvmlDeviceResetGpuLockedClocks(0);\n}\n")),
    ("function-length", "src/run/l.c", long_function(61)),
    ("circle", "src/host/a.c", c("int ifm_b(void);\nint ifm_a(void)\n{\n    return ifm_b();\n}\n")),
    ("circle", "src/host/a.c", c("extern const int ifm_b_table[1];\nint ifm_a(void)\n{\n"
                                 "    return ifm_b_table[0];\n}\n")),
    ("struct-tag", "src/run/k.c", c("struct ifm_twin {\n    int x;\n};\n")),
    ("struct-tag", "src/run/s.c", c("static struct once {\n    int x;\n} x;\n")),
    ("struct-tag", "src/stats/z.c", c("struct ifm_state {\n    int x;\n};\n")),
    ("file-length", "src/run/m.c", c("int x;\n" * 600)),
    ("line-length", "src/run/n.c", c("/* " + "x" * 120 + " */\n")),
    ("header-guard", "src/run/g.h", header("RUN_G_H")),
    ("header-guard", "src/kernel/cpu/g.h", header("IFM_KERNEL_G_H")),
    ("opening-comment", "src/run/o.c", "int x;\n"),
    ("tab", "src/run/t.c", c("\tint x;\n")),
    ("trailing-space", "docs/x.md", "a \n"),
    ("final-newline", "docs/y.md", "a"),
    ("final-newline", "docs/z.md", "a\n\n"),
    ("marker", "docs/t.md", "TO" + "DO: later\n"),
    ("machine-path", "docs/p.md", "see /" + "home/someone/x\n"),
    ("utf-8", "docs/u.md", b"\xff\xfe\n"),
    ("blob", "tests/fuzz/corpus/x/big", b"0" * (256 * 1024 + 1)),
    ("exempt", "tools/tidy_exempt.txt", "tab src/none.c nobody needs this\n"),
    ("exempt", "tools/tidy_exempt.txt", "tab src/none.c\n"),
    ("missing", "tools/include_law.txt", None),
]

# What looks like an offence and is none.
GOOD = [
    ("src/run/ok.c", c('/* strcpy(a) in a comment */\n#include "plan/plan.h"\nconst char *f(void)\n{\n'
                       '    return "exit(1) // printf(";\n}\n')),
    ("src/cli/ok.c", c('#include "run/run.h"\nvoid f(void)\n{\n    printf("x");\n    exit(0);\n}\n')),
    ("src/run/limit.c", long_function(60)),
    # b uses a; a declaration alone is no use.
    ("src/host/b.c", c("int ifm_a(void);\nconst int ifm_b_table[1] = {1};\nint ifm_b(void)\n{\n"
                       "    return ifm_a();\n}\n")),
    ("src/host/b.h", OPEN + "#ifndef IFM_HOST_B_H\n#define IFM_HOST_B_H\nint ifm_b(void);\n#endif\n"),
    # A state that a header announces has one meaning in each file behind a table; other tags have one in all.
    ("src/device/d.h", OPEN + "#ifndef IFM_DEVICE_D_H\n#define IFM_DEVICE_D_H\nstruct ifm_behind;\n"
                              "struct ifm_twin {\n    int x;\n};\n#endif\n"),
    ("src/device/d.c", c("struct ifm_behind {\n    int x;\n};\n")),
    ("src/device/e.c", c("struct ifm_behind {\n    int y;\n};\nstruct once {\n    int z;\n};\n")),
    ("src/stats/state.h", OPEN + "#ifndef IFM_STATS_STATE_H\n#define IFM_STATS_STATE_H\nstruct ifm_state {\n"
                                 "    int x;\n};\n#endif\n"),
    ("src/run/method.c", c("void f(struct o *o)\n{\n    o->exit(1);\n    ifm_random(o);\n"
                           "    _Static_assert(1, \"\");\n}\n")),
    ("src/kernel/cpu/g.h", header("IFM_KERNEL_CPU_G_H")),
    ("tests/golden/x/stdout.exact", "trailing \nno newline"),
    ("Makefile", "a:\n\ttrue\n"),
    ("docs/mktemp.md", "mktemp x." + "X" * 6 + "\n"),
]


def write(root, path, text):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    if text is None:
        os.remove(full)
        return
    with open(full, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def tree(root):
    with open(os.path.join(ROOT, "tools", "include_law.txt"), encoding="utf-8") as law:
        write(root, "tools/include_law.txt", law.read())
    write(root, "tools/tidy_exempt.txt", "# none\n")
    write(root, "src/stats/z.h", header("IFM_STATS_Z_H"))
    for path, text in GOOD:
        write(root, path, text)


def run(root):
    done = subprocess.run([sys.executable, TIDY, root], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    failures = []
    for rule, path, text in [(None, None, None)] + BAD:
        with tempfile.TemporaryDirectory() as root:
            tree(root)
            if path:
                write(root, path, text)
            code, output = run(root)
            named = rule is None or f"{path}:" in output and f": {rule}: " in output
            if code != (0 if rule is None else 1) or not named:
                failures.append(f"{path}: wanted {rule or 'no offence'}, exit {code}, got:\n{output}")
    with tempfile.TemporaryDirectory() as root:
        tree(root)
        os.chmod(os.path.join(root, "docs/mktemp.md"), 0o755)
        code, output = run(root)
        if code != 1 or ": executable: " not in output:
            failures.append(f"executable bit: exit {code}, got:\n{output}")
    for failure in failures:
        print(failure)
    print(f"{len(BAD) + 2 - len(failures)} of {len(BAD) + 2} trees judged as they should be")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
