/* Every fault planted into attention on the device cuda is refused, of each kernel and of the library: outputs spoiled
 * after a step, keys that change during it, work that is left out, in whichever of the layers that steps take in turn.
 */
#include <cmocka.h>

#include "opened.h"
#include "planted.h"
#include "planted_cuda.h"
#include "planted_outputs.h"
#include "workload/attention/gpu.h"

static struct view view_of(void *state)
{
    const struct ifm_attention_gpu *gpu = state;
    return (struct view){gpu->device, ifm_attention_gpu_layer(gpu, gpu->turn).of.out,
                         gpu->shape.storage == IFM_STORE_BF16 ? VIEW_BF16 : VIEW_F16, gpu->q_bytes / sizeof(uint16_t),
                         gpu->shape.head_dim};
}

/* To the last 64 bytes of the last row of a tensor. */
static size_t last_row(const struct ifm_attention_gpu *gpu, const struct ifm_strides *at, uint64_t heads)
{
    const struct ifm_attention_shape *s = &gpu->shape;
    return 2 * (ifm_strides_head(at, s->batch - 1, heads - 1) + (s->seq_len - 1) * at->row + s->head_dim) - 64;
}

#define FLIP(name, tensor, byte)                                                                                       \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        const struct ifm_attention_gpu *gpu = state;                                                                   \
        for (unsigned i = 0; i < gpu->layers; i++)                                                                     \
            planted_flip(gpu->device, (const char *)ifm_attention_gpu_layer(gpu, i).of.tensor + (byte), 64, 0x88);     \
    }
FLIP(first_key, k, 0)
FLIP(first_value, v, 0)
FLIP(last_value, v, last_row(gpu, &gpu->at.kv, gpu->shape.kv_heads))
/* The first one sees a single key, whatever it is. */
FLIP(last_query, q, last_row(gpu, &gpu->at.q, gpu->shape.q_heads))

static const struct planted_fault inputs[] = {
    ROUND("another first key", first_key),
    ROUND("another first value", first_value),
    ROUND("another last value", last_value),
    ROUND("another last query", last_query),
};

static const struct fault_list lists[] = {LIST(output_faults), LIST(inputs), END_OF_LISTS};

#define GROUPED "batch=2 q_heads=4 kv_heads=2 seq_len=33 head_dim=32 causal=true arms=cudnn,ours,mma,naive "
static void f16(void **context)
{
    refuse_cell(*context, &ifm_workload_attention, GROUPED "layers=3 storage=f16", 4, lists);
}

static void bf16(void **context)
{
    refuse_cell(*context, &ifm_workload_attention, GROUPED "layers=1 storage=bf16", 4, lists);
}

static void over_views(void **context)
{
    refuse_cell(*context, &ifm_workload_attention, GROUPED "layers=2 storage=f16 layout=qkv_packed", 4, lists);
}

/* 33 tokens go through mma.sync, 257 through wgmma: one head of them, as the driver of host memory takes long, and not
 * causal, as the last of so many values weighs little in the one query that would see it. */
static void many_tokens(void **context)
{
    refuse_cell(*context, &ifm_workload_attention,
                "batch=1 q_heads=1 kv_heads=1 seq_len=257 head_dim=64 causal=false arms=ours layers=2 storage=f16", 1,
                lists);
}

/* ---- layers ---- */

enum { LAYERS = 3 };

static void read_layer(const struct ifm_attention_gpu *gpu, unsigned layer, void *to)
{
    planted_read(gpu->device, to, ifm_attention_gpu_layer(gpu, layer).of.out, gpu->q_bytes);
}

/* What changes in Q, K or V of one layer shows in the outputs of that layer alone, whichever layer a run begins with.
 */
static void reads_its_own(const struct opened *opened)
{
    const struct ifm_attention_gpu *gpu = opened->state;
    char *plain = malloc(gpu->q_bytes), *out = malloc(gpu->q_bytes);
    assert_true(plain != NULL && out != NULL);
    opened->by->step(opened->state, LAYERS);
    read_layer(gpu, 0, plain);
    for (unsigned i = 0; i < 3 * LAYERS; i++) {
        const struct ifm_attention_arguments a = ifm_attention_gpu_layer(gpu, i % LAYERS).of;
        const void *const at[] = {(const char *)a.q + gpu->q_bytes - 64, a.k, a.v};
        opened->by->spoil(opened->state, true);
        planted_flip(gpu->device, at[i / LAYERS], 64, 0x88);
        opened->by->step(opened->state, LAYERS + 1);
        planted_flip(gpu->device, at[i / LAYERS], 64, 0x88);
        for (unsigned layer = 0; layer < LAYERS; layer++) {
            read_layer(gpu, layer, out);
            assert_true((memcmp(out, plain, gpu->q_bytes) != 0) == (layer == i % LAYERS));
        }
    }
    free(plain);
    free(out);
}

static bool accepts(const struct opened *opened)
{
    struct ifm_check check;
    struct ifm_error error = {0};
    if (opened->by->check(opened->state, &check, &error) != IFM_OK)
        fail_msg("%s", error.message);
    return accepted(&check, opened->opening.arm->tolerance) && !check.sets_differ;
}

/* A value of each layer that was written is enough, and the layers that were not are none. */
static void is_checked(const struct opened *opened)
{
    const struct ifm_attention_gpu *gpu = opened->state;
    for (unsigned written = 1; written <= LAYERS; written++)
        for (unsigned back = 0; back < LAYERS; back++) {
            opened->by->spoil(opened->state, true);
            opened->by->step(opened->state, written);
            assert_true(accepts(opened));
            const struct ifm_attention_arguments a =
                ifm_attention_gpu_layer(gpu, (gpu->turn + LAYERS - back) % LAYERS).of;
            planted_flip(gpu->device, (const char *)a.out + gpu->q_bytes - 64, 64, 0x40);
            assert_true(accepts(opened) == (back >= written));
        }
}

static void each_layer(void **context)
{
    struct bench *bench = *context;
    struct ifm_setting settings[PLANTED_SETTINGS];
    const size_t n = planted_settings(bench->arena, "attention.", GROUPED "layers=3 storage=f16", settings);
    struct ifm_arm_list arms;
    struct ifm_error error = {0};
    const char *why_not = NULL;
    assert_int_equal(
        ifm_workload_attention.describe(settings, n, &bench->machine, bench->arena, &arms, &why_not, &error), IFM_OK);
    if (why_not != NULL)
        skip();
    give_settings(&arms, settings, n);
    for (size_t i = 0; i < 2 * arms.n; i++) {
        const struct ifm_device_options options = planted_options(i % 2 == 0);
        struct ifm_device *device;
        struct opened opened;
        if (ifm_device_cuda.open(&options, &device, &error) != IFM_OK ||
            open_arm_on(&ifm_workload_attention, &arms.items[i / 2], "cuda", device, 1, 7, bench->arena, &opened,
                        &error) != IFM_OK)
            fail_msg("%s: %s", arms.items[i / 2].name, error.message);
        reads_its_own(&opened);
        is_checked(&opened);
        ifm_implementation_close(opened.by, opened.state);
        device->ops->close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {WITH_BENCH(f16),        WITH_BENCH(bf16),
                                       WITH_BENCH(over_views), WITH_BENCH(many_tokens),
                                       WITH_BENCH(each_layer), cmocka_unit_test(planted_table_is_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
