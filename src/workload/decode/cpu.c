/* decode on the processor: pools from the device, filled page by page by all workers; queries; poisoned outputs. */
#include "base/hash.h"
#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"
#include "workload/data/data.h"
#include "workload/decode/check.h"
#include "workload/decode/fill.h"
#include "workload/decode/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };            /* bytes */
enum { POOL_ALONE = 1 << 20 }; /* bytes from which on the pool of a layer has a buffer of its own */

static enum ifm_status no_memory(const struct ifm_decode_run *state, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INTERNAL, state->arm, NULL, "out of memory");
}

struct copy {
    const unsigned char *from;
    unsigned char *to;
    size_t lines;
};

static void copy_part(void *arg, unsigned index, unsigned count)
{
    const struct copy *copy = arg;
    const size_t from = copy->lines * index / count * LINE, to = copy->lines * (index + 1) / count * LINE;
    memcpy(copy->to + from, copy->from + from, to - from);
}

/* ---- caches ---- */

/* What decides the bytes of a pool, so that equal arms share it. A cycle writes: its pools are its own. */
static uint64_t identity(const struct ifm_decode_run *state)
{
    const struct ifm_decode_settings *s = state->settings;
    char text[512];
    int n =
        snprintf(text, sizeof text, "%s %llu %llu %llu %llu %llu %llu %llu %a %d %d %d %d %s", state->form->name,
                 (unsigned long long)s->batch, (unsigned long long)s->kv_heads, (unsigned long long)s->kv_len,
                 (unsigned long long)s->head_dim, (unsigned long long)s->sink,
                 (unsigned long long)(s->inference ? s->decode_tokens : 0), (unsigned long long)state->source.data.seed,
                 s->ragged, s->evict, s->layout, s->outliers, s->append, s->inference ? state->arm : "");
    return ifm_xxh3(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1) ^
           ifm_xxh3(s->kv_file, strlen(s->kv_file));
}

/* Where the pool of a layer lies. */
struct pools {
    unsigned char *first, *at; /* of layer 0; of the layer at hand */
    bool fresh;                /* nothing is in it yet */
};

/* Pools of small layers lie in one buffer, one behind the other: thousands are needed until they exceed the caches, and
 * a buffer each took 9 s to find and to touch for 4,096 layers of 32 KiB. Of a large one each worker touches its part
 * of a buffer first, so that its pages lie on the node that reads them. */
static enum ifm_status take_pool(struct ifm_decode_run *state, uint64_t layer, struct pools *pools,
                                 struct ifm_error *error)
{
    const uint64_t together = state->pool_bytes < POOL_ALONE ? state->layers : 1;
    char name[96];
    void *memory;
    if (layer % together != 0) {
        pools->at += state->pool_bytes;
        return IFM_OK;
    }
    snprintf(name, sizeof name, "decode.kv %s %016llx layer %llu", state->form->name,
             (unsigned long long)identity(state), (unsigned long long)layer);
    IFM_TRY(
        state->device->ops->buffer(state->device, name, together * state->pool_bytes, &memory, &pools->fresh, error));
    if (!state->settings->inference && state->device->ops->lend != NULL) /* a cycle appends */
        state->device->ops->lend(state->device, memory);
    pools->at = memory;
    pools->first = layer == 0 ? memory : pools->first;
    return IFM_OK;
}

/* All layers hold the same tokens, so one is filled and the others are copies of it. */
static enum ifm_status open_layer(struct ifm_decode_run *state, const struct ifm_kv_shape *shape,
                                  ifm_kv_encode_fn *encode, uint64_t layer, struct pools *pools,
                                  struct ifm_error *error)
{
    IFM_TRY(take_pool(state, layer, pools, error));
    IFM_TRY(ifm_kv_cache_create(shape, encode, pools->at, &state->caches[layer], error));
    if (layer == 0 && pools->fresh)
        return ifm_decode_fill(&(struct ifm_decode_filling){state->device, state->threads, state->settings, state->form,
                                                            &state->source, state->arm},
                               state->caches[0], error);
    struct copy copy = {pools->first, pools->at, state->pool_bytes / LINE};
    if (pools->fresh && state->pool_bytes < POOL_ALONE) /* sooner done than workers wake up */
        copy_part(&copy, 0, 1);
    else if (pools->fresh)
        state->device->ops->parallel(state->device, state->threads, copy_part, &copy);
    for (uint64_t pair = 0; pair < state->pairs; pair++) {
        const uint64_t length = ifm_decode_length(state->settings, pair / state->settings->kv_heads);
        ifm_kv_adopt(state->caches[layer], pair, ifm_decode_first(state->settings, state->form, length));
    }
    return IFM_OK;
}

