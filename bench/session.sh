#!/usr/bin/env bash
# What the session API costs: an empty window as the record sees it (bar 60 ns at the median: one clock reading and two
# calls), a whole turn of next, begin and end, and an empty window through Python's ctypes.
set -euo pipefail
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
folder=$(dirname "$INFEROMETER")
source=$(readlink -f "$(dirname "$0")/..")
[ -e "$folder/libinferometer.so" ] || { echo "skipped: this build has no libinferometer.so"; exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/empty.c" <<'C'
#include <inferometer/session.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char **argv)
{
    struct inferometer_session *session = inferometer_open(argv[1], argc > 2 ? argv[2] : NULL);
    struct timespec start, end;
    long windows = 0;
    if (session == NULL || inferometer_arm(session, "empty") < 0 || inferometer_next(session) < 0)
        return 1;
    clock_gettime(CLOCK_MONOTONIC_RAW, &start);
    do {
        inferometer_begin(session);
        inferometer_end(session, 0);
        windows++;
        clock_gettime(CLOCK_MONOTONIC_RAW, &end);
    } while (inferometer_next(session) >= 0);
    printf("%.0f ns a turn over %ld windows, files included\n",
           ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / (double)windows,
           windows);
    return inferometer_judge(session, NULL) < 0 || inferometer_close(session) < 0;
}
C
cc -O2 -I"$source/include" "$scratch/empty.c" -L"$folder" -linferometer -Wl,-rpath,"$folder" -o "$scratch/empty"
report()
{
    cut -d, -f3 "$2"/samples/*-latency.csv | grep '^[0-9]' | sort -n | awk -v what="$1" '{ t[NR] = $1 }
        END { printf "%s: %d windows, median %d ns, p99.9 %d ns\n", what, NR, t[int(NR / 2)], t[int(NR * 0.999)] }'
}
"$scratch/empty" "$scratch/c" measure.repeats=1000000
report "empty window from C" "$scratch/c"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source/examples/session \
    python3 - "$folder/libinferometer.so" "$scratch/python" <<'P'
import sys, compare
with compare.Session(compare.load(sys.argv[1]), sys.argv[2], "measure.repeats=100000") as session:
    session.measure({"empty": lambda: None})
P
report "empty window from Python" "$scratch/python"
