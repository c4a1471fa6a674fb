/* attention in the processor's memory: inputs, units of work, and the comparison with the oracle. */
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

static enum ifm_status input(struct ifm_attention_host *host, const struct ifm_opening *opening, char which,
                             size_t bytes, void **out, bool *fresh, struct ifm_error *error)
{
    char name[IFM_ATTENTION_NAME];
    ifm_attention_input_name(opening, which, name);
    return host->device->ops->buffer(host->device, name, bytes, out, fresh, error);
}

/* A tensor each, or one with all of them. */
static enum ifm_status tensors(struct ifm_attention_host *host, const struct ifm_opening *opening,
                               struct ifm_attention_inputs *all, bool fresh[static 3], struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &host->job.shape;
    const size_t kv_bytes = host->out_bytes / s->q_heads * s->kv_heads;
    size_t *bytes = host->input_bytes;
    if (ifm_attention_layout_of(opening) == IFM_QKV_PACKED) {
        bytes[0] = host->out_bytes + 2 * kv_bytes;
        IFM_TRY(input(host, opening, 'P', bytes[0], &all->q, &fresh[0], error));
        ifm_attention_split(s, all->q, &all->k, &all->v);
        fresh[1] = fresh[2] = fresh[0];
        return IFM_OK;
    }
    bytes[0] = host->out_bytes;
    bytes[1] = bytes[2] = kv_bytes;
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
    host->job.q = all.q;
    host->job.k = all.k;
    host->job.v = all.v;
    if (!fresh[0] && !fresh[1] && !fresh[2])
        return IFM_OK;
    struct ifm_data_source source;
    IFM_TRY(ifm_attention_source(from->kv_file, s, opening->seed, &source, error));
    wanted.source = &source;
    enum ifm_status status = ifm_attention_generate(host->device, host->threads, s, host->lengths, &wanted, error);
    ifm_data_source_close(&source);
    return status;
}

void ifm_attention_host_spoil(void *opened, bool all)
{
    struct ifm_attention_host *host = opened;
    (void)all;
    memset(host->job.out, 0xff, host->out_bytes); /* NaN in every format */
}

enum ifm_status ifm_attention_host_open(struct ifm_attention_host *host, const struct ifm_opening *opening,
                                        struct ifm_error *error)
{
    const struct ifm_attention_settings *from = opening->settings;
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
    host->out_bytes = s->batch * s->q_heads * s->seq_len * s->head_dim * ifm_attention_size(s->storage);
    host->lengths = malloc(s->batch * sizeof *host->lengths);
    host->units = malloc(job->n_units * sizeof *host->units);
    job->out = ifm_data_aligned(host->out_bytes);
    job->next = ifm_data_aligned(sizeof *job->next);
    job->scratch = ifm_data_aligned(host->threads * host->scratch_floats * sizeof(float));
    if (host->lengths == NULL || host->units == NULL || job->out == NULL || job->next == NULL || job->scratch == NULL)
        return ifm_fail(error, IFM_INTERNAL, host->arm, NULL, "out of memory");
    ifm_attention_lengths(s->seq_len, from->ragged, s->batch, opening->seed, host->lengths);
    ifm_attention_plan(s, host->lengths, job->block, host->units);
    job->lengths = host->lengths;
    job->units = host->units;
    memset(job->scratch, 0, host->threads * host->scratch_floats * sizeof(float));
    host->seed = opening->seed;
    ifm_attention_host_spoil(host, true);
    return inputs(host, opening, error);
}

void ifm_attention_host_close(void *opened)
{
    const struct ifm_attention_host *host = opened;
    free(host->job.out);
    free(host->job.next);
    free(host->job.scratch);
    free(host->units);
    free(host->lengths);
}

void ifm_attention_host_step(void *opened, uint64_t n)
{
    struct ifm_attention_host *host = opened;
    for (; n > 0; n--) {
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

enum ifm_status ifm_attention_host_check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct ifm_attention_host *host = opened;
    const uint64_t inputs = hash_inputs(host);
    if (!ifm_data_is_known(&host->known, inputs, host->job.out, host->out_bytes)) {
        struct ifm_check *check = &host->known.check;
        const enum ifm_attention_storage storage = host->job.shape.storage;
        *check = (struct ifm_check){0};
        IFM_TRY(ifm_attention_compare(host->device, host->threads, &host->job, host->seed, check, error));
        bool finite = true;
        for (size_t i = 0; i < host->out_bytes / ifm_attention_size(storage); i++)
            finite = finite && isfinite(ifm_attention_value(host->job.out, storage, i));
        ifm_data_checked(host->job.out, host->out_bytes, finite, host->code, check);
        host->known.inputs = inputs;
    }
    *out = host->known.check;
    return IFM_OK;
}
