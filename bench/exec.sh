#!/usr/bin/env bash
# What `exec` adds to a run of a program over starting it and waiting for it; bar 100 us a run.
#
# The same program, /bin/true, in the same minutes, in turns: a bare loop of posix_spawn and wait4, `inferometer exec`,
# and hyperfine without a shell. Of exec it prints the recorded median sample, and the whole time of a run: the time
# from the first to the last measured slot over the samples in between, with everything that is untimed.
set -euo pipefail
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/bare.c" <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
extern char **environ;
static long ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}
static int compare(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}
int main(void)
{
    enum { N = 2000 };
    static long times[N];
    char *argv[] = {"/bin/true", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, 0, 1);
    posix_spawn_file_actions_adddup2(&actions, 0, 2);
    long start = ns();
    for (int i = 0; i < N; i++) {
        struct rusage usage;
        int status;
        pid_t pid;
        long before = ns();
        if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) != 0 || wait4(pid, &status, 0, &usage) != pid)
            return 1;
        times[i] = ns() - before;
    }
    long whole = (ns() - start) / N;
    qsort(times, N, sizeof *times, compare);
    printf("%ld %ld\n", times[N / 2], whole);
}
C
cc -O2 -o "$scratch/bare" "$scratch/bare.c"
cd "$scratch"
for round in 1 2 3 4 5; do
    ./bare >>bare.txt
    "$INFEROMETER" exec /bin/true --repeats 2000 --quiet --out "out$round" >/dev/null 2>&1
    sample=$(cut -d, -f3 "out$round"/samples/*-latency.csv | grep '^[0-9]' | sort -n | awk '{ t[NR] = $1 }
        END { print t[int(NR / 2)] }')
    whole=$(awk -F, '$2 == 1 { if (!first) first = $6; last = $7; n += $4 } END { print int((last - first) / n) }' \
        "out$round"/samples/*-slots.csv)
    echo "$sample $whole" >>exec.txt
    if command -v hyperfine >/dev/null; then
        hyperfine -N --warmup 5 --runs 2000 --export-json h.json /bin/true >/dev/null 2>&1
        python3 -c 'import json; print(int(json.load(open("h.json"))["results"][0]["median"] * 1e9))' >>hyperfine.txt
    fi
done
middle() { cut -d' ' -f"$2" "$1" | sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'; }
echo "bare posix_spawn and wait4: median $(middle bare.txt 1) ns, whole $(middle bare.txt 2) ns a run"
echo "inferometer exec:           median $(middle exec.txt 1) ns, whole $(middle exec.txt 2) ns a run"
[ ! -f hyperfine.txt ] || echo "hyperfine -N:               median $(middle hyperfine.txt 1) ns"
in_sample=$(($(middle exec.txt 1) - $(middle bare.txt 1))) in_run=$(($(middle exec.txt 2) - $(middle bare.txt 2)))
echo "exec adds $in_sample ns to the median sample, $in_run ns to a whole run"
