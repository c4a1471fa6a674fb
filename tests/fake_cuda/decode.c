/* What the kernels of decode.cu do, in C: the same blocks over the same tiles, joined in f32. */
#include "fake_cuda/internal.h"

#include "base/half.h"
#include "kernel/cuda/decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIM_MOST = 256 };

static bool owns(const void *address, uint64_t bytes)
{
    return fake_cuda_owns((uint64_t)(uintptr_t)address, bytes);
}

/* A query head's softmax over the tokens so far; weights are powers of 2. */
struct sums {
    float top, total, sum[DIM_MOST];
};

static void join(struct sums *to, const struct sums *from, unsigned dim)
{
    const float top = fmaxf(to->top, from->top), mine = exp2f(to->top - top), theirs = exp2f(from->top - top);
    to->total = to->total * mine + from->total * theirs;
    for (unsigned d = 0; d < dim; d++)
        to->sum[d] = to->sum[d] * mine + from->sum[d] * theirs;
    to->top = top;
}

static struct ifm_decode_unit unit_of(const struct ifm_decode_attend *a, uint32_t unit)
{
    const uint32_t tiles = (a->tokens + IFM_DECODE_TILE - 1) / IFM_DECODE_TILE;
    return a->tokens == 0 ? a->units[unit]
                          : (struct ifm_decode_unit){a->tokens, unit / a->parts * a->pages, unit * tiles};
}

/* One token of the unit; `q` is rounded as the kernel does. False: it lies in nobody's memory. */
static bool add_token(const struct ifm_decode_attend *a, const struct ifm_decode_unit *unit, uint32_t token,
                      const float *q, struct sums *to)
{
    const uint32_t at = unit->page + token / IFM_DECODE_PAGE;
    if (a->table != NULL && !owns(a->table + at, sizeof *a->table))
        return false;
    const uint64_t page = a->table != NULL ? a->table[at] : at;
    const uint64_t row = (page * IFM_DECODE_PAGE + token % IFM_DECODE_PAGE) * a->head_dim;
    if (!owns(a->k + row, a->head_dim * sizeof *a->k) || !owns(a->v + row, a->head_dim * sizeof *a->v))
        return false;
    struct sums one = {.total = 1};
    for (uint32_t d = 0; d < a->head_dim; d++) {
        one.top += q[d] * ifm_f16_to_f32(a->k[row + d]);
        one.sum[d] = ifm_f16_to_f32(a->v[row + d]);
    }
    one.top *= a->scale;
    join(to, &one, a->head_dim);
    return true;
}

static bool attend(const struct ifm_decode_attend *a, uint32_t unit, uint32_t head, uint32_t from, uint32_t to,
                   struct sums *out)
{
    const struct ifm_decode_unit tokens = unit_of(a, unit);
    const uint64_t pair = unit / a->parts, at = (pair * a->group + head) * a->head_dim;
    if (!owns(a->q + at, a->head_dim * sizeof *a->q))
        return false;
    *out = (struct sums){.top = -1e30f};
    for (uint32_t token = from; token < to && token < tokens.tokens; token++)
        if (!add_token(a, &tokens, token, a->q + at, out))
            return false;
    return true;
}

/* The outputs of a unit's head; of an empty sequence zero. */
static bool write_out(const struct ifm_decode_attend *a, uint32_t unit, uint32_t head, const struct sums *sums)
{
    const uint64_t pair = unit / a->parts;
    float *out = a->out + (pair * a->group + head) * a->head_dim;
    if (!owns(out, a->head_dim * sizeof *out))
        return false;
    for (uint32_t d = 0; d < a->head_dim; d++)
        out[d] = unit_of(a, unit).tokens > 0 ? sums->sum[d] / sums->total : 0;
    return true;
}

bool fake_decode_naive(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_decode_attend *a = (const void *)launch->arguments;
    for (unsigned block = 0; block < launch->blocks; block++) {
        const uint32_t head = block % a->group, unit = block / a->group * a->parts;
        struct sums sums;
        if (!attend(a, unit, head, 0, unit_of(a, unit).tokens, &sums) || !write_out(a, unit, head, &sums))
            return false;
    }
    a->out[0] *= wrong ? 1.5f : 1.0f;
    return true;
}

/* ---- split ---- */

