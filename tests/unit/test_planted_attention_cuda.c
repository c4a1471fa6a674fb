/* Every fault planted into attention on the device cuda is refused, of each kernel and of the library: outputs spoiled
 * after a step, keys that change during it, work that is left out.
 *
 * Memory is reached through the device alone, so that this program runs on a GPU too: tools/portable.sh carries it
 * there. In a build's tests the driver is the one of tests/fake_cuda. */
#include <cmocka.h>

#include "base/half.h"
#include "opened.h"
#include "planted.h"
#include "workload/attention/gpu.h"

#include <math.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- outputs, read, changed and written back ---- */

struct view {
    float *out;
    uint16_t *bits;
    size_t n, row; /* values, and of a query */
};

static struct view read_outputs(const struct ifm_attention_gpu *gpu)
{
    const size_t n = gpu->q_bytes / sizeof(uint16_t);
    struct ifm_error error = {0};
    struct view v = {malloc(n * sizeof(float)), malloc(n * sizeof(uint16_t)), n, gpu->shape.head_dim};
    assert_true(v.out != NULL && v.bits != NULL);
    if (ifm_cuda_read(gpu->device, v.bits, gpu->arguments.out, gpu->q_bytes, &error) != IFM_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < n; i++)
        v.out[i] = gpu->shape.storage == IFM_STORE_BF16 ? ifm_bf16_to_f32(v.bits[i]) : ifm_f16_to_f32(v.bits[i]);
    return v;
}

static void write_outputs(const struct ifm_attention_gpu *gpu, const struct view *v)
{
    struct ifm_error error = {0};
    for (size_t i = 0; i < v->n; i++)
        v->bits[i] = gpu->shape.storage == IFM_STORE_BF16 ? ifm_f32_to_bf16(v->out[i]) : ifm_f32_to_f16(v->out[i]);
    if (ifm_cuda_write(gpu->device, gpu->arguments.out, v->bits, gpu->q_bytes, &error) != IFM_OK)
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

static float *largest(const struct view *v)
{
    float *best = v->out;
    for (size_t i = 0; i < v->n; i++)
        best = fabsf(v->out[i]) > fabsf(*best) ? v->out + i : best;
    return best;
}

#define ON_OUTPUTS(name, ...)                                                                                          \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        const struct ifm_attention_gpu *gpu = state;                                                                   \
        const struct view view = read_outputs(gpu), *v = &view;                                                        \
        const size_t all = v->n, row = v->row, middle = all / row / 2 * row;                                           \
        (void)row;                                                                                                     \
        (void)middle;                                                                                                  \
        __VA_ARGS__;                                                                                                   \
        write_outputs(gpu, v);                                                                                         \
        (void)all;                                                                                                     \
    }
ON_OUTPUTS(all_zero, change(v, 0, all, 0, 0))
ON_OUTPUTS(row_zero, change(v, middle, row, 0, 0))
ON_OUTPUTS(first_row_zero, change(v, 0, row, 0, 0))
ON_OUTPUTS(last_row_zero, change(v, all - row, row, 0, 0))
ON_OUTPUTS(half_zero, change(v, all / 2, all / 2, 0, 0))
ON_OUTPUTS(every_other_zero, for (size_t i = 0; i < all; i += 2) v->out[i] = 0)
ON_OUTPUTS(value_zero, *largest(v) = 0)
ON_OUTPUTS(value_negative, *largest(v) *= -1)
ON_OUTPUTS(value_three_percent, *largest(v) *= 1.03f)
ON_OUTPUTS(row_negative, change(v, middle, row, -1, 0))
ON_OUTPUTS(one_percent_more, change(v, 0, all, 1.01f, 0))
ON_OUTPUTS(one_percent_less, change(v, 0, all, 0.99f, 0))
ON_OUTPUTS(a_constant_more, change(v, 0, all, 1, 0.02f * fabsf(*largest(v))))
ON_OUTPUTS(twice_as_much, change(v, 0, all, 2, 0))
ON_OUTPUTS(row_half_as_much_again, change(v, middle, row, 1.5f, 0))
ON_OUTPUTS(halves_of_a_row_swapped, swap(v, middle, middle + row / 2, row / 2))
ON_OUTPUTS(rows_swapped, swap(v, middle - row, middle, row))
ON_OUTPUTS(far_rows_swapped, swap(v, 0, all - row, row))
ON_OUTPUTS(row_twice, memcpy(v->out + middle, v->out + middle - row, row * sizeof(float)))
ON_OUTPUTS(moved_by_one, memmove(v->out + 1, v->out, (all - 1) * sizeof(float)))
ON_OUTPUTS(not_a_number, v->out[middle] = NAN)
ON_OUTPUTS(infinite, v->out[all - 1] = INFINITY)

/* ---- inputs: bits flip before a step and back behind it, so that what the check reads is right again ---- */

