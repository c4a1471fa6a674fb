#!/usr/bin/env bash
# Copies, launches and energy of a real GPU, measured with the product itself, from a portable folder. Builds nothing,
# sets nothing. About four minutes of an H200; energy_gpu.sh has the rest (loads of known course, eight minutes).
#
#   cmake --preset portable && ninja -C build-portable inferometer bench_cuda
#   tools/portable.sh .gpu bench/bench_cuda
#   bench/gpu.sh OUT          OUT/*.txt and OUT/energy, a run folder; a short table last
#
# IFM_PORTABLE names another folder than .gpu. PyTorch is asked for its copy where python3 has it.
set -euo pipefail
folder=${IFM_PORTABLE:-$(readlink -f "$(dirname "$0")/..")/.gpu}
out=${1:?"usage: bench/gpu.sh OUT"}
lab=$folder/inferometer
if [ ! -x "$lab" ] || [ ! -x "$folder/bench_cuda" ]; then
    echo "error: $folder holds no inferometer and bench_cuda: tools/portable.sh $folder bench/bench_cuda" >&2
    exit 2
fi
mkdir -p "$out" && cd "$out"
{ date -u +%FT%TZ; "$lab" version; "$lab" doctor || true; } >machine.txt 2>&1

torch_copy()
{
    python3 - <<'PY' || echo "PyTorch: absent"
import statistics, torch
a = torch.randn(1 << 29, device="cuda", dtype=torch.float16)
b = torch.empty_like(a)
for _ in range(50):
    b.copy_(a)
times = []
for _ in range(25):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(16):
        b.copy_(a)
    end.record()
    end.synchronize()
    times.append(start.elapsed_time(end) / 16 * 1e-3)
print("PyTorch copy_ of 1 GiB %.4f TB/s" % (2 * a.numel() * 2 / statistics.median(times) / 1e12))
PY
}

{
    torch_copy
    "$lab" stream --device cuda --probe copy --size 1GiB --ceilings none --cap 4s --out copy --quiet
    torch_copy
} >copy.txt 2>&1
"$folder/bench_cuda" >launch.txt 2>&1 || true
"$lab" null --device cuda --repeats 1000 --out null --quiet >null.txt 2>&1
"$lab" null --device cuda --repeats 1000 --no-graphs --out null-no-graphs --quiet >>null.txt 2>&1
"$lab" stream --device cuda --probe read,matrix --size 1GiB --ceilings none --cap 4s --energy --energy-window 5s \
    --energy-windows 6 --energy-idle 4s --out energy --quiet >energy.txt 2>&1
for run in copy null energy; do "$lab" verify "$run"; done >verify.txt 2>&1

python3 - <<'PY'
import json, re
def numbers(run):
    for n in json.load(open(run + "/derived.json"))["numbers"]:
        yield n["cell"], n["arm"], n["metric"], n
copy = {arm: n["value"] for _, arm, metric, n in numbers("copy") if metric == "bandwidth_bytes_per_s"}
error = {arm: n["value"] for _, arm, metric, n in numbers("copy") if metric == "error_max_rel"}
torch = [float(x) for x in re.findall(r"copy_ of 1 GiB ([0-9.]+)", open("copy.txt").read())]
best = max(copy, key=copy.get)
print("copy: ours %s %.4f TB/s (error %g); bulk %.4f; PyTorch %s; ours over the best of the others %.4f" % (
    best, copy[best] / 1e12, error[best], copy["copy.bulk"] / 1e12, torch,
    copy[best] / max([copy["copy.bulk"]] + [t * 1e12 for t in torch])))
print(open("launch.txt").read().strip())
wanted = ("energy_per_step_j", "power_mean_w", "idle_power_w", "energy_per_step_cv_percent", "flops_per_joule",
          "energy_sources_differ_percent", "energy_systematic_percent", "clock_sm_mhz", "clock_sm_reported_mhz",
          "error_max_rel", "gpu_power_capped_percent")
for cell, arm, metric, n in numbers("energy"):
    if metric in wanted and n["state"] == "ok":
        half = (n["interval"][1] - n["interval"][0]) / 2 if n["interval"] else float("nan")
        print("%-20s %-12s %-30s %12.6g +- %.3g (%.3f %%) %s, n = %d" % (
            cell, arm, metric, n["value"], half, 100 * half / n["value"] if n["value"] else 0, n["unit"], n["n"]))
print(open("verify.txt").read().strip())
PY
