/* attention in a GPU's memory: inputs, the rotation over layers, steps, and the comparison with the reference. */
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
    ask->isa = "";
    if (ask->settings->layers > IFM_CUDA_TURNS)
        return "steps on the device cuda take at most 64 layers in turn: lower attention.layers";
    if (s->batch * s->q_heads * s->seq_len > INT32_MAX) /* blocks of a grid */
        return ifm_arena_printf(arena, "%llu queries are more than a launch has; lower the batch, heads or seq_len",
                                (unsigned long long)(s->batch * s->q_heads * s->seq_len));
    return NULL;
}

enum ifm_status ifm_attention_gpu_find(const struct ifm_opening *opening, const char *image, const char *name,
                                       struct ifm_cuda_function **out, struct ifm_error *error)
{
    const char *of = ifm_attention_layout_of(opening) == IFM_QKV_PACKED ? "_strided" : "";
    char full_image[48], full_name[64];
    snprintf(full_image, sizeof full_image, "%s%s", image, of);
    snprintf(full_name, sizeof full_name, "%s%s", name, of);
    return ifm_cuda_find(opening->device, full_image, full_name, out, error);
}

/* ---- inputs ---- */

static enum ifm_status out_of_memory(const struct ifm_attention_gpu *gpu, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INTERNAL, gpu->arm, NULL, "out of memory");
}

/* A buffer of all layers. */
static enum ifm_status take(const struct ifm_attention_gpu *gpu, const char *name, size_t bytes, void **out,
                            bool *fresh, struct ifm_error *error)
{
    return ifm_attention_fewer(
        gpu->layers, gpu->device->ops->buffer(gpu->device, name, gpu->layers * bytes, out, fresh, error), error);
}

/* Q, K and V as the processor generates them, copied to the device, and there into every layer. */
static enum ifm_status upload(struct ifm_attention_gpu *gpu, const struct ifm_opening *opening, void *const to[3],
                              struct ifm_error *error)
{
    const struct ifm_attention_settings *from = opening->settings;
    const size_t *bytes = gpu->input_bytes;
    void *rows[3] = {malloc(bytes[0]), malloc(bytes[1]), malloc(bytes[2])};
    struct ifm_data_source source = {0};
    struct ifm_attention_inputs wanted = {rows[0], rows[1], rows[2], gpu->at, &source};
    if (gpu->layout == IFM_QKV_PACKED && rows[0] != NULL)
        ifm_attention_split(&gpu->shape, rows[0], &wanted.k, &wanted.v);
    enum ifm_status status = wanted.q == NULL || wanted.k == NULL || wanted.v == NULL
                                 ? out_of_memory(gpu, error)
                                 : ifm_attention_source(from->kv_file, &gpu->shape, gpu->seed, &source, error);
    if (status == IFM_OK) {
        status = ifm_attention_generate(gpu->device, opening->threads, &gpu->shape, gpu->lengths, &wanted, error);
        ifm_data_source_close(&source);
    }
    for (int i = 0; i < 3; i++) {
        if (status == IFM_OK && bytes[i] > 0)
            status = ifm_cuda_write(gpu->device, to[i], rows[i], bytes[i], error);
        for (unsigned layer = 1; status == IFM_OK && bytes[i] > 0 && layer < gpu->layers; layer++)
            ifm_cuda_copy(gpu->device, (char *)to[i] + layer * bytes[i], to[i], bytes[i]);
        free(rows[i]);
    }
    return status;
}

static enum ifm_status inputs(struct ifm_attention_gpu *gpu, const struct ifm_opening *opening, struct ifm_error *error)
{
    const struct ifm_attention_settings *from = opening->settings;
    struct ifm_attention_arguments *a = &gpu->arguments;
    const size_t n = gpu->shape.batch;
    const bool is_packed = gpu->layout == IFM_QKV_PACKED;
    char name[IFM_ATTENTION_NAME];
    void *at[3], *lengths;
    bool fresh, any = false;
    for (int i = 0; i < 3; i++)
        gpu->input_bytes[i] = i == 0 ? gpu->q_bytes : gpu->kv_bytes;
    if (is_packed) {
        gpu->input_bytes[0] += 2 * gpu->kv_bytes;
        gpu->input_bytes[1] = gpu->input_bytes[2] = 0;
    }
    for (int i = 0; i < (is_packed ? 1 : 3); i++) {
        ifm_attention_input_name(opening, is_packed ? 'P' : "QKV"[i], name);
        IFM_TRY(take(gpu, name, gpu->input_bytes[i], &at[i], &fresh, error));
        any = any || fresh;
    }
    if (is_packed)
        ifm_attention_split(&gpu->shape, at[0], &at[1], &at[2]);
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
    IFM_TRY(take(gpu, name, gpu->q_bytes, &gpu->arguments.out, &fresh, error));
    return gpu->device->ops->buffer(gpu->device, "attention.reference",
                                    s->q_heads * s->seq_len * s->head_dim * sizeof(double), &gpu->reference_out, &fresh,
                                    error);
}