static const char *operation(const char *op, enum ifm_kv_format format, char name[32])
{
    snprintf(name, 32, "%s.%s", op, ifm_kv_format_name(format));
    return name;
}

static const struct ifm_kernel *kernel_of(const char *op, enum ifm_kv_format format, const char *isa)
{
    char name[32];
    return ifm_kernel_find(operation(op, format, name), isa);
}

static enum ifm_status open_caches(struct ifm_decode_run *state, struct ifm_error *error)
{
    const struct ifm_decode_settings *s = state->settings;
    const struct ifm_decode_chosen *chosen = state->chosen;
    const struct ifm_kernel *body = kernel_of("kv_attend", state->form->format, chosen->isa);
    const struct ifm_kernel *f16 = kernel_of("kv_attend", IFM_KV_F16, chosen->isa_f16);
    const struct ifm_kernel *encode = kernel_of("kv_encode", state->form->format, chosen->isa_encode);
    if (body == NULL || f16 == NULL || encode == NULL)
        return ifm_fail(error, IFM_MISSING, state->arm, "choose decode.isa=auto",
                        "this build has no kernels of format %s for %s", state->form->name, chosen->isa);
    for (uint64_t pair = 0; pair < state->pairs; pair++)
        state->capacity[pair] = ifm_decode_most(s, state->form, ifm_decode_length(s, pair / s->kv_heads));
    const struct ifm_kv_shape shape =
        ifm_decode_cache_shape(s, state->form, state->pairs, state->capacity, state->source.data.seed);
    struct pools pools = {0};
    state->pool_bytes = ifm_kv_pool_bytes(&shape);
    for (uint64_t layer = 0; layer < state->layers; layer++) {
        IFM_TRY(open_layer(state, &shape, encode->fn.kv_encode, layer, &pools, error));
        state->jobs[layer] = (struct ifm_kv_job){.cache = state->caches[layer],
                                                 .body = body->fn.kv_attend,
                                                 .f16 = f16->fn.kv_attend,
                                                 .batch = s->batch,
                                                 .q_heads = s->q_heads,
                                                 .kv_heads = s->kv_heads,
                                                 .head_dim = (unsigned)s->head_dim,
                                                 .q = s->inference ? state->cycle.fed : state->q,
                                                 .out = state->out};
        if (state->cycle.k != NULL)
            IFM_TRY(ifm_kv_save(state->caches[layer], error));
    }
    const size_t scratch = ifm_kv_job_scratch_bytes(&state->jobs[0], state->threads);
    state->scratch = ifm_data_aligned(scratch);
    if (state->scratch == NULL)
        return no_memory(state, error);
    memset(state->scratch, 0, scratch);
    for (uint64_t layer = 0; layer < state->layers; layer++)
        state->jobs[layer].scratch = state->scratch;
    return IFM_OK;
}

/* ---- queries, outputs, the rows of a cycle ---- */

static enum ifm_status make_queries(const struct ifm_decode_run *state, uint64_t token, float *q,
                                    struct ifm_error *error)
{
    const struct ifm_decode_settings *s = state->settings;
    for (uint64_t pair = 0; pair < state->pairs; pair++)
        IFM_TRY(ifm_data_source_queries(&state->source, pair, ifm_decode_length(s, pair / s->kv_heads) + token,
                                        q + pair * state->source.group * s->head_dim, error));
    return IFM_OK;
}

static enum ifm_status make_cycle(const struct ifm_decode_run *state, struct ifm_error *error)
{
    const struct ifm_decode_settings *s = state->settings;
    const struct ifm_decode_cycle *cycle = &state->cycle;
    for (uint64_t token = 0; token < s->decode_tokens; token++)
        IFM_TRY(make_queries(state, token, cycle->fresh + token * state->outputs, error));
    for (uint64_t pair = 0; pair < state->pairs && cycle->k != NULL; pair++) {
        const size_t row = pair * s->decode_tokens * s->head_dim;
        IFM_TRY(ifm_data_source_kv(&state->source, pair, ifm_decode_length(s, pair / s->kv_heads),
                                   (unsigned)s->decode_tokens, cycle->k + row, cycle->v + row, error));
    }
    return IFM_OK;
}

