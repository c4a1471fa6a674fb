/* Caches of decode, filled page by page by all workers. */
#include "workload/decode/fill.h"

#include "workload/data/data.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 8 * IFM_KV_PAGE }; /* tokens that are generated and appended at once */

struct fill {
    const struct ifm_decode_filling *of;
    struct ifm_kv_cache *cache;
    float *rows;   /* per worker: K and V of CHUNK tokens */
    uint8_t *keep; /* per worker: the longest sequence; NULL when everything is kept */
    uint64_t longest;
    enum ifm_status *status; /* per worker */
    struct ifm_error *errors;
};

/* Move the rows that are kept to the front; returns how many. */
static unsigned squeeze(const uint8_t *keep, unsigned tokens, size_t dim, float *k, float *v)
{
    unsigned kept = 0;
    for (unsigned t = 0; t < tokens; t++) {
        if (keep[t] == 0)
            continue;
        memmove(k + kept * dim, k + t * dim, dim * sizeof *k);
        memmove(v + kept * dim, v + t * dim, dim * sizeof *v);
        kept++;
    }
    return kept;
}

/* Tokens [0, length) as far as they are kept, then those behind them that a cycle without appending finds there. */
static enum ifm_status fill_pair(const struct fill *fill, uint64_t pair, float *k, float *v, const uint8_t *keep,
                                 struct ifm_error *error)
{
    const struct ifm_decode_filling *of = fill->of;
    const struct ifm_decode_settings *s = of->settings;
    const uint64_t length = ifm_decode_length(s, pair / s->kv_heads);
    const uint64_t end = length + ifm_decode_first(s, of->form, length) - ifm_decode_kept(of->form, length);
    for (uint64_t at = 0; at < end;) {
        const uint64_t stop = at < length ? length : end;
        const unsigned tokens = stop - at < CHUNK ? (unsigned)(stop - at) : CHUNK;
        IFM_TRY(ifm_data_source_kv(of->source, pair, at, tokens, k, v, error));
        const unsigned kept = keep != NULL && at < length ? squeeze(keep + at, tokens, s->head_dim, k, v) : tokens;
        ifm_kv_append_many(fill->cache, pair, kept, k, v);
        at += tokens;
    }
    return IFM_OK;
}

static void fill_part(void *arg, unsigned index, unsigned count)
{
    struct fill *fill = arg;
    const struct ifm_decode_filling *of = fill->of;
    const struct ifm_decode_settings *s = of->settings;
    float *k = fill->rows + (size_t)index * 2 * CHUNK * s->head_dim, *v = k + CHUNK * s->head_dim;
    uint8_t *keep = fill->keep == NULL ? NULL : fill->keep + index * fill->longest;
    for (uint64_t pair = index; pair < s->batch * s->kv_heads && fill->status[index] == IFM_OK; pair += count) {
        if (keep != NULL)
            fill->status[index] = ifm_decode_keep(of->source, s, of->form, pair,
                                                  ifm_decode_length(s, pair / s->kv_heads), keep, &fill->errors[index]);
        if (fill->status[index] == IFM_OK)
            fill->status[index] = fill_pair(fill, pair, k, v, keep, &fill->errors[index]);
    }
}

enum ifm_status ifm_decode_fill(const struct ifm_decode_filling *of, struct ifm_kv_cache *cache,
                                struct ifm_error *error)
{
    const struct ifm_decode_settings *s = of->settings;
    const unsigned n = of->threads;
    struct fill fill = {.of = of, .cache = cache, .longest = s->kv_len};
    fill.rows = ifm_data_aligned(n * 2 * CHUNK * s->head_dim * sizeof *fill.rows);
    fill.keep = of->form->half ? malloc(n * fill.longest) : NULL;
    fill.status = calloc(n, sizeof *fill.status);
    fill.errors = calloc(n, sizeof *fill.errors);
    enum ifm_status status = IFM_OK;
    if (fill.rows == NULL || (fill.keep == NULL && of->form->half) || fill.status == NULL || fill.errors == NULL)
        status = ifm_fail(error, IFM_INTERNAL, of->arm, NULL, "out of memory");
    else
        of->device->ops->parallel(of->device, n, fill_part, &fill);
    for (unsigned i = 0; i < n && status == IFM_OK; i++) {
        status = fill.status[i];
        if (status != IFM_OK && error != NULL)
            *error = fill.errors[i];
    }
    free(fill.rows);
    free(fill.keep);
    free(fill.status);
    free(fill.errors);
    return status;
}
