/* What the arms of decode on the device cuda share: queries, outputs, steps, and the comparison with the oracle. */
#include "workload/decode/run_cuda.h"

#include "base/half.h"
#include "base/hash.h"
#include "kernel/cpu/isa.h"
#include "kv/rows.h"
#include "workload/decode/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ifm_decode_cuda_supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_decode_ask *ask = asked;
    const struct ifm_decode_settings *s = ask->settings;
    (void)machine;
    if (ask->format != IFM_KV_F16)
        return "the device cuda has kernels for f16 alone in this version; --compress 1 asks for no other form, and "
               "the device cpu runs all";
    if (strcmp(ifm_isa_name(s->isa), "auto") != 0)
        return "instruction sets are a processor's: leave decode.isa out on the device cuda";
    if (s->inference)
        return "the device cuda appends nothing in this version: leave decode.inference out, or take the device cpu";
    if (s->layers > IFM_CUDA_TURNS)
        return ifm_arena_printf(arena, "steps on the device cuda take at most %d layers in turn: lower decode.layers",
                                IFM_CUDA_TURNS);
    ask->isa = ask->isa_f16 = ask->isa_encode = "";
    ask->layers_most = IFM_CUDA_TURNS;
    return NULL;
}

/* ---- at work ---- */

void ifm_decode_cuda_step(void *opened, uint64_t n)
{
    const struct ifm_decode_cuda_run *run = opened;
    ifm_cuda_steps_run(run->steps, n);
}

static enum ifm_status prepare(struct ifm_decode_cuda_run *run, const struct ifm_opening *opening,
                               struct ifm_error *error)
{
    const struct ifm_decode_settings *s = opening->settings;
    const struct ifm_decode_chosen *chosen = opening->chosen;
    run->device = opening->device;
    run->row = opening->implementation;
    run->arm = opening->arm->name;
    run->settings = s;
    run->form = ifm_decode_form_find(opening->arm->variant);
    if (run->form == NULL || chosen->layers > IFM_CUDA_TURNS)
        return ifm_fail(error, IFM_INVALID, run->arm, "use the version of inferometer that made the plan",
                        "this build knows no form of the cache called \"%s\" in %llu layers", opening->arm->variant,
                        (unsigned long long)chosen->layers);
    run->layers = (unsigned)chosen->layers;
    run->pairs = s->batch * s->kv_heads;
    run->outputs = s->batch * s->q_heads * s->head_dim;
    struct ifm_decode_attend *a = &run->arguments;
    a->group = (uint32_t)(s->q_heads / s->kv_heads);
    a->parts = (a->group + IFM_DECODE_HEADS - 1) / IFM_DECODE_HEADS;
    a->n_units = (uint32_t)run->pairs * a->parts;
    a->head_dim = (uint32_t)s->head_dim;
    a->scale = (float)(1.44269504088896341 / sqrt((double)s->head_dim));
    return ifm_decode_source(s, opening->seed, &run->source, error);
}

static size_t bytes_of_rows(const struct ifm_decode_cuda_run *run)
{
    return run->outputs * (run->halves ? sizeof(uint16_t) : sizeof(float));
}

