#!/usr/bin/env bash
# What a report costs: the time of `inferometer report DIR`, which derives and publishes everything anew, how much of it
# the processor was busy, the page's bytes, and its first paint in headless Chromium. Bars: of a million samples 2 s and
# 3 MB; of the default run 0.3 s and 250 KB; first paint 200 ms.
#
#   bench/report.sh [DIR]    DIR: a finished default run (examples/first-run.yaml); without it one is made
#
# INFEROMETER names the command (build/inferometer). Without Chromium, node or npm the paint is left out, with the
# reason.
set -euo pipefail
given=${1:+$(readlink -e "$1")}
export INFEROMETER=${INFEROMETER:-build/inferometer}
source "$(dirname "$0")/../tests/browser/lib.sh" # goes into a scratch folder
paints=no
why=$(need_packages) && paints=yes
[ "$paints" = no ] || need_packages

if [ -n "$given" ]; then
    cp -r "$given" default
else
    "$INFEROMETER" run -c "$IFM_SOURCE/examples/first-run.yaml" --out default >/dev/null 2>errors ||
        fail "$(cat errors)"
fi
"$INFEROMETER" run --workload null --device fake --script "step_ns=1000; noise=0.01" --ceilings none \
    --repeats 1000000 --slot-steps 10000 --out million >/dev/null 2>errors || fail "$(cat errors)"

# Wall and processor time of a command, s: the medians of five.
seconds()
{
    local TIMEFORMAT='%R %U %S'
    for _ in 1 2 3 4 5; do
        { time "$@" >/dev/null 2>errors; } 2>&1 || fail "$*: $(cat errors)"
    done >times
    printf '%10s %10s' "$(cut -d' ' -f1 times | sort -n | sed -n 3p)" \
        "$(awk '{ printf "%.3f\n", $2 + $3 }' times | sort -n | sed -n 3p)"
}

printf '%-10s %10s %10s %10s %14s\n' run "wall s" "cpu s" bytes "first paint ms"
for run in default million; do
    times=$(seconds "$INFEROMETER" report "$run")
    paint="-"
    if [ "$paints" = yes ]; then
        check paint "$run/report.html"
        paint=$(awk '{ print $NF }' said)
    fi
    printf '%-10s %s %10s %14s\n' "$run" "$times" "$(wc -c <"$run/report.html")" "$paint"
done
[ "$paints" = yes ] || echo "no first paint: $why"
