/* What the arms of decode on the device cuda share: queries, outputs, steps, and the comparison with the oracle. */
#include "workload/decode/run_cuda.h"

#include "base/half.h"
#include "base/hash.h"
#include "kernel/cpu/isa.h"
#include "kv/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cycle is one graph: so many layers, and places in all. */
static const char *supports_cycle(struct ifm_decode_ask *ask, struct ifm_arena *arena)
{
    const struct ifm_decode_settings *s = ask->settings;
    const uint64_t layers = s->layers != 0 ? s->layers : s->model_layers != 0 ? s->model_layers : 1;
    ask->layers_most = IFM_DECODE_CUDA_PLACES / s->decode_tokens;
    if (ask->layers_most > IFM_DECODE_CUDA_LAYERS)
        ask->layers_most = IFM_DECODE_CUDA_LAYERS;
    if (layers <= ask->layers_most)
        return NULL;
    return ifm_arena_printf(arena,
                            "a cycle on the device cuda is one graph, of at most %d layers and %d tokens x layers: "
                            "lower decode.decode_tokens or decode.layers",
                            IFM_DECODE_CUDA_LAYERS, IFM_DECODE_CUDA_PLACES);
}

const char *ifm_decode_cuda_supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_decode_ask *ask = asked;
    const struct ifm_decode_settings *s = ask->settings;
    if (ask->format != IFM_KV_F16 && !ifm_machine_plans_by(machine, IFM_DECODE_SINCE_PACKED))
        return "the device cuda has kernels for f16 alone in this version; --compress 1 asks for no other form, and "
               "the device cpu runs all";
    if (ask->format != IFM_KV_F16 && s->inference && !ifm_machine_plans_by(machine, IFM_DECODE_SINCE_PACKED_CYCLES))
        return "cycles on the device cuda are of f16 caches in this version: --compress 1 asks for no other form, and "
               "the device cpu runs all";
    if (strcmp(ifm_isa_name(s->isa), "auto") != 0)
        return "instruction sets are a processor's: leave decode.isa out on the device cuda";
    ask->isa = ask->isa_f16 = ask->isa_encode = "";
    if (s->inference)
        return supports_cycle(ask, arena);
    if (s->layers > IFM_CUDA_TURNS)
        return ifm_arena_printf(arena, "steps on the device cuda take at most %d layers in turn: lower decode.layers",
                                IFM_CUDA_TURNS);
    ask->layers_most = IFM_CUDA_TURNS;
    return NULL;
}

/* ---- at work ---- */

void ifm_decode_cuda_step(void *opened, uint64_t n)
{
    const struct ifm_decode_cuda_run *run = opened;
    const uint64_t at_once = ifm_decode_cuda_cycles(run) ? 1 : n; /* a graph holds one cycle */
    for (; n > 0; n -= at_once)
        ifm_cuda_steps_run(run->steps, at_once);
}

enum ifm_status ifm_decode_cuda_before(void *opened, struct ifm_error *error)
{
    struct ifm_decode_cuda_run *run = opened;
    if (ifm_decode_cuda_cycles(run))
        ifm_decode_cuda_rewind(run);
    return ifm_device_health(run->device, error);
}