enum ifm_status ifm_attention_gpu_open(struct ifm_attention_gpu *gpu, const struct ifm_opening *opening,
                                       ifm_cuda_enqueue_fn *enqueue, struct ifm_error *error)
{
    const struct ifm_attention_chosen *chosen = opening->chosen;
    const struct ifm_attention_shape s = ifm_attention_shape_of(opening);
    const size_t head_bytes = s.batch * s.seq_len * s.head_dim * ifm_attention_size(s.storage);
    gpu->device = opening->device;
    gpu->arm = opening->arm->name;
    gpu->shape = s;
    gpu->layout = ifm_attention_layout_of(opening);
    gpu->at = ifm_attention_views_of(&s, gpu->layout);
    gpu->strided.q_views = gpu->at.q;
    gpu->strided.kv_views = gpu->at.kv;
    gpu->strided.out_views = gpu->at.out;
    gpu->seed = opening->seed;
    gpu->layers = (unsigned)chosen->layers;
    gpu->q_bytes = head_bytes * s.q_heads;
    gpu->kv_bytes = head_bytes * s.kv_heads;
    gpu->arguments.q_heads = (uint32_t)s.q_heads;
    gpu->arguments.kv_heads = (uint32_t)s.kv_heads;
    gpu->arguments.seq_len = (uint32_t)s.seq_len;
    gpu->arguments.head_dim = (uint16_t)s.head_dim;
    gpu->arguments.causal = s.causal;
    gpu->arguments.storage = (uint8_t)s.storage;
    IFM_TRY(ifm_attention_gpu_find(opening, "attention", "ifm_attention_reference", &gpu->reference, error));
    IFM_TRY(inputs(gpu, opening, error));
    IFM_TRY(outputs(gpu, error));
    ifm_attention_gpu_spoil(gpu, true);
    IFM_TRY(ifm_cuda_steps_create(gpu->device, enqueue, gpu, &gpu->steps, error));
    ifm_cuda_steps_turns(gpu->steps, gpu->layers, &gpu->turn);
    return ifm_cuda_wait(gpu->device, error);
}

struct ifm_attention_strided ifm_attention_gpu_layer(const struct ifm_attention_gpu *gpu, unsigned layer)
{
    struct ifm_attention_strided a = gpu->strided;
    const size_t *bytes = gpu->input_bytes;
    a.of.q = (const char *)a.of.q + layer * bytes[0];
    a.of.k = (const char *)a.of.k + layer * bytes[bytes[1] > 0 ? 1 : 0];
    a.of.v = (const char *)a.of.v + layer * bytes[bytes[2] > 0 ? 2 : 0];
    a.of.out = (char *)a.of.out + layer * gpu->q_bytes;
    return a;
}

void ifm_attention_gpu_step(void *opened, uint64_t n)
{
    struct ifm_attention_gpu *gpu = opened;
    gpu->written = n < gpu->layers - gpu->written ? gpu->written + (unsigned)n : gpu->layers;
    ifm_cuda_steps_run(gpu->steps, n);
}

void ifm_attention_gpu_spoil(void *opened, bool all)
{
    struct ifm_attention_gpu *gpu = opened;
    (void)all;
    gpu->written = 0;
    ifm_cuda_fill(gpu->device, gpu->arguments.out, UINT32_MAX, gpu->layers * gpu->q_bytes / 4); /* NaN in all formats */
}

void ifm_attention_gpu_close(void *opened)
{
    const struct ifm_attention_gpu *gpu = opened;
    ifm_cuda_steps_destroy(gpu->steps);
    free(gpu->lengths);
}

/* ---- the check ---- */

/* What a check reads back of a layer, and the reference of one sequence. */
struct readback {
    struct ifm_attention_job job;
    void *inputs[3], *out; /* inputs as gpu->input_bytes has them */
    double *reference, *weights;
};

static enum ifm_status make_room(const struct ifm_attention_gpu *gpu, struct readback *to, struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &gpu->shape;
    const size_t *bytes = gpu->input_bytes;
    *to = (struct readback){.inputs = {malloc(bytes[0]), malloc(bytes[1]), malloc(bytes[2])},
                            .out = malloc(gpu->q_bytes),
                            .reference = malloc(s->q_heads * s->seq_len * s->head_dim * sizeof(double)),
                            .weights = malloc(s->seq_len * sizeof(double))};
    void *k = to->inputs[1], *v = to->inputs[2];
    if (gpu->layout == IFM_QKV_PACKED && to->inputs[0] != NULL)
        ifm_attention_split(s, to->inputs[0], &k, &v);
    if (to->inputs[0] == NULL || k == NULL || v == NULL || to->out == NULL || to->reference == NULL ||
        to->weights == NULL)
        return out_of_memory(gpu, error);
    to->job = (struct ifm_attention_job){
        .shape = *s, .q = to->inputs[0], .k = k, .v = v, .out = to->out, .at = gpu->at, .lengths = gpu->lengths};
    return IFM_OK;
}