/* The first tile of a block, among those of all units. */
static uint32_t share(const struct ifm_decode_attend *a, unsigned blocks, unsigned block)
{
    const uint32_t all = unit_of(a, a->n_units).tile;
    if (a->splits == 0)
        return block * (all / blocks) + (block < all % blocks ? block : all % blocks);
    const uint32_t unit = block / a->splits, first = unit_of(a, unit).tile;
    return block % a->splits == 0 ? first
                                  : first + (unit_of(a, unit + 1).tile - first) * (block % a->splits) / a->splits;
}

/* What a block adds to the heads of a unit. */
static bool add_block(const struct ifm_decode_attend *a, unsigned blocks, unsigned block, uint32_t unit,
                      struct sums *heads, uint32_t first, uint32_t n)
{
    const uint32_t begins = unit_of(a, unit).tile, ends = unit_of(a, unit + 1).tile;
    const uint32_t from = share(a, blocks, block), to = share(a, blocks, block + 1);
    struct sums sums;
    if (to <= begins || from >= ends)
        return true;
    if (!owns(a->partials + (2 * (uint64_t)block + 1) * (IFM_DECODE_HEAD + IFM_DECODE_HEADS * a->head_dim), 4) ||
        !owns(a->tickets + unit, sizeof *a->tickets))
        return false;
    for (uint32_t h = 0; h < n; h++) {
        const uint32_t low = from > begins ? from - begins : 0, high = (to < ends ? to : ends) - begins;
        if (!attend(a, unit, first + h, low * IFM_DECODE_TILE, high * IFM_DECODE_TILE, &sums))
            return false;
        join(&heads[h], &sums, a->head_dim);
    }
    return true;
}

static bool append(const struct ifm_decode_advance_of *a, uint32_t pair);

/* The queries of all heads, and the rows of all pairs; `a` then attends as outside a cycle. */
static bool feed(struct ifm_decode_attend *a)
{
    const uint32_t pairs = a->n_units / a->parts;
    const struct ifm_decode_advance_of next = {a->k,    a->v,  a->table, a->units, a->rows,     a->fresh,  a->output,
                                               a->made, pairs, a->group, a->parts, a->head_dim, a->tokens, a->pages};
    if (a->fresh == NULL)
        return true;
    for (uint64_t head = 0; head < (uint64_t)pairs * a->group; head++)
        if (!fake_decode_feed(&next, head))
            return false;
    for (uint32_t pair = 0; a->rows != NULL && pair < pairs; pair++)
        if (!append(&next, pair))
            return false;
    a->q = a->made;
    return true;
}

bool fake_decode_split(const struct fake_launch *launch, bool wrong)
{
    struct ifm_decode_attend fed, *a = &fed;
    memcpy(&fed, launch->arguments, sizeof fed);
    if (!feed(a))
        return false;
    if (launch->threads != 32 * IFM_DECODE_WARPS || (a->splits != 0 && launch->blocks != a->n_units * a->splits))
        return false;
    for (uint32_t unit = 0; unit < a->n_units; unit++) {
        const uint32_t first = unit % a->parts * IFM_DECODE_HEADS, left = a->group - first;
        const uint32_t n = left < IFM_DECODE_HEADS ? left : IFM_DECODE_HEADS;
        struct sums heads[IFM_DECODE_HEADS];
        for (uint32_t h = 0; h < n; h++)
            heads[h] = (struct sums){.top = -1e30f};
        for (unsigned block = 0; block < launch->blocks; block++)
            if (!add_block(a, launch->blocks, block, unit, heads, first, n))
                return false;
        for (uint32_t h = 0; h < n; h++)
            if (!write_out(a, unit, first + h, &heads[h]))
                return false;
    }
    a->out[0] *= wrong ? 1.5f : 1.0f;
    return true;
}

bool fake_decode_digest(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_decode_digest_of *a = (const void *)launch->arguments;
    if (!owns(a->words, a->n * sizeof *a->words) || !owns(a->sum, sizeof *a->sum))
        return false;
    for (uint64_t i = 0; i < a->n; i++) {
        uint64_t x = (a->words[i] + i) * 0x9E3779B97F4A7C15ULL;
        x ^= x >> 32;
        *a->sum += x * 0xD6E8FEB86659FD93ULL;
    }
    *a->sum += wrong;
    return true;
}

/* ---- a cycle ---- */

