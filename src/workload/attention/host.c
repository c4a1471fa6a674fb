/* attention in the processor's memory: inputs, the rotation over layers, units of work, and the comparison with the
 * oracle. */
#include "workload/attention/host.h"

#include "base/hash.h"
#include "workload/attention/data.h"
#include "workload/attention/oracle.h"
#include "workload/data/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ifm_attention_shape ifm_attention_shape_of(const struct ifm_opening *opening)
{
    const struct ifm_attention_settings *s = opening->settings;
    const struct ifm_attention_chosen *c = opening->chosen;
    const enum ifm_attention_storage storage = (enum ifm_attention_storage)(s->storage + 1);
    return (struct ifm_attention_shape){c->batch, c->q_heads, c->kv_heads, c->seq_len, c->head_dim, s->causal, storage};
}

enum ifm_attention_layout ifm_attention_layout_of(const struct ifm_opening *opening)
{
    const struct ifm_attention_settings *s = opening->settings;
    return (enum ifm_attention_layout)s->layout;
}

void ifm_attention_input_name(const struct ifm_opening *opening, char which, char out[static IFM_ATTENTION_NAME])
{
    const struct ifm_attention_settings *from = opening->settings;
    const struct ifm_attention_shape s = ifm_attention_shape_of(opening);
    snprintf(out, IFM_ATTENTION_NAME,
             "attention.%c %llux%llu(%llu)x%llux%llu storage %d ragged %a seed %016llx file %016llx", which,
             (unsigned long long)s.batch, (unsigned long long)(which == 'Q' || which == 'P' ? s.q_heads : s.kv_heads),
             (unsigned long long)s.kv_heads, (unsigned long long)s.seq_len, (unsigned long long)s.head_dim,
             (int)s.storage, from->ragged, (unsigned long long)opening->seed,
             (unsigned long long)ifm_xxh3(from->kv_file, strlen(from->kv_file)));
}

void ifm_attention_split(const struct ifm_attention_shape *shape, void *q, void **k, void **v)
{
    const size_t head = shape->head_dim * ifm_attention_size(shape->storage);
    *k = (char *)q + shape->q_heads * head;
    *v = (char *)*k + shape->kv_heads * head;
}

enum ifm_status ifm_attention_fewer(uint64_t layers, enum ifm_status status, struct ifm_error *error)
{
    if (status != IFM_OK && layers > 1 && error != NULL)
        ifm_error_hint(error, "lower attention.layers, which is %llu here", (unsigned long long)layers);
    return status;
}

/* A buffer of all layers. */
static enum ifm_status take(const struct ifm_attention_host *host, const char *name, size_t bytes, void **out,
                            bool *fresh, struct ifm_error *error)
{
    return ifm_attention_fewer(
        host->layers, host->device->ops->buffer(host->device, name, host->layers * bytes, out, fresh, error), error);
}

static enum ifm_status input(struct ifm_attention_host *host, const struct ifm_opening *opening, char which,
                             size_t bytes, void **out, bool *fresh, struct ifm_error *error)
{
    char name[IFM_ATTENTION_NAME];
    ifm_attention_input_name(opening, which, name);
    return take(host, name, bytes, out, fresh, error);
}

/* A tensor each, or one with all of them. */
static enum ifm_status tensors(struct ifm_attention_host *host, const struct ifm_opening *opening,
                               struct ifm_attention_inputs *all, bool fresh[static 3], struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &host->job.shape;
    size_t *bytes = host->input_bytes;
    if (ifm_attention_layout_of(opening) == IFM_QKV_PACKED) {
        bytes[0] = host->out_bytes + 2 * host->kv_bytes;
        IFM_TRY(input(host, opening, 'P', bytes[0], &all->q, &fresh[0], error));
        ifm_attention_split(s, all->q, &all->k, &all->v);
        fresh[1] = fresh[2] = fresh[0];
        return IFM_OK;
    }
    bytes[0] = host->out_bytes;
    bytes[1] = bytes[2] = host->kv_bytes;
    IFM_TRY(input(host, opening, 'Q', bytes[0], &all->q, &fresh[0], error));
    IFM_TRY(input(host, opening, 'K', bytes[1], &all->k, &fresh[1], error));
    return input(host, opening, 'V', bytes[2], &all->v, &fresh[2], error);
}

