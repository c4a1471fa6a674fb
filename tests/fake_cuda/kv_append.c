/* What the kernels of kv_append.cu do, in C. */
#include "fake_cuda/internal.h"

#include "base/half.h"
#include "kernel/cuda/kv_append.h"

#include <string.h>

static bool owns(const void *address, uint64_t bytes)
{
    return fake_cuda_owns((uint64_t)(uintptr_t)address, bytes);
}

bool fake_kv_advance(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_kv_advance_of *advance = (const void *)launch->arguments;
    const struct ifm_kv_append_of *a = &advance->append;
    const uint32_t dim = a->head_dim, heads = advance->next.pairs * advance->next.group;
    if (launch->threads != 32 * IFM_KV_APPEND_WARPS || launch->blocks * IFM_KV_APPEND_WARPS < heads + a->pairs ||
        !owns(a->rows, (uint64_t)a->pairs * 2 * dim * sizeof *a->rows) ||
        !owns(a->lengths, a->pairs * sizeof *a->lengths) ||
        !owns(a->sides, (uint64_t)a->pairs * 2 * IFM_KV_SIDE * dim * sizeof *a->sides))
        return false;
    for (uint32_t head = 0; head < heads; head++)
        if (!fake_decode_feed(&advance->next, head))
            return false;
    for (uint32_t pair = 0; pair < a->pairs; pair++) {
        const uint32_t at = a->lengths[pair] + a->token, r = at - a->sink;
        const uint32_t part = at < a->sink ? 0 : 1 + r / 128 % 2, row = at < a->sink ? at : r % 128;
        uint16_t *to = a->sides + (uint64_t)pair * 2 * IFM_KV_SIDE * dim;
        for (uint32_t i = 0; i < 2 * dim; i++)
            to[ifm_kv_side_row(dim, part, row, i / dim) + i % dim] =
                ifm_f32_to_f16(a->rows[(uint64_t)pair * 2 * dim + i]) ^ (wrong && i == 0);
    }
    return true;
}

bool fake_kv_arrange(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_kv_arrange_of *a = (const void *)launch->arguments;
    const uint32_t bytes = a->layout.page_bytes;
    if (launch->threads != IFM_KV_ARRANGE_THREADS || a->n == 0 ||
        launch->blocks % (a->n * IFM_KV_ARRANGE_BLOCKS) != 0)
        return false;
    const uint32_t pages = launch->blocks / IFM_KV_ARRANGE_BLOCKS;
    if (!owns(a->places, a->n * sizeof *a->places) || !owns(a->from, (uint64_t)pages * bytes))
        return false;
    for (uint32_t i = 0; i < pages; i++) {
        unsigned char *to = a->to + i / a->n * a->layer + (uint64_t)a->places[i % a->n] * bytes;
        if (!owns(to, bytes))
            return false;
        for (uint32_t at = 0; at < bytes; at += 4) {
            const uint32_t word = ifm_kv_to_fragment(&a->layout, a->from + (uint64_t)i * bytes, at) ^ wrong;
            memcpy(to + at, &word, sizeof word);
        }
    }
    return true;
}
