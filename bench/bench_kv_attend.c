/* Attention over the pages of the elastic cache, format beside format: pinned threads, arms interleaved, minima.
 *
 *   bench_kv_attend [--threads N] [--rounds N] [--mib N] [--dim D] [--isa NAME,...] [--group G,...]
 *                   [--repeat N]
 *
 * Each arm has `mib` MiB of pages of random codes, cut into SLICES; a round times one slice of each arm, in turn, and
 * the next round the next one, so that a slice is far out of the caches when its turn comes again, and short enough
 * that some rounds are left alone by whatever else runs. "read" is the best stream kernel over the slices of f16.
 * With --repeat each round goes over its slice N times: `--threads 1 --mib 4 --repeat 9` is the time from the second
 * level cache. Times are per token and thread; `ratio` is f16's time a token over the arm's; `floor` counts the
 * instructions of the inner loops that only one pipe takes, in cycles a token (formulas at floor_cycles), and `of it`
 * is what part of the cycles that were used the floor is. */
#include "base/clock.h"
#include "base/half.h"
#include "base/random.h"
#include "kernel/cpu/dispatch.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ARMS_LIMIT = 64, THREADS_LIMIT = 64, ROUNDS_LIMIT = 2000, GROUP_MOST = 16, SLICES = 16 };

struct arm {
    const struct ifm_kernel *kernel;
    const char *isa;
    enum ifm_kv_format format;
    unsigned group; /* 0 = a read */
    double ns[ROUNDS_LIMIT];
};