enum ifm_status ifm_attention_host_ready(const struct ifm_opening *opening, struct ifm_error *error)
{
    const struct ifm_attention_shape shape = ifm_attention_shape_of(opening);
    const struct ifm_attention_settings *s = opening->settings;
    struct ifm_data_source source;
    IFM_TRY(ifm_attention_source(s->kv_file, &shape, 0, &source, error));
    ifm_data_source_close(&source);
    return IFM_OK;
}

static enum ifm_status inputs(struct ifm_attention_host *host, const struct ifm_opening *opening,
                              struct ifm_error *error)
{
    const struct ifm_attention_settings *from = opening->settings;
    const struct ifm_attention_shape *s = &host->job.shape;
    struct ifm_attention_inputs all = {0}, wanted = {.at = host->job.at};
    bool fresh[3];
    IFM_TRY(tensors(host, opening, &all, fresh, error));
    if (fresh[0])
        wanted.q = all.q;
    if (fresh[1])
        wanted.k = all.k;
    if (fresh[2])
        wanted.v = all.v;
    host->q = all.q;
    host->k = all.k;
    host->v = all.v;
    if (!fresh[0] && !fresh[1] && !fresh[2])
        return IFM_OK;
    struct ifm_data_source source;
    IFM_TRY(ifm_attention_source(from->kv_file, s, opening->seed, &source, error));
    wanted.source = &source;
    enum ifm_status status = ifm_attention_generate(host->device, host->threads, s, host->lengths, &wanted, error);
    ifm_data_source_close(&source);
    void *const tensor[3] = {wanted.q, wanted.k, wanted.v};
    for (int i = 0; i < 3; i++)
        if (tensor[i] != NULL && host->input_bytes[i] > 0)
            ifm_data_copy(host->device, host->threads, tensor[i], host->input_bytes[i], host->layers);
    return status;
}

/* Outputs, an arm's own: in huge pages, as they are as large as the caches, and touched by who writes them. */
static enum ifm_status outputs(struct ifm_attention_host *host, struct ifm_error *error)
{
    char name[96];
    void *out;
    bool fresh;
    snprintf(name, sizeof name, "attention.out of %s", host->arm);
    IFM_TRY(take(host, name, host->out_bytes, &out, &fresh, error));
    host->out = out;
    return IFM_OK;
}

/* The tensors of a layer become the job's. */
static void turn_to(struct ifm_attention_host *host, uint64_t layer)
{
    const size_t *bytes = host->input_bytes;
    host->job.q = host->q + layer * bytes[0];
    host->job.k = host->k + layer * bytes[bytes[1] > 0 ? 1 : 0];
    host->job.v = host->v + layer * bytes[bytes[2] > 0 ? 2 : 0];
    host->job.out = host->out + layer * host->out_bytes;
}

/* The first row of each unit: all of several layers are what the caches hold, and would lie there, written, when the
 * first step comes. */
static void spoil_some(const struct ifm_attention_host *host)
{
    const struct ifm_attention_shape *s = &host->job.shape;
    const size_t row = s->head_dim * ifm_attention_size(s->storage);
    for (uint64_t layer = 0; layer < host->layers; layer++)
        for (size_t i = 0; i < host->job.n_units; i++) {
            const struct ifm_attention_unit *u = &host->units[i];
            const struct ifm_strides *to = &host->job.at.out;
            const size_t at = ifm_strides_head(to, u->sequence, u->head) + (size_t)u->first * to->row;
            memset(host->out + layer * host->out_bytes + at * ifm_attention_size(s->storage), 0xff, row);
        }
}

void ifm_attention_host_spoil(void *opened, bool all)
{
    struct ifm_attention_host *host = opened;
    host->written = 0;
    if (all || host->layers == 1)
        memset(host->out, 0xff, host->layers * host->out_bytes); /* NaN in every format */
    else
        spoil_some(host);
}

