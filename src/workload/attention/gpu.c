/* attention in a GPU's memory: inputs, steps, and the comparison with the reference. */
#include "workload/attention/gpu.h"

#include "base/hash.h"
#include "workload/attention/data.h"
#include "workload/attention/host.h"
#include "workload/attention/oracle.h"
#include "workload/data/errors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)IFM_CUDA_F32 == (int)IFM_STORE_F32 && (int)IFM_CUDA_BF16 == (int)IFM_STORE_BF16 &&
                   (int)IFM_CUDA_F16 == (int)IFM_STORE_F16,
               "the device's numbers of the formats are the host's");

const char *ifm_attention_gpu_supports(struct ifm_attention_ask *ask, struct ifm_arena *arena)
{
    const struct ifm_attention_shape *s = &ask->shape;
    if (strcmp(ask->isa, "auto") != 0)
        return "instruction sets are a processor's: leave attention.isa out on the device cuda, and take the arms "
               "naive, ours and cudnn";
    if (ask->settings->layout != IFM_CONTIGUOUS)
        return "packed views are a processor's: leave attention.layout out on the device cuda";
    ask->isa = "";
    if (s->batch * s->q_heads * s->seq_len > INT32_MAX) /* blocks of a grid */
        return ifm_arena_printf(arena, "%llu queries are more than a launch has; lower the batch, heads or seq_len",
                                (unsigned long long)(s->batch * s->q_heads * s->seq_len));
    return NULL;
}

/* ---- inputs ---- */

static enum ifm_status out_of_memory(const struct ifm_attention_gpu *gpu, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INTERNAL, gpu->arm, NULL, "out of memory");
}

/* Q, K and V as the processor generates them, copied to the device. */
static enum ifm_status upload(struct ifm_attention_gpu *gpu, const struct ifm_opening *opening, void *const to[3],
                              struct ifm_error *error)
{
    const struct ifm_attention_settings *from = opening->settings;
    const size_t bytes[3] = {gpu->q_bytes, gpu->kv_bytes, gpu->kv_bytes};
    void *rows[3] = {malloc(bytes[0]), malloc(bytes[1]), malloc(bytes[2])};
    struct ifm_data_source source = {0};
    const struct ifm_attention_inputs wanted = {rows[0], rows[1], rows[2],
                                                ifm_attention_views_of(&gpu->shape, IFM_CONTIGUOUS), &source};
    enum ifm_status status = rows[0] == NULL || rows[1] == NULL || rows[2] == NULL
                                 ? out_of_memory(gpu, error)
                                 : ifm_attention_source(from->kv_file, &gpu->shape, gpu->seed, &source, error);
    if (status == IFM_OK) {
        status = ifm_attention_generate(gpu->device, opening->threads, &gpu->shape, gpu->lengths, &wanted, error);
        ifm_data_source_close(&source);
    }
    for (int i = 0; i < 3; i++) {
        if (status == IFM_OK)
            status = ifm_cuda_write(gpu->device, to[i], rows[i], bytes[i], error);
        free(rows[i]);
    }
    return status;
}

static enum ifm_status inputs(struct ifm_attention_gpu *gpu, const struct ifm_opening *opening, struct ifm_error *error)
{
    const struct ifm_attention_settings *from = opening->settings;
    struct ifm_attention_arguments *a = &gpu->arguments;
    const size_t bytes[3] = {gpu->q_bytes, gpu->kv_bytes, gpu->kv_bytes}, n = gpu->shape.batch;
    char name[IFM_ATTENTION_NAME];
    void *at[3], *lengths;
    bool fresh, any = false;
    for (int i = 0; i < 3; i++) {
        ifm_attention_input_name(opening, "QKV"[i], name);
        IFM_TRY(gpu->device->ops->buffer(gpu->device, name, bytes[i], &at[i], &fresh, error));
        any = any || fresh;
    }
    a->q = at[0];
    a->k = at[1];
    a->v = at[2];
    gpu->lengths = malloc(n * sizeof *gpu->lengths);
    if (gpu->lengths == NULL)
        return out_of_memory(gpu, error);
    ifm_attention_lengths(gpu->shape.seq_len, from->ragged, n, opening->seed, gpu->lengths);
    ifm_attention_input_name(opening, 'L', name);
    IFM_TRY(gpu->device->ops->buffer(gpu->device, name, n * sizeof *gpu->lengths, &lengths, &fresh, error));
    a->lengths = lengths;
    IFM_TRY(ifm_cuda_write(gpu->device, lengths, gpu->lengths, n * sizeof *gpu->lengths, error));
    return any ? upload(gpu, opening, at, error) : IFM_OK;
}

