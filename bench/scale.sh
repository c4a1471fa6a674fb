#!/usr/bin/env bash
# What large runs cost: seconds of wall and of processor time (user and system), and MB of resident memory, each beside
# its bar. Processor time is what counts on a busy machine.
#
#   bench/scale.sh
#
# INFEROMETER names the command (build/inferometer). Folders are made by the device fake, which takes a minute and 1 GB
# of disk. Without Chromium the pages are left out. A page's time includes that of an empty browser (row `blank`).
set -euo pipefail
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
noisy="step_ns=1000; noise=0.01"

# measure LABEL BAR COMMAND...
measure()
{
    local label=$1 bar=$2
    shift 2
    python3 - "$label" "$bar" "$@" <<'EOF'
import os, resource, subprocess, sys, time
label, bar, command = sys.argv[1], sys.argv[2], sys.argv[3:]
begin = time.monotonic()
code = subprocess.call(command, stdout=subprocess.DEVNULL, stderr=open("errors", "w"))
wall, used = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
if code != 0:
    sys.exit(f"{label}: exit status {code}: {open('errors').read()}")
print(f"{label:<42} {wall:8.2f} {used.ru_utime + used.ru_stime:8.2f} {used.ru_maxrss * 1024 / 1e6:8.0f}   {bar}")
EOF
}

# sweep ROWS COLUMNS OUT: so many cells of one arm
sweep()
{
    "$INFEROMETER" "null" --device fake --script "$noisy" --ceilings none --seed 1 --repeats 12 --warmup 1 \
        --override device.threads="$(seq -s, 1 "$1")" --override measure.replica="$(seq -s, 1 "$2")" --out "$3"
}
# pages ROWS COLUMNS OUT: so many cells of two arms, with five drawings each
pages()
{
    "$INFEROMETER" decode --device fake --script "$noisy; arm.int4.step_ns=400" --ceilings none --seed 1 --repeats 12 \
        --warmup 1 --q-heads 8 --kv-heads 8 --head-dim 64 --compress 4 \
        --override decode.batch="$(seq -s, 1 "$1")" --out "$3" \
        --override decode.kv_len="$(seq -s, 256 16 $((240 + 16 * $2)))"
}
samples()
{
    measure "record, derive, publish $1 samples" "$3" "$INFEROMETER" run --workload "null" --device fake \
        --script "$noisy" --ceilings none --repeats "$1" --slot-steps 10000 --out "$2"
    measure "verify $1 samples" "$4" "$INFEROMETER" verify "$2"
}
# The renderers are no children that anybody waits for: their processor time is left to perf, where it is.
page()
{
    local browser=(chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage
        "--user-data-dir=$scratch/profile" "--screenshot=$scratch/shot.png")
    measure "$1 in Chromium" "$3" "${browser[@]}" "$2"
    command -v perf >/dev/null || return 0
    perf stat -e task-clock -x ' ' -o counted "${browser[@]}" "$2" >/dev/null 2>&1
    awk '$3 == "task-clock" { printf "%-42s %8s %8.2f\n", "  all its processes", "", $1 / 1000 }' counted
}

printf '%-42s %8s %8s %8s   %s\n' "" "wall s" "cpu s" MB bar
samples 1000000 million "3 s with its verification" ""
samples 10000000 ten "" "10 s, 500 MB"
rm -r ten
sweep 64 64 cells >/dev/null 2>errors || { cat errors && exit 1; }
measure "derive 4,096 cells" "5 s" "$INFEROMETER" derive cells
sweep 1 1 one >/dev/null 2>errors
mkdir many
for ((i = 0; i < 5000; i++)); do cp -r one "many/$i"; done
measure "list 5,000 runs" "3 s" "$INFEROMETER" list many
if command -v chromium >/dev/null; then
    sweep 32 32 page1 >/dev/null 2>errors
    pages 32 32 page2 >/dev/null 2>errors
    page blank about:blank ""
    page "1,024 cells, $(wc -c <page1/report.html) bytes" "file://$scratch/page1/report.html" "3 s"
    page "1,024 cells of decode, $(wc -c <page2/report.html) bytes" "file://$scratch/page2/report.html" "3 s"
else
    echo "no page: chromium is not installed"
fi
