/* Every fault planted into gemm on the device cuda is refused, of each kernel and of the library: outputs spoiled after
 * a step, arguments that are others during it, weights that change, work that is left out. */
#include <cmocka.h>

#include "opened.h"
#include "planted.h"
#include "planted_cuda.h"
#include "planted_outputs.h"
#include "workload/gemm/cuda.h"

enum { PANEL = 16 };

static struct view view_of(void *state)
{
    const struct ifm_gemm_cuda *gemm = state;
    return (struct view){gemm->device, gemm->arguments.out, gemm->shape.format == IFM_GEMM_BF16 ? VIEW_BF16 : VIEW_F16,
                         gemm->shape.m * gemm->shape.n, PANEL};
}

/* ---- arguments and weights during a step ---- */

static struct ifm_gemm_cuda kept;

static void undo(void *state)
{
    struct ifm_gemm_cuda *gemm = state;
    const unsigned turn = gemm->turn;
    *gemm = kept;
    gemm->turn = turn;
}

#define DURING(name, ...)                                                                                              \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        struct ifm_gemm_cuda *gemm = state;                                                                            \
        kept = *gemm;                                                                                                  \
        __VA_ARGS__;                                                                                                   \
    }
/* Buffers have 16 bytes more than was asked for. */
DURING(activations_a_few_on, gemm->arguments.x = (const char *)gemm->arguments.x + 16)

/* Of all matrices. */
static void flip(const struct ifm_gemm_cuda *gemm, size_t byte, unsigned char bits)
{
    for (uint64_t i = 0; i < gemm->layers; i++)
        planted_flip(gemm->device, gemm->matrices + i * gemm->bytes + byte, 256, bits);
}

#define FLIP(name, byte, bits)                                                                                         \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        const struct ifm_gemm_cuda *gemm = state;                                                                      \
        flip(gemm, byte, bits);                                                                                        \
    }
FLIP(first_weights, 64, 0x88)
FLIP(middle_weights, gemm->bytes / 2 / 64 * 64, 0x88)
FLIP(last_weights, gemm->bytes - 256, 0x88)

static const struct planted_fault weights[] = {
    ROUND("other first weights", first_weights),
    ROUND("other weights in the middle", middle_weights),
    ROUND("other last weights", last_weights),
};
static const struct planted_fault arguments[] = {WHILE("activations a few values on", activations_a_few_on)};

static const struct fault_list lists[] = {LIST(output_faults), LIST(weights), LIST_OF_ARGUMENTS(arguments, NULL),
                                          END_OF_LISTS};

/* The library, and our kernels of four formats. */
static void one_activation(void **context)
{
    refuse_cell(*context, &ifm_workload_gemm, "m=1 n=128 k=256 layers=3", 6, lists);
}

/* A depth whose last pair of groups is half full. */
static void odd_groups(void **context)
{
    refuse_cell(*context, &ifm_workload_gemm, "m=3 n=64 k=320 group=64 layers=2 weights=int8,int4 arms=naive,ours", 4,
                lists);
}

static void many_activations(void **context)
{
    refuse_cell(*context, &ifm_workload_gemm, "m=20 n=64 k=64 group=32 layers=1 weights=f16,int8,int4 arms=ours", 3,
                lists);
}

static void by_wgmma(void **context)
{
    refuse_cell(*context, &ifm_workload_gemm, "m=40 n=64 k=64 group=32 layers=1 weights=f16,int8,int4 arms=ours", 3,
                lists);
}

/* As many rows of the weights as the kernels by tiles take. */
static void by_tiles(void **context)
{
    struct bench *bench = *context;
    const unsigned rows = 128 * (bench->machine.gpu->multiprocessors / 2 + 1);
    refuse_cell(bench, &ifm_workload_gemm,
                ifm_arena_printf(bench->arena, "m=66 n=%u k=64 layers=2 weights=f16 arms=ours", rows), 1, lists);
}

/* And those whose blocks share k. */
static void in_parts(void **context)
{
    struct bench *bench = *context;
    const unsigned rows = 128 * (bench->machine.gpu->multiprocessors / 2);
    refuse_cell(bench, &ifm_workload_gemm,
                ifm_arena_printf(bench->arena, "m=66 n=%u k=2048 layers=2 weights=f16 arms=ours", rows), 1, lists);
}

static void plainly(void **context)
{
    refuse_cell(*context, &ifm_workload_gemm, "m=2 n=64 k=192 layers=2 weights=f16,bf16 arms=naive", 2, lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BENCH(one_activation),   WITH_BENCH(odd_groups),
        WITH_BENCH(many_activations), WITH_BENCH(by_wgmma),
        WITH_BENCH(by_tiles),         WITH_BENCH(in_parts),
        WITH_BENCH(plainly),          cmocka_unit_test(planted_table_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
