#!/usr/bin/env bash
# Energy on a real GPU, from a portable folder: loads of known course under every sensor, and what reading costs a step
# of 50 us. About nine minutes of an H200; no setting of the GPU is touched.
#
#   cmake --preset portable && ninja -C build-portable inferometer bench_energy
#   tools/portable.sh .gpu bench/bench_energy
#   bench/energy_gpu.sh OUT [record|perturb]...     both without a word; OUT/capture, OUT/perturb.txt, OUT/record.txt
#
# IFM_PORTABLE names another folder than .gpu, IFM_BENCH_OPTIONS holds options of bench_energy (tests: --scale 0.02).
set -euo pipefail
folder=${IFM_PORTABLE:-$(readlink -f "$(dirname "$0")/..")/.gpu}
out=${1:?"usage: bench/energy_gpu.sh OUT [record|perturb]..."}
shift
read -ra options <<<"${IFM_BENCH_OPTIONS:-}"
[ -x "$folder/bench_energy" ] || {
    echo "error: $folder/bench_energy is missing: tools/portable.sh $folder bench/bench_energy" >&2
    exit 2
}
mkdir -p "$out"
{
    date -u +%FT%TZ
    "$folder/inferometer" version
    "$folder/inferometer" doctor || true
} >"$out/machine.txt" 2>&1
missed=0
[ $# -gt 0 ] || set -- record perturb
for word in "$@"; do
    case "$word" in
    record) "$folder/bench_energy" record "$out/capture" "${options[@]}" 2>&1 | tee "$out/record.txt" ;;
    perturb) "$folder/bench_energy" perturb "${options[@]}" 2>&1 | tee "$out/perturb.txt" || missed=1 ;;
    *)
        echo "error: '$word' is neither record nor perturb" >&2
        exit 2
        ;;
    esac
done
[ "$missed" = 0 ]