uint64_t ifm_decode_cuda_feature_runs(const void *opened)
{
    const struct ifm_decode_cuda_run *run = opened;
    const struct ifm_cuda_counts counts = ifm_cuda_steps_counts(run->steps);
    if (run->own_launches)
        return counts.launches;
    return run->own_replays ? counts.graphs : counts.graphs + counts.launches; /* a form's kernels run either way */
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
    if (run->form == NULL || chosen->layers > (s->inference ? 0U + IFM_DECODE_CUDA_LAYERS : 0U + IFM_CUDA_TURNS))
        return ifm_fail(error, IFM_INVALID, run->arm, "use the version of inferometer that made the plan",
                        "this build knows no form of the cache called \"%s\" in %llu layers", opening->arm->variant,
                        (unsigned long long)chosen->layers);
    run->layers = (unsigned)chosen->layers;
    run->own_launches = strcmp(chosen->graphs, "false") == 0;
    run->own_replays = strcmp(chosen->graphs, "true") == 0;
    run->tokens = s->inference ? s->decode_tokens : 1;
    run->cycle.appends = s->inference && s->append == IFM_DECODE_APPEND_COMPRESS;
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

/* The queries as the device takes them. */
static enum ifm_status upload_queries(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    if (!run->halves)
        return ifm_decode_cuda_buffer(run, "q", run->q, ifm_decode_cuda_bytes(run), &run->q_at, error);
    uint16_t *bits = malloc(ifm_decode_cuda_bytes(run));
    if (bits == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
    for (size_t i = 0; i < run->outputs; i++)
        bits[i] = ifm_f32_to_f16(run->q[i]);
    enum ifm_status status = ifm_decode_cuda_buffer(run, "q f16", bits, ifm_decode_cuda_bytes(run), &run->q_at, error);
    free(bits);
    return status;
}

static enum ifm_status open_rows(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    const struct ifm_decode_settings *s = run->settings;
    const size_t bytes = run->tokens * run->outputs * sizeof(float);
    char out[48];
    void *digest;
    run->q = malloc(bytes);
    run->out = malloc(bytes);
    if (run->q == NULL || run->out == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
    for (uint64_t pair = 0; pair < run->pairs; pair++)
        IFM_TRY(ifm_data_source_queries(&run->source, pair, ifm_decode_length(s, pair / s->kv_heads),
                                        run->q + pair * run->source.group * s->head_dim, error));
    ifm_kv_round(run->q, run->outputs, run->q); /* to f16: the queries of a GPU are as its cache */
    if (ifm_decode_cuda_cycles(run))            /* it makes its own */
        IFM_TRY(ifm_decode_cuda_buffer(run, "q", NULL, bytes, &run->q_at, error));
    else
        IFM_TRY(upload_queries(run, error));
    snprintf(out, sizeof out, "out %s %s%s", run->row->name, run->form->name, run->own_launches ? " launched" : "");
    IFM_TRY(ifm_decode_cuda_buffer(run, out, NULL, ifm_decode_cuda_bytes(run), &run->out_at, error));
    IFM_TRY(ifm_decode_cuda_buffer(run, "digest", NULL, sizeof *run->digest, &digest, error));
    run->digest = digest;
    return ifm_cuda_find(run->device, "decode", "ifm_decode_digest", &run->digester, error);
}

void ifm_decode_cuda_spoil(void *opened, bool all)
{
    const struct ifm_decode_cuda_run *run = opened;
    (void)all;
    ifm_cuda_fill(run->device, run->out_at, UINT32_MAX,
                  ifm_decode_cuda_bytes(run) / sizeof(uint32_t)); /* NaN in both */
}

/* A cycle goes through all layers, and ends in the last one; passes take them in turn. */
static enum ifm_status open_steps(struct ifm_decode_cuda_run *run, const struct ifm_opening *opening,
                                  ifm_cuda_enqueue_fn *enqueue, struct ifm_error *error)
{
    const struct ifm_decode_chosen *chosen = opening->chosen;
    const bool cycles = ifm_decode_cuda_cycles(run);
    IFM_TRY(ifm_cuda_steps_create(run->device, cycles ? ifm_decode_cuda_cycle : enqueue, run, &run->steps, error));
    if (chosen->graphs[0] != '\0')
        ifm_cuda_steps_graphs(run->steps, !run->own_launches);
    if (cycles)
        run->turn = run->layers - 1;
    else
        ifm_cuda_steps_turns(run->steps, run->layers, &run->turn);
    return IFM_OK;
}

enum ifm_status ifm_decode_cuda_open(struct ifm_decode_cuda_run *run, const struct ifm_opening *opening, bool halves,
                                     ifm_cuda_enqueue_fn *enqueue, struct ifm_error *error)
{
    run->halves = halves;
    IFM_TRY(prepare(run, opening, error));
    IFM_TRY(run->form->format == IFM_KV_F16 ? ifm_decode_cuda_caches(run, error)
                                            : ifm_decode_cuda_packed_caches(run, error));
    IFM_TRY(open_rows(run, error));
    IFM_TRY(open_steps(run, opening, enqueue, error));
    if (ifm_decode_cuda_cycles(run))
        IFM_TRY(ifm_decode_cuda_cycle_open(run, error));
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
    ifm_decode_cuda_cycle_close(run);
    ifm_decode_cuda_packed_close(run);
    ifm_data_source_close(&run->source);
}

/* ---- the check ---- */

/* The cache that the last step attended over, read back, and every output against it. */
static enum ifm_status compare(struct ifm_decode_cuda_run *run, struct ifm_check *out, struct ifm_error *error)
{
    unsigned char *pool;
    char code[16];
    struct ifm_decode_rows rows;
    IFM_TRY(ifm_decode_cuda_read_layer(run, run->turn, &pool, error));
    const struct ifm_decode_outputs outputs = ifm_decode_cuda_outputs(run, pool, 0, &rows);
    if (run->packed.cache != NULL)
        ifm_decode_cuda_packed_take(run, pool);
    enum ifm_status status = ifm_decode_compare(&outputs, ifm_decode_cuda_code(run, code), out, error);
    free(pool);
    return status;
}

static enum ifm_status read_outputs(struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    if (!run->halves)
        return ifm_cuda_read(run->device, run->out, run->out_at, ifm_decode_cuda_bytes(run), error);
    uint16_t *bits = malloc(ifm_decode_cuda_bytes(run));
    if (bits == NULL)
        return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory");
    enum ifm_status status = ifm_cuda_read(run->device, bits, run->out_at, ifm_decode_cuda_bytes(run), error);
    for (size_t i = 0; status == IFM_OK && i < run->outputs; i++)
        run->out[i] = ifm_f16_to_f32(bits[i]);
    free(bits);
    return status;
}

/* Of a pass the queries are not read back: outputs are held against those that were generated. */
enum ifm_status ifm_decode_cuda_check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct ifm_decode_cuda_run *run = opened;
    uint64_t inputs;
    if (ifm_decode_cuda_cycles(run))
        return ifm_decode_cuda_check_cycle(run, out, error);
    IFM_TRY(ifm_decode_cuda_digest(run, run->turn, &inputs, error));
    IFM_TRY(read_outputs(run, error));
    if (!ifm_data_is_known(&run->known, inputs, run->out, run->outputs * sizeof(float))) {
        run->known.check = (struct ifm_check){0};
        IFM_TRY(compare(run, &run->known.check, error));
        run->known.inputs = inputs;
    }
    *out = run->known.check;
    return IFM_OK;
}
