/* How many queries a block of attention's library arm should have: OpenBLAS products with our softmax at several block
 * sizes beside our kernel, in turn, on one thread, f32, one sequence of one head. Prints the best of all rounds in
 * GFLOP/s, and the best of the multiply-add probe.
 *
 * bench_attention [TOKENS [HEAD_DIM [CAUSAL [ROUNDS]]]] */
#include "workload/attention/blas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZES = 12, PROBE_ROUNDS = 20000 };

static const uint32_t blocks[SIZES] = {16, 24, 32, 48, 64, 96, 128, 160, 192, 256, 384, 512};

struct contestant {
    struct ifm_attention_job job;
    double best_s;
};

static struct ifm_attention_blas library;
static const struct ifm_kernel *ours;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *room(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory == NULL)
        exit(1);
    memset(memory, 0, bytes);
    return memory;
}

/* `block` 0 is ours, with the blocks of its own. */
static struct contestant enter(const struct ifm_attention_job *inputs, uint32_t block)
{
    struct contestant one = {*inputs, INFINITY};
    const struct ifm_attention_shape *s = &inputs->shape;
    one.job.block = block != 0 ? block : ifm_attention_block(s, 1);
    one.job.n_units = ifm_attention_units(s, one.job.block);
    struct ifm_attention_unit *units = room(one.job.n_units * sizeof *units);
    ifm_attention_plan(s, inputs->lengths, one.job.block, units);
    one.job.units = units;
    one.job.scratch = room(
        sizeof(float) * (block != 0 ? ifm_attention_blas_scratch_floats(s, block) : ifm_attention_scratch_floats(s)));
    return one;
}

static void turn(struct contestant *one, bool is_ours)
{
    *one->job.next = 0;
    const double start = now_s();
    if (is_ours)
        ours->fn.attention(&one->job, 0);
    else
        ifm_attention_blas(&library, &one->job, one->job.scratch);
    one->best_s = fmin(one->best_s, now_s() - start);
}

static double probe(const struct ifm_kernel *kernel)
{
    const double start = now_s();
    volatile uint64_t sum = kernel->fn.flops(PROBE_ROUNDS, -1, 3);
    (void)sum;
    return (double)PROBE_ROUNDS * kernel->flops_per_round / (now_s() - start) * 1e-9;
}

static unsigned long argument(int argc, char **argv, int i, unsigned long fallback)
{
    return i < argc ? strtoul(argv[i], NULL, 10) : fallback;
}

int main(int argc, char **argv)
{
    const char *why_not = NULL;
    const struct ifm_attention_shape s = {1,
                                          1,
                                          1,
                                          argument(argc, argv, 1, 2048),
                                          argument(argc, argv, 2, 64),
                                          argument(argc, argv, 3, 0) != 0,
                                          IFM_STORE_F32};
    const unsigned long rounds = argument(argc, argv, 4, 20);
    library = (struct ifm_attention_blas){ifm_openblas_load(&why_not), ifm_kernel_find("attention.softmax", "auto"),
                                          ifm_kernel_find("attention.widen", "auto"),
                                          ifm_kernel_find("attention.store", "auto")};
    ours = ifm_kernel_find("attention.tiled", "auto");
    if (library.library == NULL) {
        fprintf(stderr, "%s\n", why_not);
        return 1;
    }
    const size_t n = s.seq_len * s.head_dim;
    float *values = room(4 * n * sizeof *values);
    for (size_t i = 0; i < 3 * n; i++)
        values[i] = (float)((double)(i * 2654435761U % 1000003) / 500001.5 - 1);
    const uint32_t length = (uint32_t)s.seq_len;
    uint64_t *next = room(64);
    const struct ifm_attention_job inputs = {.shape = s,
                                             .q = values,
                                             .k = values + n,
                                             .v = values + 2 * n,
                                             .out = values + 3 * n,
                                             .at = ifm_attention_views_of(&s, IFM_CONTIGUOUS),
                                             .lengths = &length,
                                             .next = next};
    struct contestant all[SIZES + 1];
    for (int i = 0; i <= SIZES; i++)
        all[i] = enter(&inputs, i < SIZES ? blocks[i] : 0);
    double ceiling = 0;
    for (unsigned long r = 0; r < rounds; r++)
        for (int i = 0; i <= SIZES; i++) {
            turn(&all[i], i == SIZES);
            ceiling = fmax(ceiling, probe(ifm_kernel_find("flops.fma12", "auto")));
        }
    const double gflop = 4e-9 * (double)s.head_dim * (double)ifm_attention_pairs(s.seq_len, s.causal, 0, s.seq_len);
    for (int i = 0; i < SIZES; i++)
        printf("%s, blocks of %3u: %6.1f GFLOP/s\n", library.library->name, blocks[i], gflop / all[i].best_s);
    printf("ours: %6.1f GFLOP/s; multiply-adds alone: %6.1f GFLOP/s\n", gflop / all[SIZES].best_s, ceiling);
    return 0;
}