static enum ifm_status open_rows(struct ifm_decode_run *state, struct ifm_error *error)
{
    const struct ifm_decode_settings *s = state->settings;
    const size_t bytes = state->outputs * sizeof(float);
    state->q = ifm_data_aligned(bytes);
    state->out = ifm_data_aligned(bytes);
    if (state->q == NULL || state->out == NULL)
        return no_memory(state, error);
    IFM_TRY(make_queries(state, 0, state->q, error));
    if (!s->inference)
        return IFM_OK;
    struct ifm_decode_cycle *cycle = &state->cycle;
    cycle->fed = ifm_data_aligned(bytes);
    cycle->fresh = ifm_data_aligned(s->decode_tokens * bytes);
    if (cycle->fed == NULL || cycle->fresh == NULL)
        return no_memory(state, error);
    memset(cycle->fed, 0, bytes);
    if (s->append == IFM_DECODE_APPEND_COMPRESS) {
        const size_t rows = state->pairs * s->decode_tokens * s->head_dim * sizeof(float);
        cycle->k = ifm_data_aligned(rows);
        cycle->v = ifm_data_aligned(rows);
        if (cycle->k == NULL || cycle->v == NULL)
            return no_memory(state, error);
    }
    return make_cycle(state, error);
}

static enum ifm_status prepare(struct ifm_decode_run *state, const struct ifm_opening *opening, struct ifm_error *error)
{
    const struct ifm_decode_settings *s = opening->settings;
    const char *variant = opening->arm->variant;
    state->arm = opening->arm->name;
    state->settings = s;
    state->chosen = opening->chosen;
    state->form = ifm_decode_form_find(variant);
    if (state->form == NULL)
        return ifm_fail(error, IFM_INVALID, state->arm, "use the version of inferometer that made the plan",
                        "this build knows no form of the cache called \"%s\"", variant);
    state->layers = state->chosen->layers;
    state->pages_a_step = ifm_decode_amounts_of(s, state->form).pages * (s->inference ? state->layers : 1);
    state->pairs = s->batch * s->kv_heads;
    state->outputs = s->batch * s->q_heads * s->head_dim;
    return ifm_decode_source(s, opening->seed, &state->source, error);
}

static enum ifm_status allocate(struct ifm_decode_run *state, struct ifm_error *error)
{
    state->caches = calloc(state->layers, sizeof(struct ifm_kv_cache *));
    state->jobs = calloc(state->layers, sizeof *state->jobs);
    state->capacity = calloc(state->pairs, sizeof *state->capacity);
    if (state->caches == NULL || state->jobs == NULL || state->capacity == NULL)
        return no_memory(state, error);
    IFM_TRY(open_rows(state, error));
    return open_caches(state, error);
}

static void close_decode(void *opened)
{
    struct ifm_decode_run *state = opened;
    for (uint64_t layer = 0; state->caches != NULL && layer < state->layers; layer++)
        ifm_kv_cache_destroy(state->caches[layer]);
    void *const memory[] = {state->caches,  state->jobs,    state->capacity, state->q,           state->out,
                            state->scratch, state->cycle.k, state->cycle.v,  state->cycle.fresh, state->cycle.fed};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
    ifm_data_source_close(&state->source);
}

uint64_t ifm_decode_pages(const struct ifm_decode_run *state)
{
    uint64_t written = 0;
    for (uint64_t layer = 0; layer < state->layers; layer++)
        written += ifm_kv_encoded(state->caches[layer]);
    return state->pages + written - state->pages_open;
}

static void count_anew(struct ifm_decode_run *state)
{
    state->pages_owed = 0;
    state->pages_spoil = ifm_decode_pages(state);
}

static void spoil(void *opened, bool all)
{
    struct ifm_decode_run *state = opened;
    (void)all;
    for (size_t i = 0; i < state->outputs; i++)
        state->out[i] = NAN;
    count_anew(state);
}

static enum ifm_status open_decode(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    struct ifm_decode_run *state = opened;
    state->device = opening->device;
    state->threads = opening->threads;
    IFM_TRY(prepare(state, opening, error));
    IFM_TRY(allocate(state, error));
    for (uint64_t layer = 0; layer < state->layers; layer++)
        state->pages_open += ifm_kv_encoded(state->caches[layer]);
    spoil(state, true);
    return IFM_OK;
}

/* ---- the row ---- */

