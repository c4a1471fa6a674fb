#!/usr/bin/env bash
# What `exec` adds to a run of a program over starting it and waiting for it; bar 100 us a run.
#
# The same program, /bin/true, in the same minutes, in turns: a bare loop of posix_spawn and wait4, `inferometer exec`,
# and hyperfine without a shell. Of exec it prints the recorded median sample, and that with the untimed pauses of the
# lab around it; of the bare loop the median, of which nothing is untimed.
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
    for (int i = 0; i < N; i++) {
        struct rusage usage;
        int status;
        pid_t pid;
        long before = ns();
        if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) != 0 || wait4(pid, &status, 0, &usage) != pid)
            return 1;
        times[i] = ns() - before;
    }
    qsort(times, N, sizeof *times, compare);
    printf("%ld\n", times[N / 2]);
}
C
cc -O2 -o "$scratch/bare" "$scratch/bare.c"
cd "$scratch"
for round in 1 2 3 4 5; do
    ./bare >>bare.txt
    "$INFEROMETER" exec /bin/true --repeats 2000 --quiet --out "out$round" >/dev/null 2>&1
    sample=$(cut -d, -f3 "out$round"/samples/*-latency.csv | grep '^[0-9]' | sort -n | awk '{ t[NR] = $1 }
        END { print t[int(NR / 2)] }')
    # Median pause between the samples of a slot, and between slots: a slot of m samples has m - 1 and one of them.
    untimed=$(awk -F, '/^[0-9]/ { if (seen) print ($1 == slot ? "in" : "out"), $2 - end
        seen = 1; slot = $1; end = $2 + $3; count[$1]++ }
        END { for (k in count) { n++; all += count[k] }
            print "size", int(all / n + 0.5) }' \
        "out$round"/samples/*-latency.csv | sort -k1,1 -k2,2n | awk '$1 == "in" { a[++na] = $2 }
        $1 == "out" { b[++nb] = $2 } $1 == "size" { m = $2 }
        END { print int(((m - 1) * a[int((na + 1) / 2)] + b[int((nb + 1) / 2)]) / m) }')
    whole=$((sample + untimed))
    echo "$sample $whole" >>exec.txt
    if command -v hyperfine >/dev/null; then
        hyperfine -N --warmup 5 --runs 2000 --export-json h.json /bin/true >/dev/null 2>&1
        python3 -c 'import json; print(int(json.load(open("h.json"))["results"][0]["median"] * 1e9))' >>hyperfine.txt
    fi
done
middle() { cut -d' ' -f"$2" "$1" | sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'; }
echo "bare posix_spawn and wait4: median $(middle bare.txt 1) ns"
echo "inferometer exec:           median $(middle exec.txt 1) ns, with the untimed part $(middle exec.txt 2) ns"
[ ! -f hyperfine.txt ] || echo "hyperfine -N:               median $(middle hyperfine.txt 1) ns"
echo "exec adds $(($(middle exec.txt 1) - $(middle bare.txt 1))) ns to a sample, \
$(($(middle exec.txt 2) - $(middle bare.txt 1))) ns to a run"
