#!/usr/bin/env bash
# Kernels of gemm on a GPU, of one build beside another's, and in each run beside f16 and cuBLASLt. Builds nothing, sets
# nothing, begins no cell after LIMIT seconds (100); a short table last.
#
#   bench/gemm_gpu.sh OUT LABEL=INFEROMETER... [-- CELL...]     CELL is M:N:K:WEIGHTS
#
# Without a CELL the bars first: one activation with int4, then those whose blocks share k or multiply 192 columns.
set -euo pipefail
usage="usage: bench/gemm_gpu.sh OUT LABEL=INFEROMETER... [-- CELL...]"
out=${1:?"$usage"} builds=()
shift
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    [ -x "${1#*=}" ] || { echo "$usage; no command: ${1#*=}" >&2 && exit 2; }
    builds+=("$1")
    shift
done
[ ${#builds[@]} -gt 0 ] || { echo "$usage" >&2 && exit 2; }
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- 1:14336:4096:f16,int4 1:4096:14336:f16,int4 128:4096:14336:f16 192:14336:4096:f16 \
    1:4096:4096:f16,int4 128:4096:4096:f16 129:14336:4096:f16 256:4096:14336:f16
mkdir -p "$out"
for cell in "$@"; do
    IFS=: read -r m n k weights <<<"$cell"
    for build in "${builds[@]}"; do
        [ $SECONDS -lt "${LIMIT:-100}" ] || break 2
        folder=$out/${cell//[:,]/_}.${build%%=*} begun=$SECONDS
        "${build#*=}" gemm --device cuda --m "$m" --n "$n" --k "$k" --weights "$weights" --gemm-arms cublaslt,ours \
            --inner 64 --cap "${CAP:-1500ms}" --ceilings none --seed 1 --quiet --out "$folder" >"$folder.txt" 2>&1 ||
            tail -3 "$folder.txt"
        echo "$cell ${build%%=*}: $((SECONDS - begun)) s"
    done
done
python3 - "$out" "$*" "${builds[*]%%=*}" <<'PYTHON'
import json, os, sys

out, cells, labels = sys.argv[1], sys.argv[2].split(), sys.argv[3].split()


def text(n, by, digits):
    if n["state"] != "ok":
        return n["reason"]
    interval = " [%.*f, %.*f]" % (digits, n["interval"][0] / by, digits, n["interval"][1] / by) if n["interval"] else ""
    return "%.*f%s" % (digits, n["value"] / by, interval)


for cell in cells:
    for label in labels:
        path = os.path.join(out, cell.replace(":", "_").replace(",", "_") + "." + label, "derived.json")
        if not os.path.exists(path):
            print("%-22s %-6s not run" % (cell, label))
            continue
        with open(path, encoding="utf-8") as file:
            numbers = {(n["arm"], n["metric"]): n for n in json.load(file)["numbers"]}
        for arm, metric in [key for key in numbers if key[1] == "step_ns"]:
            ratio = next((numbers[arm, of] for of in ("speedup_over_own", "speedup") if (arm, of) in numbers), None)
            print("%-22s %-6s %-12s %-32s %s" % (
                cell, label, arm, text(numbers[arm, metric], 1e3, 2) + " us",
                "" if ratio is None else "x %s of %s" % (
                    text(ratio, 1, 3), "f16" if ratio["metric"] == "speedup_over_own" else "cuBLASLt")))
PYTHON