/* The queries as the device takes them. */
static enum ifm_status upload_queries(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    if (!run->halves)
        return ifm_decode_cuda_buffer(run, "q", run->q, bytes_of_rows(run), &run->q_at, error);
    uint16_t *bits = malloc(bytes_of_rows(run));
    if (bits == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
    for (size_t i = 0; i < run->outputs; i++)
        bits[i] = ifm_f32_to_f16(run->q[i]);
    enum ifm_status status = ifm_decode_cuda_buffer(run, "q f16", bits, bytes_of_rows(run), &run->q_at, error);
    free(bits);
    return status;
}

static enum ifm_status open_rows(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    const struct ifm_decode_settings *s = run->settings;
    const size_t bytes = run->outputs * sizeof(float);
    char out[32];
    void *digest;
    run->q = malloc(bytes);
    run->out = malloc(bytes);
    if (run->q == NULL || run->out == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
    for (uint64_t pair = 0; pair < run->pairs; pair++)
        IFM_TRY(ifm_data_source_queries(&run->source, pair, ifm_decode_length(s, pair / s->kv_heads),
                                        run->q + pair * run->source.group * s->head_dim, error));
    ifm_kv_round(run->q, run->outputs, run->q); /* to f16: the queries of a GPU are as its cache */
    IFM_TRY(upload_queries(run, error));
    snprintf(out, sizeof out, "out %s", run->row->name);
    IFM_TRY(ifm_decode_cuda_buffer(run, out, NULL, bytes_of_rows(run), &run->out_at, error));
    IFM_TRY(ifm_decode_cuda_buffer(run, "digest", NULL, sizeof *run->digest, &digest, error));
    run->digest = digest;
    return ifm_cuda_find(run->device, "decode", "ifm_decode_digest", &run->digester, error);
}

void ifm_decode_cuda_spoil(void *opened, bool all)
{
    const struct ifm_decode_cuda_run *run = opened;
    (void)all;
    ifm_cuda_fill(run->device, run->out_at, UINT32_MAX, bytes_of_rows(run) / sizeof(uint32_t)); /* NaN in both */
}

enum ifm_status ifm_decode_cuda_open(struct ifm_decode_cuda_run *run, const struct ifm_opening *opening, bool halves,
                                     ifm_cuda_enqueue_fn *enqueue, struct ifm_error *error)
{
    run->halves = halves;
    IFM_TRY(prepare(run, opening, error));
    IFM_TRY(ifm_decode_cuda_caches(run, error));
    IFM_TRY(open_rows(run, error));
    IFM_TRY(ifm_cuda_steps_create(run->device, enqueue, run, &run->steps, error));
    ifm_cuda_steps_turns(run->steps, run->layers, &run->turn);
    ifm_decode_cuda_spoil(run, true);
    return ifm_cuda_wait(run->device, error);
}

void ifm_decode_cuda_close(void *opened)
{
    struct ifm_decode_cuda_run *run = opened;
    ifm_cuda_steps_destroy(run->steps);
    free(run->first);
    free(run->table);
    free(run->q);
    free(run->out);
    ifm_data_source_close(&run->source);
}

/* ---- the check ---- */

/* Of the cache that the last step attended over. The queries are not read back: outputs are held against those that
 * were generated. */
static enum ifm_status digest_cache(const struct ifm_decode_cuda_run *run, uint64_t *out, struct ifm_error *error)
{
    const struct ifm_decode_digest_of of = {run->pools[run->turn], 2 * run->half / sizeof(uint64_t), run->digest};
    const unsigned blocks = ifm_cuda_blocks(run->device, run->digester, IFM_DECODE_DIGEST_THREADS, 0);
    ifm_cuda_fill(run->device, run->digest, 0, 2);
    ifm_cuda_launch(run->device, &(struct ifm_cuda_launch){run->digester, blocks > 0 ? blocks : 1,
                                                           IFM_DECODE_DIGEST_THREADS, 0, &of});
    return ifm_cuda_read(run->device, out, run->digest, sizeof *out, error);
}

static enum ifm_status compare(const struct ifm_decode_cuda_run *run, const unsigned char *pool, struct ifm_check *out,
                               struct ifm_error *error)
{
    const struct ifm_gpu *gpu = ifm_cuda_gpu(run->device);
    const struct ifm_decode_rows rows = {(const void *)pool, (const void *)(pool + run->half), run->table, run->first};
    const uint32_t draw = (uint32_t)(ifm_xxh3(&run->source.data.seed, sizeof(uint64_t)) >> 32);
    const struct ifm_decode_outputs outputs = {.device = run->device,
                                               .threads = ifm_cuda_host_threads(),
                                               .settings = run->settings,
                                               .form = run->form,
                                               .source = &run->source,
                                               .q = run->q,
                                               .out = run->out,
                                               .draw = draw,
                                               .rows = &rows};
    char code[16];
    snprintf(code, sizeof code, "sm_%u%u", gpu->major, gpu->minor);
    return ifm_decode_compare(&outputs, run->code != NULL ? run->code : code, out, error);
}

/* The cache that the last step attended over, read back, and every output against it. */
static enum ifm_status compare_read(struct ifm_decode_cuda_run *run, struct ifm_check *out, struct ifm_error *error)
{
    unsigned char *pool = malloc(2 * run->half);
    if (pool == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, "lower decode.batch or decode.kv_len",
                        "out of memory for the oracle, which reads a layer back: %llu bytes",
                        (unsigned long long)(2 * run->half));
    enum ifm_status status = ifm_cuda_read(run->device, pool, run->pools[run->turn], 2 * run->half, error);
    if (status == IFM_OK)
        status = compare(run, pool, out, error);
    free(pool);
    return status;
}

static enum ifm_status read_outputs(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    if (!run->halves)
        return ifm_cuda_read(run->device, run->out, run->out_at, bytes_of_rows(run), error);
    uint16_t *bits = malloc(bytes_of_rows(run));
    if (bits == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
    enum ifm_status status = ifm_cuda_read(run->device, bits, run->out_at, bytes_of_rows(run), error);
    for (size_t i = 0; status == IFM_OK && i < run->outputs; i++)
        run->out[i] = ifm_f16_to_f32(bits[i]);
    free(bits);
    return status;
}

enum ifm_status ifm_decode_cuda_check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct ifm_decode_cuda_run *run = opened;
    uint64_t inputs;
    IFM_TRY(digest_cache(run, &inputs, error));
    IFM_TRY(read_outputs(run, error));
    if (!ifm_data_is_known(&run->known, inputs, run->out, run->outputs * sizeof(float))) {
        run->known.check = (struct ifm_check){0};
        IFM_TRY(compare_read(run, &run->known.check, error));
        run->known.inputs = inputs;
    }
    *out = run->known.check;
    return IFM_OK;
}
