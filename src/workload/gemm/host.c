/* gemm in the processor's memory: inputs, the rotation over weight matrices, and the comparison with the oracle. */
#include "workload/gemm/host.h"

#include "base/hash.h"
#include "workload/data/data.h"
#include "workload/gemm/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 /* rows that are generated at once */ };

struct ifm_gemm_shape ifm_gemm_shape_of(const struct ifm_gemm_settings *s, enum ifm_gemm_format format)
{
    static const unsigned groups[] = {128, 64, 32};
    return (struct ifm_gemm_shape){s->m, s->n, s->k, groups[s->group], format};
}

/* Generates and stores rows by all workers; each layer is a copy of the first in memory of its own. */
struct gemm_fill {
    const struct ifm_gemm_host *host;
    unsigned char *to;
    float *room; /* per worker: CHUNK rows */
};

static void fill_part(void *arg, unsigned index, unsigned count)
{
    const struct gemm_fill *fill = arg;
    const struct ifm_gemm_shape *s = &fill->host->job.shape;
    float *chunk = fill->room + (size_t)index * CHUNK * s->k;
    for (uint64_t row = (uint64_t)index * CHUNK; row < s->n; row += (uint64_t)count * CHUNK) {
        const uint64_t n = s->n - row < CHUNK ? s->n - row : CHUNK;
        ifm_model_weights(&fill->host->data, 0, row, n, (unsigned)s->k, chunk);
        ifm_gemm_encode(s, row, n, chunk, fill->to);
    }
}

static enum ifm_status fill_weights(struct ifm_gemm_host *host, unsigned char *to, struct ifm_error *error)
{
    struct gemm_fill fill = {host, to, malloc((size_t)host->threads * CHUNK * host->job.shape.k * sizeof(float))};
    if (fill.room == NULL)
        return ifm_fail(error, IFM_INTERNAL, host->arm, NULL, "out of memory");
    host->device->ops->parallel(host->device, host->threads, fill_part, &fill);
    ifm_data_copy(host->device, host->threads, to, host->bytes, host->layers);
    free(fill.room);
    return IFM_OK;
}

/* Shared input: the same name and size are the same memory for every arm of the cell. */
static enum ifm_status take_inputs(struct ifm_gemm_host *host, struct ifm_error *error)
{
    const struct ifm_gemm_shape *s = &host->job.shape;
    char name[160];
    void *memory;
    bool fresh;
    snprintf(name, sizeof name, "gemm.w %s %llux%llu group %u x%llu seed %016llx", ifm_gemm_format_name(s->format),
             (unsigned long long)s->n, (unsigned long long)s->k, s->group, (unsigned long long)host->layers,
             (unsigned long long)host->data.seed);
    IFM_TRY(host->device->ops->buffer(host->device, name, host->layers * host->bytes, &memory, &fresh, error));
    if (fresh)
        IFM_TRY(fill_weights(host, memory, error));
    if (host->device->ops->lend != NULL)
        host->device->ops->lend(host->device, memory);
    host->first_matrix = memory;
    snprintf(name, sizeof name, "gemm.x %llux%llu seed %016llx", (unsigned long long)s->m, (unsigned long long)s->k,
             (unsigned long long)host->data.seed);
    IFM_TRY(host->device->ops->buffer(host->device, name, s->m * s->k * sizeof(float), &memory, &fresh, error));
    if (fresh)
        ifm_model_activations(&host->data, 0, 0, s->m, (unsigned)s->k, memory);
    host->job.x = memory;
    return IFM_OK;
}

void ifm_gemm_host_spoil(void *opened, bool all)
{
    const struct ifm_gemm_host *host = opened;
    (void)all;
    for (size_t i = 0; i < host->job.shape.m * host->job.shape.n; i++)
        host->job.out[i] = NAN;
}

static enum ifm_status allocate(struct ifm_gemm_host *host, struct ifm_error *error)
{
    const struct ifm_gemm_shape *s = &host->job.shape;
    const size_t outputs = s->m * s->n, scratch = ifm_gemm_scratch_bytes(s, host->threads);
    IFM_TRY(take_inputs(host, error));
    host->job.w = host->first_matrix;
    host->job.out = ifm_data_aligned(outputs * sizeof(float));
    host->job.scratch = ifm_data_aligned(scratch);
    if (host->job.out == NULL || host->job.scratch == NULL)
        return ifm_fail(error, IFM_INTERNAL, host->arm, NULL, "out of memory");
    memset(host->job.scratch, 0, scratch);
    ifm_gemm_host_spoil(host, true);
    return IFM_OK;
}

void ifm_gemm_host_close(void *opened)
{
    const struct ifm_gemm_host *host = opened;
    free(host->job.out);
    free(host->job.scratch);
}

enum ifm_status ifm_gemm_host_open(struct ifm_gemm_host *host, const struct ifm_opening *opening,
                                   struct ifm_error *error)
{
    const struct ifm_gemm_chosen *chosen = opening->chosen;
    host->device = opening->device;
    host->arm = opening->arm->name;
    host->lossy = opening->arm->lossy;
    host->threads = opening->threads;
    host->job.shape = ifm_gemm_shape_of(opening->settings, (enum ifm_gemm_format)chosen->format);
    host->layers = chosen->layers;
    host->data = (struct ifm_model_data){.seed = opening->seed, .outlier = IFM_MODEL_OUTLIER};
    host->bytes = ifm_gemm_bytes(&host->job.shape);
    return allocate(host, error);
}

void ifm_gemm_host_step(void *opened, uint64_t n)
{
    struct ifm_gemm_host *host = opened;
    for (; n > 0; n--) {
        host->job.w = host->first_matrix + host->next * host->bytes;
        host->next = host->next + 1 < host->layers ? host->next + 1 : 0;
        host->device->ops->parallel(host->device, host->threads, host->work, host);
    }
}

enum ifm_status ifm_gemm_host_check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct ifm_gemm_host *host = opened;
    const struct ifm_gemm_job *job = &host->job;
    const size_t n = job->shape.m * job->shape.n;
    const uint64_t parts[] = {ifm_xxh3(job->x, job->shape.m * job->shape.k * sizeof(float)),
                              ifm_xxh3(job->w, host->bytes)};
    const uint64_t inputs = ifm_xxh3(parts, sizeof parts);
    if (!ifm_data_is_known(&host->known, inputs, job->out, n * sizeof(float))) {
        const struct ifm_gemm_outputs outputs = {job->shape, job->x, job->w, job->out, host->lossy, host->data, NULL};
        struct ifm_check *check = &host->known.check;
        *check = (struct ifm_check){0};
        IFM_TRY(ifm_gemm_compare(host->device, host->threads, &outputs, check, error));
        ifm_data_checked(job->out, n * sizeof(float), ifm_data_finite(job->out, n), host->code, check);
        host->known.inputs = inputs;
    }
    *out = host->known.check;
    return IFM_OK;
}