static enum ifm_status read_layer(const struct ifm_attention_gpu *gpu, const struct ifm_attention_arguments *a,
                                  const struct readback *to, struct ifm_error *error)
{
    const void *const from[3] = {a->q, a->k, a->v};
    for (int i = 0; i < 3; i++)
        if (gpu->input_bytes[i] > 0)
            IFM_TRY(ifm_cuda_read(gpu->device, to->inputs[i], from[i], gpu->input_bytes[i], error));
    return ifm_cuda_read(gpu->device, to->out, a->out, gpu->q_bytes, error);
}

static void give_up(const struct readback *all)
{
    for (int i = 0; i < 3; i++)
        free(all->inputs[i]);
    free(all->out);
    free(all->reference);
    free(all->weights);
}

/* The reference of a sequence, computed on the GPU and read. */
static enum ifm_status refer(const struct ifm_attention_gpu *gpu, struct ifm_attention_strided a, uint64_t sequence,
                             double *to, struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &gpu->shape;
    const size_t rows = s->q_heads * s->seq_len, size = ifm_attention_size(s->storage);
    a.of.q = (const char *)a.of.q + sequence * gpu->at.q.sequence * size;
    a.of.k = (const char *)a.of.k + sequence * gpu->at.kv.sequence * size;
    a.of.v = (const char *)a.of.v + sequence * gpu->at.kv.sequence * size;
    a.of.lengths += sequence;
    a.of.out = gpu->reference_out;
    a.out_views = ifm_attention_views_of(s, IFM_CONTIGUOUS).out;
    ifm_cuda_fill(gpu->device, gpu->reference_out, UINT32_MAX, rows * s->head_dim * 2);
    ifm_cuda_launch(gpu->device,
                    &(struct ifm_cuda_launch){gpu->reference, (unsigned)rows, IFM_ATTENTION_NAIVE_THREADS, 0, &a});
    return ifm_cuda_read(gpu->device, to, gpu->reference_out, rows * s->head_dim * sizeof *to, error);
}

static enum ifm_status compare(const struct ifm_attention_gpu *gpu, const struct ifm_attention_strided *a,
                               const struct readback *all, struct ifm_check *check, struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &gpu->shape;
    const uint64_t rows = s->q_heads * s->seq_len;
    struct ifm_data_errors errors = {0};
    for (uint64_t i = 0; i < s->batch; i++) {
        IFM_TRY(refer(gpu, *a, i, all->reference, error));
        ifm_attention_compare_rows(&all->job, gpu->seed, i * rows, rows, all->reference, all->weights, &errors);
    }
    ifm_data_errors_tell(&errors, check);
    return IFM_OK;
}

static enum ifm_status check_layer(struct ifm_attention_gpu *gpu, unsigned layer, const struct readback *all,
                                   struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &gpu->shape;
    const struct ifm_attention_strided a = ifm_attention_gpu_layer(gpu, layer);
    IFM_TRY(read_layer(gpu, &a.of, all, error));
    const struct ifm_gpu *card = ifm_cuda_gpu(gpu->device);
    const uint64_t parts[] = {ifm_xxh3(all->inputs[0], gpu->input_bytes[0]),
                              ifm_xxh3(all->inputs[1], gpu->input_bytes[1]),
                              ifm_xxh3(all->inputs[2], gpu->input_bytes[2])},
                   now = ifm_xxh3(parts, sizeof parts);
    struct ifm_check *check = &gpu->known.check;
    char code[16];
    bool finite = true;
    if (ifm_data_is_known(&gpu->known, now, all->out, gpu->q_bytes))
        return IFM_OK;
    *check = (struct ifm_check){0};
    IFM_TRY(compare(gpu, &a, all, check, error));
    for (size_t i = 0; i < gpu->q_bytes / ifm_attention_size(s->storage); i++)
        finite = finite && isfinite(ifm_attention_value(all->out, s->storage, i));
    snprintf(code, sizeof code, "sm_%u%u", card->major, card->minor);
    ifm_data_checked(all->out, gpu->q_bytes, finite, gpu->code != NULL ? gpu->code : code, check);
    gpu->known.inputs = now;
    return IFM_OK;
}

/* Layers that were written, the last one at last; of none that of the last step, which is spoiled. All hold the same:
 * equal bits are compared once. */
enum ifm_status ifm_attention_gpu_check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct ifm_attention_gpu *gpu = opened;
    const unsigned n = gpu->written > 1 ? gpu->written : 1;
    struct readback all;
    enum ifm_status status = make_room(gpu, &all, error);
    for (unsigned i = n; i-- > 0 && status == IFM_OK;) {
        status = check_layer(gpu, (gpu->turn + gpu->layers - i) % gpu->layers, &all, error);
        ifm_data_take_layer(out, &gpu->known.check, i + 1 == n);
    }
    give_up(&all);
    return status;
}