/* An arm's own memory of the GPU. */
static enum ifm_status outputs(struct ifm_attention_gpu *gpu, struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &gpu->shape;
    char name[96];
    bool fresh;
    snprintf(name, sizeof name, "attention.out of %s", gpu->arm);
    IFM_TRY(gpu->device->ops->buffer(gpu->device, name, gpu->q_bytes, &gpu->arguments.out, &fresh, error));
    return gpu->device->ops->buffer(gpu->device, "attention.reference",
                                    s->q_heads * s->seq_len * s->head_dim * sizeof(double), &gpu->reference_out, &fresh,
                                    error);
}

enum ifm_status ifm_attention_gpu_open(struct ifm_attention_gpu *gpu, const struct ifm_opening *opening,
                                       ifm_cuda_enqueue_fn *enqueue, struct ifm_error *error)
{
    const struct ifm_attention_shape s = ifm_attention_shape_of(opening);
    const size_t head_bytes = s.batch * s.seq_len * s.head_dim * ifm_attention_size(s.storage);
    gpu->device = opening->device;
    gpu->arm = opening->arm->name;
    gpu->shape = s;
    gpu->seed = opening->seed;
    gpu->q_bytes = head_bytes * s.q_heads;
    gpu->kv_bytes = head_bytes * s.kv_heads;
    gpu->arguments.q_heads = (uint32_t)s.q_heads;
    gpu->arguments.kv_heads = (uint32_t)s.kv_heads;
    gpu->arguments.seq_len = (uint32_t)s.seq_len;
    gpu->arguments.head_dim = (uint16_t)s.head_dim;
    gpu->arguments.causal = s.causal;
    gpu->arguments.storage = (uint8_t)s.storage;
    IFM_TRY(ifm_cuda_find(gpu->device, "attention", "ifm_attention_reference", &gpu->reference, error));
    IFM_TRY(inputs(gpu, opening, error));
    IFM_TRY(outputs(gpu, error));
    ifm_attention_gpu_spoil(gpu, true);
    return ifm_cuda_steps_create(gpu->device, enqueue, gpu, &gpu->steps, error);
}

void ifm_attention_gpu_step(void *opened, uint64_t n)
{
    const struct ifm_attention_gpu *gpu = opened;
    ifm_cuda_steps_run(gpu->steps, n);
}

void ifm_attention_gpu_spoil(void *opened, bool all)
{
    const struct ifm_attention_gpu *gpu = opened;
    (void)all;
    ifm_cuda_fill(gpu->device, gpu->arguments.out, UINT32_MAX, gpu->q_bytes / 4); /* NaN in every format */
}

void ifm_attention_gpu_close(void *opened)
{
    const struct ifm_attention_gpu *gpu = opened;
    ifm_cuda_steps_destroy(gpu->steps);
    free(gpu->lengths);
}

/* ---- the check ---- */

/* What a check reads back, and the reference of one sequence. */
struct readback {
    struct ifm_attention_job job;
    void *q, *k, *v, *out;
    double *reference, *weights;
};

static enum ifm_status read_all(const struct ifm_attention_gpu *gpu, struct readback *to, struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &gpu->shape;
    const struct ifm_attention_arguments *a = &gpu->arguments;
    *to = (struct readback){.q = malloc(gpu->q_bytes),
                            .k = malloc(gpu->kv_bytes),
                            .v = malloc(gpu->kv_bytes),
                            .out = malloc(gpu->q_bytes),
                            .reference = malloc(s->q_heads * s->seq_len * s->head_dim * sizeof(double)),
                            .weights = malloc(s->seq_len * sizeof(double))};
    if (to->q == NULL || to->k == NULL || to->v == NULL || to->out == NULL || to->reference == NULL ||
        to->weights == NULL)
        return out_of_memory(gpu, error);
    to->job = (struct ifm_attention_job){.shape = *s,
                                         .q = to->q,
                                         .k = to->k,
                                         .v = to->v,
                                         .out = to->out,
                                         .at = ifm_attention_views_of(s, IFM_CONTIGUOUS),
                                         .lengths = gpu->lengths};
    IFM_TRY(ifm_cuda_read(gpu->device, to->q, a->q, gpu->q_bytes, error));
    IFM_TRY(ifm_cuda_read(gpu->device, to->k, a->k, gpu->kv_bytes, error));
    IFM_TRY(ifm_cuda_read(gpu->device, to->v, a->v, gpu->kv_bytes, error));
    return ifm_cuda_read(gpu->device, to->out, a->out, gpu->q_bytes, error);
}

