/* Kernels alone, without the lab: pinned threads, a spinning barrier, arms interleaved, medians.
 *
 *   bench_kernels [--size MiB] [--threads N] [--rounds N] OP[@ISA]...
 *
 * OP is a row of the dispatch table that reads, writes, copies or multiplies ("read.linear", "read.linear@avx2"). Each
 * round times every arm once, in turn; a line per arm gives the median over rounds in GB/s (GFLOP/s for "flops"). It is
 * how these kernels are tuned; published numbers come from `inferometer`, and so do those of peers.sh. */
#include "base/clock.h"
#include "kernel/cpu/dispatch.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ARMS_LIMIT = 32, THREADS_LIMIT = 512, ROUNDS_LIMIT = 1000 };

struct arm {
    const char *label;
    const struct ifm_kernel *kernel;
    double rate[ROUNDS_LIMIT];
};

struct bench {
    struct arm arms[ARMS_LIMIT];
    size_t n_arms;
    size_t bytes;
    unsigned threads, rounds;
    unsigned char *from, *to;
    atomic_uint arrived, generation;
    const struct arm *current; /* written before a barrier, read after it */
    bool stop;
    uint64_t sums[THREADS_LIMIT][8];
};

struct worker {
    struct bench *bench;
    unsigned index;
};

static void barrier(struct bench *bench)
{
    unsigned generation = atomic_load(&bench->generation);
    if (atomic_fetch_add(&bench->arrived, 1) + 1 == bench->threads) {
        atomic_store(&bench->arrived, 0);
        atomic_fetch_add(&bench->generation, 1);
    } else {
        for (unsigned spins = 0; atomic_load(&bench->generation) == generation; spins++)
            if (spins > 20000)
                sched_yield();
    }
}

static cpu_set_t allowed; /* of the process, before any thread is pinned: threads inherit what they are pinned to */

static void pin(unsigned index)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && index-- == 0) {
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

static void work(struct bench *bench, unsigned index)
{
    const struct ifm_kernel *kernel = bench->current->kernel;
    size_t lines = bench->bytes / IFM_LINE;
    size_t from = lines * index / bench->threads * IFM_LINE, to = lines * (index + 1) / bench->threads * IFM_LINE;
    if (strncmp(kernel->op, "read.", 5) == 0)
        bench->sums[index][0] += kernel->fn.read(bench->from + from, to - from);
    else if (strncmp(kernel->op, "write.", 6) == 0)
        kernel->fn.write(bench->to + from, to - from, 0x5a5a5a5a5a5a5a5aU);
    else if (strncmp(kernel->op, "copy.", 5) == 0)
        kernel->fn.copy(bench->to + from, bench->from + from, to - from);
    else
        bench->sums[index][0] += kernel->fn.flops((1U << 27) / kernel->flops_per_round, -1.0f, 3.0f);
}

static double amount(const struct bench *bench, const struct ifm_kernel *kernel)
{
    if (strncmp(kernel->op, "flops.", 6) == 0)
        return (double)((1U << 27) / kernel->flops_per_round * kernel->flops_per_round) * bench->threads;
    return (double)(bench->bytes / IFM_LINE * IFM_LINE) * (strncmp(kernel->op, "copy.", 5) == 0 ? 2 : 1);
}

static void *follow(void *arg)
{
    struct worker *worker = arg;
    pin(worker->index);
    for (;;) {
        barrier(worker->bench);
        if (worker->bench->stop)
            return NULL;
        work(worker->bench, worker->index);
        barrier(worker->bench);
    }
}

static double time_arm(struct bench *bench, const struct arm *arm)
{
    bench->current = arm;
    struct ifm_instant start = ifm_clock_now();
    barrier(bench);
    work(bench, 0);
    barrier(bench);
    return amount(bench, arm->kernel) / (double)ifm_clock_since(start).ns;
}

static void *touched(size_t bytes)
{
    const size_t huge = (size_t)2 << 20;
    void *memory = aligned_alloc(huge, (bytes + huge - 1) / huge * huge);
    if (memory == NULL) {
        fprintf(stderr, "bench_kernels: out of memory\n");
        exit(5);
    }
    madvise(memory, bytes, MADV_HUGEPAGE);
    for (size_t i = 0; i < bytes / 4; i++)
        ((float *)memory)[i] = (float)(i * 2654435761U % 2048) / 1024.0f - 1.0f;
    return memory;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_streaming(const char *op)
{
    static const char *const families[] = {"read.", "write.", "copy.", "flops."};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strncmp(op, families[i], strlen(families[i])) == 0)
            return true;
    return false;
}

static void add_arm(struct bench *bench, char *label)
{
    char op[64];
    const char *at = strchr(label, '@');
    snprintf(op, sizeof op, "%.*s", at != NULL ? (int)(at - label) : (int)sizeof op - 1, label);
    const struct ifm_kernel *kernel = ifm_kernel_find(op, at != NULL ? at + 1 : "auto");
    if (kernel == NULL || bench->n_arms == ARMS_LIMIT || !is_streaming(op)) {
        fprintf(stderr, "bench_kernels: no such kernel: %s\n", label);
        exit(2);
    }
    bench->arms[bench->n_arms++] = (struct arm){.label = label, .kernel = kernel};
}

static void parse(struct bench *bench, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            add_arm(bench, argv[i]);
            continue;
        }
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--size") == 0)
            bench->bytes = (size_t)strtoull(value, NULL, 10) << 20;
        else if (strcmp(argv[i], "--threads") == 0)
            bench->threads = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--rounds") == 0)
            bench->rounds = (unsigned)strtoul(value, NULL, 10);
        else {
            fprintf(stderr, "bench_kernels: bad option: %s %s\n", argv[i], value);
            exit(2);
        }
        i++;
    }
}

int main(int argc, char **argv)
{
    static struct bench bench = {.bytes = (size_t)256 << 20, .threads = 2, .rounds = 21};
    parse(&bench, argc, argv);
    if (bench.threads < 1 || bench.threads > THREADS_LIMIT || bench.rounds < 1 || bench.rounds > ROUNDS_LIMIT)
        return 2;
    bench.from = touched(bench.bytes);
    bench.to = touched(bench.bytes);
    pthread_t threads[THREADS_LIMIT];
    struct worker workers[THREADS_LIMIT];
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 5;
    pin(0);
    for (unsigned i = 1; i < bench.threads; i++) {
        workers[i] = (struct worker){&bench, i};
        if (pthread_create(&threads[i], NULL, follow, &workers[i]) != 0)
            return 5;
    }
    for (unsigned round = 0; round <= bench.rounds; round++) /* the first one warms up */
        for (size_t a = 0; a < bench.n_arms; a++)
            bench.arms[a].rate[round == 0 ? 0 : round - 1] = time_arm(&bench, &bench.arms[a]);
    bench.stop = true;
    barrier(&bench);
    for (unsigned i = 1; i < bench.threads; i++)
        pthread_join(threads[i], NULL);
    for (size_t a = 0; a < bench.n_arms; a++) {
        double *rate = bench.arms[a].rate;
        qsort(rate, bench.rounds, sizeof *rate, by_value);
        printf("%-28s %8.2f  max %8.2f\n", bench.arms[a].label, rate[bench.rounds / 2], rate[bench.rounds - 1]);
    }
    return 0;
}
