#!/usr/bin/env bash
# The gcc, clang and asan builds (with vectors and without) derive the same numbers from one record: integers
# exactly, reals within 1e-12.
source "$(dirname "$0")/lib.sh"
need python3 python3
builds=("${IFM_BUILD_GCC:-}" "${IFM_BUILD_CLANG:-}" "${IFM_BUILD_ASAN:-}")
for build in "${builds[@]}"; do
    [ -n "$build" ] && [ -x "$build/inferometer" ] ||
        skip "needs the gcc, clang and asan builds; 'make check' makes them"
done
"$INFEROMETER" decode --kv-len 256,512 --batch 1 --layers 1 --threads 1 --repeats 240 --warmup 10 --seed 5 \
    --out real >/dev/null 2>errors || fail "$(cat errors)"
script="step_ns=1000; noise=0.05; ar=0.6; drift=0.01"
"$INFEROMETER" run --workload null --device fake --script "$script" --ceilings none --repeats 2000 \
    --out fake >/dev/null 2>errors || fail "$(cat errors)"
for folder in real fake; do
    for build in "${builds[@]}"; do
        copy=$folder-$(basename "$build")
        cp -r "$folder" "$copy"
        "$build/inferometer" derive "$copy" >/dev/null 2>errors || fail "$build: $(cat errors)"
        # Each build also accepts what the first one published.
        "$build/inferometer" verify "$folder" >/dev/null 2>errors || fail "$build refuses $folder: $(cat errors)"
    done
    python3 - "$folder"-*/derived.json <<'P'
import json, math, sys
def compare(a, b, path):
    if isinstance(a, bool) or a is None or isinstance(a, str) or isinstance(b, (bool, str)) or b is None:
        same = a == b
    elif isinstance(a, int) and isinstance(b, int):
        same = a == b
    elif isinstance(a, (int, float)) and isinstance(b, (int, float)):
        same = math.isclose(a, b, rel_tol=1e-12, abs_tol=0.0)
    elif isinstance(a, list):
        if len(a) != len(b):
            sys.exit(f"{path}: {len(a)} and {len(b)} items")
        return sum(compare(x, y, f"{path}[{i}]") for i, (x, y) in enumerate(zip(a, b)))
    else:
        if list(a) != list(b):
            sys.exit(f"{path}: different keys")
        return sum(compare(a[k], b[k], f"{path}.{k}") for k in a)
    if not same:
        sys.exit(f"{path}: {a!r} and {b!r}")
    return 1
first, *others = [json.load(open(name)) for name in sys.argv[1:]]
count = [compare(first, other, "derived.json") for other in others][0]
if count < 50:
    sys.exit(f"only {count} fields: too few to mean anything")
print(f"{count} fields the same in {len(others) + 1} builds")
P
done