static void give_up(const struct readback *all)
{
    free(all->q);
    free(all->k);
    free(all->v);
    free(all->out);
    free(all->reference);
    free(all->weights);
}

/* The reference of a sequence, computed on the GPU and read. */
static enum ifm_status refer(const struct ifm_attention_gpu *gpu, uint64_t sequence, double *to,
                             struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &gpu->shape;
    struct ifm_attention_arguments a = gpu->arguments;
    const size_t rows = s->q_heads * s->seq_len;
    a.q = (const char *)a.q + sequence * (gpu->q_bytes / s->batch);
    a.k = (const char *)a.k + sequence * (gpu->kv_bytes / s->batch);
    a.v = (const char *)a.v + sequence * (gpu->kv_bytes / s->batch);
    a.lengths += sequence;
    a.out = gpu->reference_out;
    ifm_cuda_fill(gpu->device, gpu->reference_out, UINT32_MAX, rows * s->head_dim * 2);
    ifm_cuda_launch(gpu->device,
                    &(struct ifm_cuda_launch){gpu->reference, (unsigned)rows, IFM_ATTENTION_NAIVE_THREADS, 0, &a});
    return ifm_cuda_read(gpu->device, to, gpu->reference_out, rows * s->head_dim * sizeof *to, error);
}

static enum ifm_status compare(const struct ifm_attention_gpu *gpu, const struct readback *all, struct ifm_check *check,
                               struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &gpu->shape;
    const uint64_t rows = s->q_heads * s->seq_len;
    struct ifm_data_errors errors = {0};
    for (uint64_t i = 0; i < s->batch; i++) {
        IFM_TRY(refer(gpu, i, all->reference, error));
        ifm_attention_compare_rows(&all->job, gpu->seed, i * rows, rows, all->reference, all->weights, &errors);
    }
    ifm_data_errors_tell(&errors, check);
    return IFM_OK;
}

static enum ifm_status check_all(struct ifm_attention_gpu *gpu, const struct readback *all, struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &gpu->shape;
    const struct ifm_gpu *card = ifm_cuda_gpu(gpu->device);
    const uint64_t parts[] = {ifm_xxh3(all->q, gpu->q_bytes), ifm_xxh3(all->k, gpu->kv_bytes),
                              ifm_xxh3(all->v, gpu->kv_bytes)},
                   now = ifm_xxh3(parts, sizeof parts);
    struct ifm_check *check = &gpu->known.check;
    char code[16];
    bool finite = true;
    if (ifm_data_is_known(&gpu->known, now, all->out, gpu->q_bytes))
        return IFM_OK;
    *check = (struct ifm_check){0};
    IFM_TRY(compare(gpu, all, check, error));
    for (size_t i = 0; i < gpu->q_bytes / ifm_attention_size(s->storage); i++)
        finite = finite && isfinite(ifm_attention_value(all->out, s->storage, i));
    snprintf(code, sizeof code, "sm_%u%u", card->major, card->minor);
    ifm_data_checked(all->out, gpu->q_bytes, finite, gpu->code != NULL ? gpu->code : code, check);
    gpu->known.inputs = now;
    return IFM_OK;
}

enum ifm_status ifm_attention_gpu_check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct ifm_attention_gpu *gpu = opened;
    struct readback all;
    enum ifm_status status = read_all(gpu, &all, error);
    if (status == IFM_OK)
        status = check_all(gpu, &all, error);
    give_up(&all);
    *out = gpu->known.check;
    return status;
}