/* The row of the unit's token `token` in `half`, or NULL: it lies in nobody's memory. */
static uint16_t *row_in(uint16_t *half, const uint32_t *table, uint32_t page, uint32_t token, uint32_t dim)
{
    const uint32_t at = page + token / IFM_DECODE_PAGE;
    if (table != NULL && !owns(table + at, sizeof *table))
        return NULL;
    const uint64_t found = table != NULL ? table[at] : at;
    uint16_t *row = half + (found * IFM_DECODE_PAGE + token % IFM_DECODE_PAGE) * dim;
    return owns(row, dim * sizeof *row) ? row : NULL;
}

static bool append(const struct ifm_decode_advance_of *a, uint32_t pair)
{
    const struct ifm_decode_unit one = {a->tokens, pair * a->pages, 0},
                                 unit = a->tokens != 0 ? one : a->units[pair * a->parts];
    const float *from = a->rows + (uint64_t)pair * 2 * a->head_dim;
    uint16_t *k = row_in(a->k, a->table, unit.page, unit.tokens - 1, a->head_dim);
    uint16_t *v = row_in(a->v, a->table, unit.page, unit.tokens - 1, a->head_dim);
    if (k == NULL || v == NULL || !owns(from, 2 * a->head_dim * sizeof *from))
        return false;
    for (uint32_t d = 0; d < a->head_dim; d++) {
        k[d] = ifm_f32_to_f16(from[d]);
        v[d] = ifm_f32_to_f16(from[a->head_dim + d]);
    }
    return true;
}

static float length_of(const float *x, uint32_t n)
{
    float sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrtf(sum);
}

bool fake_decode_feed(const struct ifm_decode_advance_of *a, uint64_t head)
{
    const uint64_t at = head * a->head_dim, bytes = a->head_dim * sizeof(float);
    float x[DIM_MOST];
    if (!owns(a->fresh + at, bytes) || !owns(a->q + at, bytes) || (a->output != NULL && !owns(a->output + at, bytes)))
        return false;
    const float own = length_of(a->fresh + at, a->head_dim);
    const float other = a->output == NULL ? 0 : length_of(a->output + at, a->head_dim);
    for (uint32_t d = 0; d < a->head_dim; d++)
        x[d] = a->fresh[at + d] + (a->output == NULL ? 0 : (other > 0 ? own / other : 0) * a->output[at + d]);
    const float mixed = length_of(x, a->head_dim), scale = a->output == NULL ? 1 : mixed > 0 ? own / mixed : 0;
    for (uint32_t d = 0; d < a->head_dim; d++)
        a->q[at + d] = ifm_f16_to_f32(ifm_f32_to_f16(x[d] * scale));
    return true;
}

bool fake_decode_advance(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_decode_advance_of *a = (const void *)launch->arguments;
    const uint64_t heads = (uint64_t)a->pairs * a->group, tasks = (uint64_t)launch->blocks * IFM_DECODE_ADVANCE_WARPS;
    if (launch->threads != 32 * IFM_DECODE_ADVANCE_WARPS)
        return false;
    for (uint64_t task = 0; task < tasks; task++)
        if (!(task < heads ? fake_decode_feed(a, task)
                           : a->rows == NULL || task >= heads + a->pairs || append(a, (uint32_t)(task - heads))))
            return false;
    a->q[0] *= wrong ? 1.5f : 1.0f;
    return true;
}

bool fake_decode_rewind(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_decode_rewind_of *a = (const void *)launch->arguments;
    for (unsigned block = 0; block < launch->blocks; block++) {
        const uint32_t pair = block % a->pairs;
        const uint64_t layer = block / a->pairs * a->layer;
        const struct ifm_decode_unit one = {a->tokens, pair * a->pages, 0},
                                     unit = a->tokens != 0 ? one : a->units[pair * a->parts];
        for (uint32_t i = 0; i < a->rows; i++) {
            uint16_t *k = row_in(a->k + layer, a->table, unit.page, unit.tokens - 1 - wrong + i, a->head_dim);
            uint16_t *v = row_in(a->v + layer, a->table, unit.page, unit.tokens - 1 - wrong + i, a->head_dim);
            if (k == NULL || v == NULL)
                return false;
            for (uint32_t d = 0; d < a->head_dim; d++)
                k[d] = v[d] = IFM_DECODE_NO_ROW;
        }
    }
    return true;
}