struct bench {
    struct arm arms[ARMS_LIMIT];
    size_t n_arms, bytes;
    unsigned threads, rounds, dim, repeat;
    unsigned char *pages[IFM_KV_FORMATS];
    struct ifm_kv_layout layouts[IFM_KV_FORMATS];
    float *query; /* [GROUP_MOST][dim] */
    atomic_uint arrived, generation;
    const struct arm *current; /* written before a barrier, read after it, as `slice` */
    unsigned slice;
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

static void *room(size_t bytes)
{
    const size_t huge = (size_t)2 << 20;
    void *memory = aligned_alloc(huge, (bytes + huge - 1) / huge * huge);
    if (memory == NULL) {
        fprintf(stderr, "bench_kv_attend: out of memory\n");
        exit(5);
    }
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

/* In a slice. */
static size_t pages_of(const struct bench *bench, const struct arm *arm)
{
    return bench->bytes / SLICES / bench->layouts[arm->format].page_bytes;
}

static void attend(struct bench *bench, const struct arm *arm, unsigned index)
{
    static _Thread_local unsigned char scratch[1 << 18] __attribute__((aligned(64)));
    static _Thread_local float top[GROUP_MOST], total[GROUP_MOST];
    static _Thread_local float sum[GROUP_MOST * IFM_KV_DIM_MOST] __attribute__((aligned(64)));
    const struct ifm_kv_layout *l = &bench->layouts[arm->format];
    const size_t n = pages_of(bench, arm), start = n * bench->slice;
    const size_t from = start + n * index / bench->threads, to = start + n * (index + 1) / bench->threads;
    for (unsigned h = 0; h < arm->group; h++) {
        top[h] = -1e30f;
        total[h] = 0;
    }
    memset(sum, 0, sizeof sum);
    const struct ifm_kv_piece_sums sums = {top, total, sum};
    for (size_t i = from; i < to; i++) {
        const unsigned char *page = bench->pages[arm->format] + i * l->page_bytes;
        arm->kernel->fn.kv_attend(l, page, IFM_KV_PAGE, arm->group, bench->query, &sums, scratch,
                                  i + 1 < to ? page + l->page_bytes : NULL);
    }
    bench->sums[index][0] += (uint64_t)(total[0] > 0);
}

static void work(struct bench *bench, unsigned index)
{
    const struct arm *arm = bench->current;
    for (unsigned i = 0; arm->group > 0 && i < bench->repeat; i++)
        attend(bench, arm, index);
    if (arm->group > 0)
        return;
    const size_t lines = bench->bytes / SLICES / IFM_LINE, start = lines * bench->slice;
    const size_t from = start + lines * index / bench->threads, to = start + lines * (index + 1) / bench->threads;
    for (unsigned i = 0; i < bench->repeat; i++)
        bench->sums[index][0] += arm->kernel->fn.read(bench->pages[0] + from * IFM_LINE, (to - from) * IFM_LINE);
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

static double time_arm(struct bench *bench, const struct arm *arm, unsigned round)
{
    bench->current = arm;
    bench->slice = (round + 5 * (unsigned)(arm - bench->arms)) % SLICES; /* not the one that the last arm has read */
    struct ifm_instant start = ifm_clock_now();
    barrier(bench);
    work(bench, 0);
    barrier(bench);
    return (double)ifm_clock_since(start).ns / bench->repeat;
}

/* Random codes; scales and zeros like those of values of about 1. One page is drawn, the others are its copies with
 * other codes in front, as only sizes matter here. */
static void fill(const struct ifm_kv_layout *l, unsigned char *pages, size_t bytes)
{
    struct ifm_random random = ifm_random_start(3, l->format);
    unsigned char *page = pages;
    for (size_t i = 0; i < l->page_bytes; i++) {
        page[i] = (unsigned char)ifm_random_u32(&random);
        if (l->format == IFM_KV_E4M3 && (page[i] & 0x7f) == 0x7f)
            page[i] ^= 1;
        if (l->format == IFM_KV_INT8 && page[i] == 0x80)
            page[i] = 0;
    }
    const uint16_t scale = ifm_f32_to_f16(4.0f / (float)((1U << l->bits) - 1)), zero = ifm_f32_to_f16(-2.0f);
    const float plain = 0.01f;
    if (l->format == IFM_KV_F16) {
        for (size_t i = 0; i < l->page_bytes / 2; i++) {
            const uint16_t value = ifm_f32_to_f16((float)ifm_random_normal(&random));
            memcpy(page + 2 * i, &value, 2);
        }
    } else if (l->format == IFM_KV_E4M3) {
        memcpy(page + l->k_scale, &plain, sizeof plain);
        memcpy(page + l->v_scale, &plain, sizeof plain);
    } else {
        for (size_t d = 0; d < l->head_dim; d++) {
            const uint16_t wide = ifm_f32_to_f16(6 * ifm_f16_to_f32(scale)); /* a few outlier channels */
            memcpy(page + l->k_scale + 2 * d, d % 32 == 5 ? &wide : &scale, 2);
            memcpy(page + l->k_zero + 2 * d, &zero, 2);
        }
        for (size_t t = 0; t < l->tokens; t++)
            memcpy(page + l->v_scale + 2 * t, &scale, 2);
        for (size_t i = 0; i < l->n_promoted; i++)
            page[l->promoted + i] = (unsigned char)(i * 8 + 5);
    }
    for (size_t i = 1; i < bytes / l->page_bytes; i++)
        memcpy(page + i * l->page_bytes, page, l->page_bytes);
}

static void add_arms(struct bench *bench, const char *isa, unsigned group)
{
    for (int f = 0; f < IFM_KV_FORMATS; f++) {
        char op[32];
        snprintf(op, sizeof op, "kv_attend.%s", ifm_kv_format_name((enum ifm_kv_format)f));
        const struct ifm_kernel *kernel = ifm_kernel_find(op, isa);
        if (kernel != NULL && bench->n_arms < ARMS_LIMIT)
            bench->arms[bench->n_arms++] = (struct arm){kernel, isa, (enum ifm_kv_format)f, group, {0}};
    }
}

/* The time of a dependent multiplication, three cycles on the machines that this is for. */
static double cycle_ns(void)
{
    enum { N = 100000 };
    double least = 1e30;
    for (int i = 0; i < 50; i++) {
        uint64_t x = (uint64_t)i;
        struct ifm_instant start = ifm_clock_now();
        for (int j = 0; j < N; j++) {
            x *= x;
            __asm__ volatile("" : "+r"(x));
        }
        const double ns = (double)ifm_clock_since(start).ns / (3.0 * N);
        least = ns < least ? ns : least;
    }
    return least;
}

/* Cycles a token that the inner loops need at least, with one 512-bit multiply-add or byte product a cycle, two of 256
 * bits. D channels, G heads, K and V:
 *   f16, e4m3      2 D / lanes multiply-adds for each head (conversions go beside them)
 *   int8, VNNI     4 D / 64 byte products for each head: high and low bytes, K and V
 *   int4, VNNI     2 D / 64 for each head; the quads of outliers come on top
 *   int2, VNNI     (2 D + D / 8) / 64 for each head
 *   codes, avx2    (2 D + low bits) / 16 products of words for each head, two of 256 bits a cycle */
static double floor_cycles(const struct arm *arm, double dim)
{
    const bool plain = arm->format == IFM_KV_F16 || arm->format == IFM_KV_E4M3;
    const bool wide = strncmp(arm->kernel->isa, "avx512", 6) == 0;
    double heads = arm->group, low = arm->format == IFM_KV_INT2 ? dim / 8 : 0;
    if (plain)
        return 2 * dim / 16 * heads;
    if (wide)
        return (2 * dim + low) / 64 * heads * (arm->format == IFM_KV_INT8 ? 2 : 1);
    return (2 * dim + low) / 16 / 2 * heads;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(struct bench *bench)
{
    double ceiling = 0, plain = 0;
    const double cycle = cycle_ns();
    printf("%u threads, D %u, %.2f GHz\n", bench->threads, bench->dim, 1 / cycle);
    printf("%-16s %-10s %5s %9s %8s %7s %7s %7s %7s %7s %6s\n", "arm", "isa", "group", "ns/token", "median", "GB/s",
           "%read", "ratio", "cycles", "floor", "of it");
    for (size_t a = 0; a < bench->n_arms; a++) {
        struct arm *arm = &bench->arms[a];
        qsort(arm->ns, bench->rounds, sizeof *arm->ns, by_value);
        const double least = arm->ns[0], median = arm->ns[bench->rounds / 2];
        if (arm->group == 0) {
            const double rate = (double)(bench->bytes / SLICES / IFM_LINE * IFM_LINE) / least;
            ceiling = rate > ceiling ? rate : ceiling;
            printf("%-16s %-10s %5s %9s %8s %7.2f\n", arm->kernel->op, arm->kernel->isa, "", "", "", rate);
            continue;
        }
        const double tokens = (double)(pages_of(bench, arm) * IFM_KV_PAGE) / bench->threads;
        const double rate = (double)(pages_of(bench, arm) * bench->layouts[arm->format].page_bytes) / least;
        const double ns = least / tokens, floor = floor_cycles(arm, bench->dim);
        if (arm->format == IFM_KV_F16)
            plain = ns;
        printf("%-16s %-10s %5u %9.3f %8.3f %7.2f %6.1f%% %6.2fx %7.1f %7.1f %5.0f%%\n", arm->kernel->op,
               arm->kernel->isa, arm->group, ns, median / tokens, rate, 100 * rate / ceiling, plain / ns, ns / cycle,
               floor, 100 * floor * cycle / ns);
    }
}

static void prepare(struct bench *bench)
{
    struct ifm_random random = ifm_random_start(5, 0);
    for (int f = 0; f < IFM_KV_FORMATS; f++) {
        bench->layouts[f] = ifm_kv_layout_of((enum ifm_kv_format)f, bench->dim);
        bench->pages[f] = room(bench->bytes);
        fill(&bench->layouts[f], bench->pages[f], bench->bytes);
    }
    bench->query = room(GROUP_MOST * IFM_KV_DIM_MOST * sizeof(float));
    for (size_t i = 0; i < (size_t)GROUP_MOST * bench->dim; i++)
        bench->query[i] = 0.127f * (float)ifm_random_normal(&random);
}

static void parse(struct bench *bench, int argc, char **argv, const char **isas, const char **groups)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const unsigned number = (unsigned)strtoul(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--threads") == 0)
            bench->threads = number;
        else if (strcmp(argv[i], "--rounds") == 0)
            bench->rounds = number;
        else if (strcmp(argv[i], "--mib") == 0)
            bench->bytes = (size_t)number << 20;
        else if (strcmp(argv[i], "--dim") == 0)
            bench->dim = number;
        else if (strcmp(argv[i], "--repeat") == 0)
            bench->repeat = number;
        else if (strcmp(argv[i], "--isa") == 0)
            *isas = argv[i + 1];
        else if (strcmp(argv[i], "--group") == 0)
            *groups = argv[i + 1];
    }
}

int main(int argc, char **argv)
{
    static struct bench bench = {.bytes = (size_t)128 << 20, .threads = 2, .rounds = 96, .dim = 128, .repeat = 1};
    const char *isas = "avx512vnni,avx2", *groups = "1,4,8";
    parse(&bench, argc, argv, &isas, &groups);
    if (bench.threads < 1 || bench.threads > THREADS_LIMIT || bench.repeat < 1 || bench.rounds < 1 ||
        bench.rounds > ROUNDS_LIMIT)
        return 2;
    static const char *const reads[] = {"read.linear", "read.streams4", "read.prefetch"};
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        bench.arms[bench.n_arms++] = (struct arm){ifm_kernel_find(reads[i], "auto"), "", IFM_KV_F16, 0, {0}};
    static char words[2][128];
    snprintf(words[0], sizeof words[0], "%s", isas);
    for (char *rest, *isa = strtok_r(words[0], ",", &rest); isa != NULL; isa = strtok_r(NULL, ",", &rest)) {
        snprintf(words[1], sizeof words[1], "%s", groups);
        for (char *more, *g = strtok_r(words[1], ",", &more); g != NULL; g = strtok_r(NULL, ",", &more))
            add_arms(&bench, isa, (unsigned)strtoul(g, NULL, 10) % (GROUP_MOST + 1));
    }
    prepare(&bench);
    pthread_t threads[THREADS_LIMIT];
    static struct worker workers[THREADS_LIMIT];
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
            bench.arms[a].ns[round == 0 ? 0 : round - 1] = time_arm(&bench, &bench.arms[a], round);
    bench.stop = true;
    barrier(&bench);
    for (unsigned i = 1; i < bench.threads; i++)
        pthread_join(threads[i], NULL);
    report(&bench);
    return 0;
}