/* Every instruction set writes the same pages: what is not timed takes the fastest. */
static const char *supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_decode_ask *ask = asked;
    if (ask->settings->graphs.n > 0)
        return "CUDA graphs are a GPU's: leave decode.graphs out on the device cpu";
    const char *isa = ifm_isa_name(ask->settings->isa), *encode_isa = ask->settings->inference ? isa : "auto";
    const char *why_not = ifm_data_isa_why_not(isa, machine, arena);
    char name[32];
    const struct ifm_kernel *body = ifm_data_kernel(operation("kv_attend", ask->format, name), isa, machine);
    const struct ifm_kernel *named = ifm_data_kernel(operation("kv_encode", ask->format, name), isa, machine);
    const struct ifm_kernel *encode = ifm_data_kernel(name, encode_isa, machine);
    const struct ifm_kernel *f16 = ifm_data_kernel(operation("kv_attend", IFM_KV_F16, name), isa, machine);
    if (why_not != NULL)
        return why_not;
    if (body == NULL || named == NULL || encode == NULL || f16 == NULL)
        return ifm_arena_printf(arena,
                                "this build has no kernel of format %s for the instruction set %s; "
                                "decode.isa=auto takes the best that there is",
                                ifm_kv_format_name(ask->format), isa);
    ask->isa = body->isa;
    ask->isa_f16 = f16->isa;
    ask->isa_encode = encode->isa;
    return NULL;
}

static enum ifm_status compare(const struct ifm_decode_run *state, struct ifm_check *out, struct ifm_error *error)
{
    const struct ifm_kv_job *job = &state->jobs[state->last];
    const uint32_t draw = (uint32_t)(ifm_xxh3(&state->source.data.seed, sizeof(uint64_t)) >> 32);
    const struct ifm_decode_outputs outputs = {
        state->device, state->threads, state->settings, state->form, &state->source,
        job->cache,    job->q,         job->out,        draw,        NULL};
    return ifm_decode_compare(&outputs, state->chosen->isa, out, error);
}

/* Within a cycle every output makes the next query, and what is left at its end is the last one: another one, drawn
 * anew each time, is compared too, where it comes about. */
static enum ifm_status check_within(struct ifm_decode_run *state, struct ifm_check *out, struct ifm_error *error)
{
    const uint64_t places = state->settings->decode_tokens * state->layers;
    const uint64_t seeds[2] = {state->source.data.seed, ++state->draws};
    struct ifm_check within;
    ifm_decode_rewind(state);
    spoil(state, true);
    ifm_decode_run_part(state, 1 + ifm_xxh3(seeds, sizeof seeds) % places);
    count_anew(state); /* no step owes these */
    IFM_TRY(compare(state, &within, error));
    out->finite = out->finite && within.finite;
    out->error_rms_rel = fmax(out->error_rms_rel, within.error_rms_rel);
    out->error_max_rel = fmax(out->error_max_rel, within.error_max_rel);
    out->error_row = fmax(out->error_row, within.error_row);
    out->error_bias = fmax(out->error_bias, within.error_bias);
    out->error_part = fmax(out->error_part, within.error_part);
    return IFM_OK;
}

static uint64_t hash_inputs(const struct ifm_decode_run *state)
{
    const struct ifm_kv_job *job = &state->jobs[state->last];
    const uint64_t parts[2] = {ifm_xxh3(job->q, state->outputs * sizeof(float)),
                               ifm_xxh3(ifm_kv_view_of(job->cache, 0).pool, state->pool_bytes)};
    return ifm_xxh3(parts, sizeof parts);
}

static enum ifm_status check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct ifm_decode_run *state = opened;
    const uint64_t inputs = hash_inputs(state);
    const bool all_pages = ifm_decode_pages(state) - state->pages_spoil == state->pages_owed;
    if (!ifm_data_is_known(&state->known, inputs, state->out, state->outputs * sizeof(float))) {
        struct ifm_check *known = &state->known.check;
        *known = (struct ifm_check){0};
        IFM_TRY(compare(state, known, error));
        if (state->settings->inference)
            IFM_TRY(check_within(state, known, error));
        state->known.inputs = inputs;
    }
    *out = state->known.check;
    if (!all_pages) /* some were left out, or read twice */
        out->error_part = 1;
    return IFM_OK;
}

static uint64_t feature_runs(const void *opened)
{
    return ifm_decode_pages(opened);
}

static enum ifm_status before(void *opened, struct ifm_error *error)
{
    (void)error;
    ifm_decode_rewind(opened);
    return IFM_OK;
}

const struct ifm_implementation ifm_decode_cpu = {
    .name = "ours",
    .title = "ours",
    .device = "cpu",
    .purpose = "kernels of each format and instruction set",
    .supports = supports,
    .ready = ifm_decode_ready,
    .state_bytes = sizeof(struct ifm_decode_run),
    .open = open_decode,
    .step = ifm_decode_step,
    .spoil = spoil,
    .check = check,
    .feature_runs = feature_runs,
    .close = close_decode,
    .before = before,
};