static void flip(const struct ifm_attention_gpu *gpu, const void *of, size_t byte)
{
    unsigned char bytes[64];
    struct ifm_error error = {0};
    void *at = (char *)(uintptr_t)of + byte;
    if (ifm_cuda_read(gpu->device, bytes, at, sizeof bytes, &error) != IFM_OK)
        fail_msg("%s", error.message);
    for (size_t i = 1; i < sizeof bytes; i += 2) /* the upper byte of each value of 16 bits */
        bytes[i] ^= 0x88;
    if (ifm_cuda_write(gpu->device, at, bytes, sizeof bytes, &error) != IFM_OK)
        fail_msg("%s", error.message);
}

#define FLIP(name, tensor, byte)                                                                                       \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        const struct ifm_attention_gpu *gpu = state;                                                                   \
        flip(gpu, gpu->arguments.tensor, byte);                                                                        \
    }
FLIP(first_key, k, 0)
FLIP(first_value, v, 0)
FLIP(last_value, v, gpu->kv_bytes - 64)
FLIP(last_query, q, gpu->q_bytes - 64) /* the first one sees a single key, whatever it is */

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
    AFTER("a row is zero", row_zero),
    AFTER("the first row is zero", first_row_zero),
    AFTER("the last row is zero", last_row_zero),
    AFTER("half is zero", half_zero),
    AFTER("every other one is zero", every_other_zero),
    AFTER("a value is zero", value_zero),
    AFTER("a value has the other sign", value_negative),
    AFTER("a value x 1.03", value_three_percent),
    AFTER("a row has the other sign", row_negative),
    AFTER("all x 1.01", one_percent_more),
    AFTER("all x 0.99", one_percent_less),
    AFTER("a constant more", a_constant_more),
    AFTER("all x 2", twice_as_much),
    AFTER("a row x 1.5", row_half_as_much_again),
    AFTER("the halves of a row swapped", halves_of_a_row_swapped),
    AFTER("neighbouring rows swapped", rows_swapped),
    AFTER("far rows swapped", far_rows_swapped),
    AFTER("a row twice", row_twice),
    AFTER("all moved by one", moved_by_one),
    AFTER("not a number", not_a_number),
    AFTER("infinite", infinite),
    ROUND("another first key", first_key),
    ROUND("another first value", first_value),
    ROUND("another last value", last_value),
    ROUND("another last query", last_query),
};

/* 33 tokens go through mma.sync, 257 through wgmma: one head of them, as the driver of host memory takes long, and not
 * causal, as the last of so many values weighs little in the one query that would see it. */
static const struct {
    const char *storage, *tokens, *heads, *dim, *arms;
} shapes[] = {{"f16", "33", "4", "32", "cudnn,ours,mma,naive"},
              {"bf16", "33", "4", "32", "cudnn,ours,mma,naive"},
              {"f16", "257", "1", "64", "ours"}};

static void refuse_arms_of(size_t shape, const struct ifm_machine *machine, struct ifm_arena *arena)
{
    const bool grouped = strcmp(shapes[shape].heads, "4") == 0;
    struct ifm_setting settings[] = {
        {"attention.batch", grouped ? "2" : "1"},         {"attention.q_heads", shapes[shape].heads},
        {"attention.kv_heads", grouped ? "2" : "1"},      {"attention.seq_len", shapes[shape].tokens},
        {"attention.head_dim", shapes[shape].dim},        {"attention.storage", shapes[shape].storage},
        {"attention.causal", grouped ? "true" : "false"}, {"attention.arms", shapes[shape].arms}};
    struct ifm_error error = {0};
    struct ifm_arm_list arms;
    const char *why_not;
    if (ifm_workload_attention.describe(settings, COUNT(settings), machine, arena, &arms, &why_not, &error) != IFM_OK ||
        why_not != NULL)
        fail_msg("%s", why_not != NULL ? why_not : error.message);
    assert_int_equal(arms.n, grouped ? 4 : 1);
    give_settings(&arms, settings, COUNT(settings));
    for (size_t k = 0; k < arms.n; k++) {
        const struct ifm_device_options options = {.threads = 1};
        struct ifm_device *device;
        struct opened opened;
        if (ifm_device_cuda.open(&options, &device, &error) != IFM_OK ||
            open_arm_on(&ifm_workload_attention, &arms.items[k], "cuda", device, 1, 7, arena, &opened, &error) !=
                IFM_OK)
            fail_msg("%s: %s", arms.items[k].name, error.message);
        refuses_every_fault(&opened, arms.items[k].name, faults, COUNT(faults), true);
        planted_count(
            "attention", "cuda",
            ifm_arena_printf(arena, "%s %s %s", arms.items[k].name, shapes[shape].storage, shapes[shape].tokens),
            COUNT(faults));
        ifm_implementation_close(opened.by, opened.state);
        device->ops->close(device);
    }
}

static void refuse_arms(void **context)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_machine machine;
    struct ifm_error error = {0};
    (void)context;
    if (ifm_device_cuda.describe(0, &machine, &error) != IFM_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < COUNT(shapes); i++)
        refuse_arms_of(i, &machine, arena);
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refuse_arms), cmocka_unit_test(planted_table_is_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
