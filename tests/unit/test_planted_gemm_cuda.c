/* Every fault planted into gemm on the device cuda is refused, of each kernel and of the library: outputs spoiled after
 * a step, arguments that are others during it, weights that change, work that is left out.
 *
 * Memory is reached through the device alone, so that this program runs on a GPU too: tools/portable.sh carries it
 * there. In a build's tests the driver is the one of tests/fake_cuda. */
#include <cmocka.h>

#include "base/half.h"
#include "opened.h"
#include "planted.h"
#include "workload/gemm/cuda.h"

#include <math.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { SETTINGS_MOST = 16 };

/* ---- outputs: rows of n, read, changed and written back ---- */

struct view {
    float *out;
    uint16_t *bits;
    size_t rows, row;
};

static struct view read_outputs(const struct ifm_gemm_cuda *gemm)
{
    const size_t n = gemm->shape.m * gemm->shape.n;
    struct ifm_error error = {0};
    struct view v = {malloc(n * sizeof(float)), malloc(n * sizeof(uint16_t)), gemm->shape.m, gemm->shape.n};
    assert_true(v.out != NULL && v.bits != NULL);
    if (ifm_cuda_read(gemm->device, v.bits, gemm->arguments.out, n * sizeof *v.bits, &error) != IFM_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < n; i++)
        v.out[i] = gemm->shape.format == IFM_GEMM_BF16 ? ifm_bf16_to_f32(v.bits[i]) : ifm_f16_to_f32(v.bits[i]);
    return v;
}

static void write_outputs(const struct ifm_gemm_cuda *gemm, const struct view *v)
{
    const size_t n = v->rows * v->row;
    struct ifm_error error = {0};
    for (size_t i = 0; i < n; i++)
        v->bits[i] = gemm->shape.format == IFM_GEMM_BF16 ? ifm_f32_to_bf16(v->out[i]) : ifm_f32_to_f16(v->out[i]);
    if (ifm_cuda_write(gemm->device, gemm->arguments.out, v->bits, n * sizeof *v->bits, &error) != IFM_OK)
        fail_msg("%s", error.message);
    free(v->out);
    free(v->bits);
}

/* `n` values from `from` on: times `factor`, plus `term`. */
static void change(const struct view *v, size_t from, size_t n, float factor, float term)
{
    for (size_t i = from; i < from + n; i++)
        v->out[i] = v->out[i] * factor + term;
}

static void swap(const struct view *v, size_t a, size_t b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float kept = v->out[a + i];
        v->out[a + i] = v->out[b + i];
        v->out[b + i] = kept;
    }
}

/* The largest of all. */
static float *largest(const struct view *v)
{
    float *best = v->out;
    for (size_t i = 0; i < v->rows * v->row; i++)
        best = fabsf(v->out[i]) > fabsf(*best) ? v->out + i : best;
    return best;
}

#define ON_OUTPUTS(name, ...)                                                                                          \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        const struct ifm_gemm_cuda *gemm = state;                                                                      \
        const struct view view = read_outputs(gemm), *v = &view;                                                       \
        const size_t all = v->rows * v->row, panel = all / 2 / 16 * 16;                                                \
        (void)all;                                                                                                     \
        (void)panel;                                                                                                   \
        __VA_ARGS__;                                                                                                   \
        write_outputs(gemm, v);                                                                                        \
    }