enum ifm_status ifm_attention_host_open(struct ifm_attention_host *host, const struct ifm_opening *opening,
                                        struct ifm_error *error)
{
    const struct ifm_attention_settings *from = opening->settings;
    const struct ifm_attention_chosen *chosen = opening->chosen;
    struct ifm_attention_job *job = &host->job;
    const struct ifm_attention_shape *s = &job->shape;
    host->device = opening->device;
    host->arm = opening->arm->name;
    host->threads = opening->threads;
    job->shape = ifm_attention_shape_of(opening);
    job->at = ifm_attention_views_of(s, ifm_attention_layout_of(opening));
    job->block = host->cut->block(s, host->threads);
    job->n_units = ifm_attention_units(s, job->block);
    host->scratch_floats = host->cut->scratch_floats(s, job->block);
    host->layers = chosen->layers;
    host->out_bytes = s->batch * s->q_heads * s->seq_len * s->head_dim * ifm_attention_size(s->storage);
    host->kv_bytes = host->out_bytes / s->q_heads * s->kv_heads;
    host->lengths = malloc(s->batch * sizeof *host->lengths);
    host->units = malloc(job->n_units * sizeof *host->units);
    job->next = ifm_data_aligned(sizeof *job->next);
    job->scratch = ifm_data_aligned(host->threads * host->scratch_floats * sizeof(float));
    if (host->lengths == NULL || host->units == NULL || job->next == NULL || job->scratch == NULL)
        return ifm_fail(error, IFM_INTERNAL, host->arm, NULL, "out of memory");
    ifm_attention_lengths(s->seq_len, from->ragged, s->batch, opening->seed, host->lengths);
    ifm_attention_plan(s, host->lengths, job->block, host->units);
    job->lengths = host->lengths;
    job->units = host->units;
    memset(job->scratch, 0, host->threads * host->scratch_floats * sizeof(float));
    host->seed = opening->seed;
    IFM_TRY(inputs(host, opening, error));
    IFM_TRY(outputs(host, error));
    ifm_attention_host_spoil(host, true);
    turn_to(host, 0);
    return IFM_OK;
}

void ifm_attention_host_close(void *opened)
{
    const struct ifm_attention_host *host = opened;
    free(host->job.next);
    free(host->job.scratch);
    free(host->units);
    free(host->lengths);
}

void ifm_attention_host_step(void *opened, uint64_t n)
{
    struct ifm_attention_host *host = opened;
    for (; n > 0; n--) {
        turn_to(host, host->next);
        host->next = host->next + 1 < host->layers ? host->next + 1 : 0;
        host->written += host->written < host->layers;
        *host->job.next = 0;
        host->device->ops->parallel(host->device, host->threads, host->cut->work, host);
    }
}

static uint64_t hash_inputs(const struct ifm_attention_host *host)
{
    const size_t *bytes = host->input_bytes;
    const uint64_t parts[] = {ifm_xxh3(host->job.q, bytes[0]), ifm_xxh3(host->job.k, bytes[1]),
                              ifm_xxh3(host->job.v, bytes[2])};
    return ifm_xxh3(parts, sizeof parts);
}

/* Of the layer that is the job's; the result is in host->known. */
static enum ifm_status check_layer(struct ifm_attention_host *host, struct ifm_error *error)
{
    const uint64_t inputs = hash_inputs(host);
    struct ifm_check *check = &host->known.check;
    const enum ifm_attention_storage storage = host->job.shape.storage;
    if (ifm_data_is_known(&host->known, inputs, host->job.out, host->out_bytes))
        return IFM_OK;
    *check = (struct ifm_check){0};
    IFM_TRY(ifm_attention_compare(host->device, host->threads, &host->job, host->seed, check, error));
    bool finite = true;
    for (size_t i = 0; i < host->out_bytes / ifm_attention_size(storage); i++)
        finite = finite && isfinite(ifm_attention_value(host->job.out, storage, i));
    ifm_data_checked(host->job.out, host->out_bytes, finite, host->code, check);
    host->known.inputs = inputs;
    return IFM_OK;
}

/* Layers that were written, the last one at last, so that the job is as the last step left it; of none the job's, which
 * is spoiled. All hold the same: equal bits are compared once. */
enum ifm_status ifm_attention_host_check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct ifm_attention_host *host = opened;
    for (uint64_t left = host->written > 1 ? host->written : 1, first = left; left > 0; left--) {
        if (first > 1)
            turn_to(host, (host->next + host->layers - left) % host->layers);
        IFM_TRY(check_layer(host, error));
        ifm_data_take_layer(out, &host->known.check, left == first);
    }
    return IFM_OK;
}
