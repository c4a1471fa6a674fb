#!/usr/bin/env python3
"""Every header compiles alone: headers.py ROOT plain|public -- COMPILER [FLAGS].

  plain   src/ and include/
  public  include/ alone, as a program of somebody else: strict C11, and C++11 where COMPILER is clang

One translation unit per header, which holds the header twice: what it needs it includes, and its guard works.
"""
import concurrent.futures
import fnmatch
import glob
import os
import platform
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
# Text of a kernel, compiled once for each instruction set: a file defines these, then includes it (kernel/cpu/lanes.h).
# A body is included once.
TEMPLATES = ["src/kernel/cpu/*lanes*.h", "src/kernel/cpu/*_body.h"]
SET = ["-DIFM_ISA=scalar", "-DIFM_LANE_BYTES=8", "-DIFM_TILE=4", "-DIFM_VECTORS=2", "-DIFM_DEEP=4",
       "-Wno-unused-function"]
# Written in one processor's instructions: (its machine, what its sources are compiled with).
OF_PROCESSOR = {"src/kernel/cpu/kv_attend_body.h": ("x86_64", ["-march=x86-64-v4"])}


def compile_one(compiler, path, flags, header):
    """The compiler's words, or None."""
    times = 1 if path.endswith("_body.h") else 2
    done = subprocess.run([*compiler, *flags, "-fsyntax-only", "-"], input=f'#include "{header}"\n' * times, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return None if done.returncode == 0 else done.stdout


def jobs_of(root, world, compiler):
    """(header, flags, name that it is included by), for each translation unit."""
    folders = ["include"] if world == "public" else ["src", "include"]
    for folder in folders:
        for path in sorted(glob.glob(f"{root}/{folder}/**/*.h", recursive=True)):
            header, name = os.path.relpath(path, root), os.path.relpath(path, f"{root}/{folder}")
            if world == "public":
                yield header, ["-x", "c", "-std=c11", *WARNINGS, f"-I{root}/include"], name
                if "clang" in os.path.basename(compiler[0]):
                    yield header, ["-x", "c++", "-std=c++11", *WARNINGS, f"-I{root}/include"], name
                continue
            flags = ["-x", "c", "-std=gnu17", *WARNINGS, "-D_GNU_SOURCE", f"-I{root}/src", f"-I{root}/include"]
            machine, instructions = OF_PROCESSOR.get(header, (platform.machine(), []))
            if machine != platform.machine():
                continue
            flags += instructions
            if any(fnmatch.fnmatch(header, pattern) for pattern in TEMPLATES):
                flags += SET
            yield header, flags, name


def main():
    root, world, separator, *compiler = sys.argv[1:]
    if separator != "--" or world not in ("plain", "public") or not compiler:
        sys.exit(__doc__)
    failures, n = [], 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = list(jobs_of(os.path.abspath(root), world, compiler))
        for (header, _, _), said in zip(jobs, pool.map(lambda job: compile_one(compiler, *job), jobs)):
            n += 1
            if said is not None:
                failures.append(f"{header}: does not compile alone:\n{said}")
    if n == 0:
        failures.append(f"{root} has no headers")
    for failure in failures:
        print(failure)
    print(f"{world}: {n} translation units, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