ON_OUTPUTS(all_zero, change(v, 0, all, 0, 0))
ON_OUTPUTS(panel_zero, change(v, panel, 16, 0, 0))
ON_OUTPUTS(first_panel_zero, change(v, 0, 16, 0, 0))
ON_OUTPUTS(last_panel_zero, change(v, all - 16, 16, 0, 0))
ON_OUTPUTS(half_zero, change(v, all / 2, all / 2, 0, 0))
ON_OUTPUTS(every_other_zero, for (size_t i = 0; i < all; i += 2) v->out[i] = 0)
ON_OUTPUTS(value_zero, *largest(v) = 0)
ON_OUTPUTS(value_negative, *largest(v) *= -1)
ON_OUTPUTS(value_three_percent, *largest(v) *= 1.03f)
ON_OUTPUTS(panel_negative, change(v, panel, 16, -1, 0))
ON_OUTPUTS(one_percent_more, change(v, 0, all, 1.01f, 0))
ON_OUTPUTS(one_percent_less, change(v, 0, all, 0.99f, 0))
ON_OUTPUTS(a_constant_more, change(v, 0, all, 1, 0.02f * fabsf(*largest(v))))
ON_OUTPUTS(twice_as_much, change(v, 0, all, 2, 0))
ON_OUTPUTS(panel_half_as_much_again, change(v, panel, 16, 1.5f, 0))
ON_OUTPUTS(halves_of_a_panel_swapped, swap(v, panel, panel + 8, 8))
ON_OUTPUTS(panels_swapped, swap(v, panel - 16, panel, 16))
ON_OUTPUTS(far_panels_swapped, swap(v, 0, all - 16, 16))
ON_OUTPUTS(panel_twice, memcpy(v->out + panel, v->out + panel - 16, 16 * sizeof(float)))
ON_OUTPUTS(moved_by_one, memmove(v->out + 1, v->out, (all - 1) * sizeof(float)))
ON_OUTPUTS(not_a_number, v->out[panel] = NAN)
ON_OUTPUTS(infinite, v->out[all - 1] = INFINITY)

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

/* Bits of all matrices flip before a step and back behind it: what the check reads is right again. */
static void flip(const struct ifm_gemm_cuda *gemm, size_t byte, unsigned char bits)
{
    unsigned char bytes[256];
    struct ifm_error error = {0};
    for (uint64_t i = 0; i < gemm->layers; i++) {
        void *at = (void *)(uintptr_t)(gemm->matrices + i * gemm->bytes + byte);
        if (ifm_cuda_read(gemm->device, bytes, at, sizeof bytes, &error) != IFM_OK)
            fail_msg("%s", error.message);
        for (size_t j = 1; j < sizeof bytes; j += 2) /* the upper byte of each value of 16 bits */
            bytes[j] ^= bits;
        if (ifm_cuda_write(gemm->device, at, bytes, sizeof bytes, &error) != IFM_OK)
            fail_msg("%s", error.message);
    }
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

#define AFTER(what, fault)                                                                                             \
    {                                                                                                                  \
        what, NULL, fault, 0, false                                                                                    \
    }
#define ROUND(what, fault)                                                                                             \
    {                                                                                                                  \
        what, fault, fault, 0, false                                                                                   \
    }
static const struct planted_fault faults[] = {
    {"no step is done", NULL, NULL, 1, false},
    {"idle after the first step", NULL, NULL, 2, false},
    {"idle before the last measured step", NULL, NULL, 4, false},
    {"idle on the last measured step alone", NULL, NULL, -4, false},
    {"idle after the last measured step", NULL, NULL, 5, false},
    AFTER("all are zero", all_zero),
    AFTER("a panel is zero", panel_zero),
    AFTER("the first panel is zero", first_panel_zero),
    AFTER("the last panel is zero", last_panel_zero),
    AFTER("half is zero", half_zero),
    AFTER("every other one is zero", every_other_zero),
    AFTER("a value is zero", value_zero),
    AFTER("a value has the other sign", value_negative),
    AFTER("a value x 1.03", value_three_percent),
    AFTER("a panel has the other sign", panel_negative),
    AFTER("all x 1.01", one_percent_more),
    AFTER("all x 0.99", one_percent_less),
    AFTER("a constant more", a_constant_more),
    AFTER("all x 2", twice_as_much),
    AFTER("a panel x 1.5", panel_half_as_much_again),
    AFTER("the halves of a panel swapped", halves_of_a_panel_swapped),
    AFTER("neighbouring panels swapped", panels_swapped),
    AFTER("far panels swapped", far_panels_swapped),
    AFTER("a panel twice", panel_twice),
    AFTER("all moved by one", moved_by_one),
    AFTER("not a number", not_a_number),
    AFTER("infinite", infinite),
    ROUND("other first weights", first_weights),
    ROUND("other weights in the middle", middle_weights),
    ROUND("other last weights", last_weights),
};
/* A graph keeps the arguments of its first step: planted where each step is launched by itself. */
static const struct planted_fault arguments[] = {
    {"activations a few values on", activations_a_few_on, undo, 0, false},
};

/* ---- the bench ---- */

struct bench {
    struct ifm_arena *arena;
    struct ifm_machine machine;
};

static int setup(void **context)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct ifm_error error = {0};
    bench->arena = ifm_arena_create();
    *context = bench;
    if (ifm_device_cuda.describe(0, &bench->machine, &error) == IFM_OK)
        return 0;
    print_error("%s\n", error.message);
    return -1;
}

