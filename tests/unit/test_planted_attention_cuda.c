/* Every fault planted into attention on the device cuda is refused, of each kernel and of the library: outputs spoiled
 * after a step, keys that change during it, work that is left out. */
#include <cmocka.h>

#include "opened.h"
#include "planted.h"
#include "planted_cuda.h"
#include "planted_outputs.h"
#include "workload/attention/gpu.h"

static struct view view_of(void *state)
{
    const struct ifm_attention_gpu *gpu = state;
    return (struct view){gpu->device, gpu->arguments.out, gpu->shape.storage == IFM_STORE_BF16 ? VIEW_BF16 : VIEW_F16,
                         gpu->q_bytes / sizeof(uint16_t), gpu->shape.head_dim};
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
        planted_flip(gpu->device, (const char *)gpu->arguments.tensor + (byte), 64, 0x88);                             \
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
    refuse_cell(*context, &ifm_workload_attention, GROUPED "storage=f16", 4, lists);
}

static void bf16(void **context)
{
    refuse_cell(*context, &ifm_workload_attention, GROUPED "storage=bf16", 4, lists);
}

static void over_views(void **context)
{
    refuse_cell(*context, &ifm_workload_attention, GROUPED "storage=f16 layout=qkv_packed", 4, lists);
}

/* 33 tokens go through mma.sync, 257 through wgmma: one head of them, as the driver of host memory takes long, and not
 * causal, as the last of so many values weighs little in the one query that would see it. */
static void many_tokens(void **context)
{
    refuse_cell(*context, &ifm_workload_attention,
                "batch=1 q_heads=1 kv_heads=1 seq_len=257 head_dim=64 causal=false arms=ours storage=f16", 1, lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {WITH_BENCH(f16), WITH_BENCH(bf16), WITH_BENCH(over_views),
                                       WITH_BENCH(many_tokens), cmocka_unit_test(planted_table_is_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
