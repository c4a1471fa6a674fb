#!/usr/bin/env bash
# Energy of programs by the lab, beside what each program reads from NVML by itself: for a GPU with PyTorch.
#
#   bench/exec_energy.sh OUT      INFEROMETER=FILE, PYTHON=python3, LOAD_S=4, BUDGET_S=500 in the environment
#
# Two programs multiply matrices for LOAD_S seconds, one all the time, one half of it (50 to 100 ms on, 50 to 100 ms
# off, at random); a run is about 8 s with the start of Python and of its context. `exec --energy` measures them in
# windows of one run each, as many as fit BUDGET_S, 24 at most. Each program reads the GPU's energy counter when it
# begins and when it ends, with time stamps (exec_energy.py). OUT gets the run folder (run/), the programs' readings
# (programs.jsonl) and the table (table.txt), which is printed last. Bar: the program's own joules lie within the bar
# that the lab prints for the same window in at least 19 of 20; exit 1 below. Changes no setting of the GPU.
set -euo pipefail
out=${1:?"usage: bench/exec_energy.sh OUT"}
program=$(readlink -f "$(dirname "$0")/exec_energy.py")
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
python=${PYTHON:-python3} load_s=${LOAD_S:-4} budget_s=${BUDGET_S:-500}
mkdir -p "$out"
out=$(readlink -f "$out")
log=$out/programs.jsonl
"$python" -c 'import sys; print("python", sys.version.split()[0])'

# Once for the files' caches, and once for the time of a run.
"$python" "$program" run "$out/first.jsonl" 1 "$load_s"
before=$(date +%s%N)
"$python" "$program" run "$out/first.jsonl" 0.5 "$load_s"
run_ms=$((($(date +%s%N) - before) / 1000000))
# Beside the windows: six runs of either program for calibration, warm-up and one block of times; idle, sensors.
each=$(((budget_s * 1000 - 12 * run_ms - 30000) / (2 * (run_ms + 800)) / 2 * 2))
each=$((each > 12 ? 12 : each < 4 ? 4 : each))
echo "a run takes $run_ms ms: $each windows of each program"

status=0
"$INFEROMETER" exec "$python $program run $log 1 $load_s" "$python $program run $log 0.5 $load_s" \
    --name full --name half --energy --energy-windows "$each" --energy-window 1500ms --energy-idle 5s \
    --slot-steps 1 --stop repeats --repeats 2 --override measure.blocks_min=1 --out "$out/run" \
    >"$out/exec.txt" 2>&1 || status=$?
[ $status = 0 ] || [ $status = 3 ] || { cat "$out/exec.txt" && exit $status; }
"$INFEROMETER" verify "$out/run" || exit 1
"$python" "$program" judge "$out/run" "$log" >"$out/table.txt" || status=1
cat "$out/table.txt"
exit $status