static int teardown(void **context)
{
    struct bench *bench = *context;
    ifm_arena_destroy(bench->arena);
    free(bench);
    return 0;
}

static void refuse_arm(struct bench *bench, const struct ifm_arm *arm, bool no_graphs)
{
    const struct ifm_device_options options = {.threads = 1, .no_graphs = no_graphs};
    struct ifm_device *device;
    struct ifm_error error = {0};
    struct opened opened;
    if (ifm_device_cuda.open(&options, &device, &error) != IFM_OK ||
        open_arm_on(&ifm_workload_gemm, arm, "cuda", device, 1, 7, bench->arena, &opened, &error) != IFM_OK)
        fail_msg("%s: %s", arm->name, error.message);
    const char *what = ifm_arena_printf(bench->arena, "%s, graphs %d", arm->name, !no_graphs);
    refuses_every_fault(&opened, what, faults, COUNT(faults), true);
    if (no_graphs)
        refuses_every_fault(&opened, what, arguments, COUNT(arguments), true);
    ifm_implementation_close(opened.by, opened.state);
    device->ops->close(device);
}

/* Settings as "path=value path=value", below gemm. */
static void refuse_cell(struct bench *bench, const char *text, size_t n_arms)
{
    struct ifm_setting settings[SETTINGS_MOST];
    size_t n = 0;
    for (char *at = strtok(ifm_arena_strdup(bench->arena, text), " "); at != NULL; at = strtok(NULL, " ")) {
        char *equals = strchr(at, '=');
        assert_true(equals != NULL && n < SETTINGS_MOST);
        *equals = '\0';
        settings[n++] = (struct ifm_setting){ifm_arena_printf(bench->arena, "gemm.%s", at), equals + 1};
    }
    struct ifm_arm_list arms;
    struct ifm_error error = {0};
    const char *why_not = NULL;
    if (ifm_workload_gemm.describe(settings, n, &bench->machine, bench->arena, &arms, &why_not, &error) != IFM_OK)
        fail_msg("%s", error.message);
    if (why_not != NULL)
        fail_msg("%s", why_not);
    assert_int_equal(arms.n, n_arms);
    give_settings(&arms, settings, n);
    for (size_t i = 0; i < arms.n; i++) {
        refuse_arm(bench, &arms.items[i], true);
        refuse_arm(bench, &arms.items[i], false);
        planted_count("gemm", "cuda", arms.items[i].name, COUNT(faults));
    }
}

/* The library, and our kernels of four formats. */
static void one_activation(void **context)
{
    refuse_cell(*context, "m=1 n=128 k=256 layers=3", 6);
}

/* A depth whose last pair of groups is half full. */
static void odd_groups(void **context)
{
    refuse_cell(*context, "m=3 n=64 k=320 group=64 layers=2 weights=int8,int4 arms=naive,ours", 4);
}

static void many_activations(void **context)
{
    refuse_cell(*context, "m=20 n=64 k=64 group=32 layers=1 weights=f16,int8,int4 arms=ours", 3);
}

static void plainly(void **context)
{
    refuse_cell(*context, "m=2 n=64 k=192 layers=2 weights=f16,bf16 arms=naive", 2);
}

int main(void)
{
#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_BENCH(one_activation),
        WITH_BENCH(odd_groups),
        WITH_BENCH(many_activations),
        WITH_BENCH(plainly),
        cmocka_unit_test(planted_table_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
