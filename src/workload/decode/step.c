/* One step of decode: attention over one layer's caches, or a cycle of tokens through all layers.
 *
 * Everything here is timed: no allocation, no system call, no lock. */
#include "workload/decode/run.h"

#include <math.h>

enum { LANES = 8 }; /* partial sums: each is exact about its order, together they make vector code */

static void attend(void *arg, unsigned index, unsigned count)
{
    ifm_kv_decode_work(arg, index, count);
}

static void attend_layer(struct ifm_decode_run *state, uint64_t layer)
{
    struct ifm_kv_job *job = &state->jobs[layer];
    state->device->ops->parallel(state->device, state->threads, attend, job);
    state->pages += ifm_kv_decode_merge(job, state->threads);
    state->last = layer;
}

/* ---- the inference cycle ---- */

static float length_of(const float *x, size_t n)
{
    float sum[LANES] = {0};
    for (size_t i = 0; i < n; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            sum[lane] += x[i + lane] * x[i + lane];
    float all = 0;
    for (size_t lane = 0; lane < LANES; lane++)
        all += sum[lane];
    return sqrtf(all);
}

/* The next query: a fresh one and the last output in equal parts, as long as the fresh one. */
static void mix(const float *fresh, const float *output, size_t dim, float *query)
{
    const float own = length_of(fresh, dim), other = length_of(output, dim);
    const float part = other > 0 ? own / other : 0;
    for (size_t d = 0; d < dim; d++)
        query[d] = fresh[d] + part * output[d];
    const float mixed = length_of(query, dim), scale = mixed > 0 ? own / mixed : 0;
    for (size_t d = 0; d < dim; d++)
        query[d] *= scale;
}

static void feed(const struct ifm_decode_run *state, uint64_t pair)
{
    const struct ifm_decode_cycle *cycle = &state->cycle;
    const size_t dim = state->settings->head_dim, run = state->source.group * dim, at = pair * run;
    const float *fresh = cycle->fresh + cycle->token * state->outputs + at;
    const bool first = cycle->token == 0 && cycle->layer == 0;
    for (size_t i = 0; i < run; i += dim) {
        if (!first)
            mix(fresh + i, state->out + at + i, dim, cycle->fed + at + i);
        for (size_t d = 0; first && d < dim; d++)
            cycle->fed[at + i + d] = fresh[i + d];
    }
}

/* Each worker's pairs: their new token goes into the cache, and their next queries are made. */
static void advance(void *arg, unsigned index, unsigned count)
{
    const struct ifm_decode_run *state = arg;
    const struct ifm_decode_cycle *cycle = &state->cycle;
    const size_t dim = state->settings->head_dim;
    const uint64_t from = state->pairs * index / count, to = state->pairs * (index + 1) / count;
    for (uint64_t pair = from; pair < to; pair++) {
        const size_t row = (pair * state->settings->decode_tokens + cycle->token) * dim;
        if (cycle->k != NULL)
            ifm_kv_append(state->caches[cycle->layer], pair, cycle->k + row, cycle->v + row);
        feed(state, pair);
    }
}

void ifm_decode_run_part(struct ifm_decode_run *state, uint64_t n)
{
    struct ifm_decode_cycle *cycle = &state->cycle;
    for (cycle->token = 0; cycle->token < state->settings->decode_tokens; cycle->token++)
        for (cycle->layer = 0; cycle->layer < state->layers; cycle->layer++) {
            if (n-- == 0)
                return;
            state->device->ops->parallel(state->device, state->threads, advance, state);
            attend_layer(state, cycle->layer);
        }
}

void ifm_decode_step(void *opened, uint64_t n)
{
    struct ifm_decode_run *state = opened;
    state->pages_owed += n * state->pages_a_step;
    for (; n > 0; n--) {
        if (state->settings->inference) {
            ifm_decode_run_part(state, UINT64_MAX);
            continue;
        }
        attend_layer(state, state->next);
        state->next = state->next + 1 < state->layers ? state->next + 1 : 0;
    }
}

/* ---- untimed ---- */

static void restore(void *arg, unsigned index, unsigned count)
{
    const struct ifm_decode_run *state = arg;
    for (uint64_t layer = 0; layer < state->layers; layer++)
        for (uint64_t pair = index; pair < state->pairs; pair += count)
            ifm_kv_restore(state->caches[layer], pair);
}

void ifm_decode_rewind(struct ifm_decode_run *state)
{
    if (state->cycle.k != NULL)
        state->device->ops->parallel(state->device, state->threads, restore, state);
}
