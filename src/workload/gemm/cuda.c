/* gemm in a GPU's memory: inputs, the rotation over weight matrices, and the comparison with the oracle.
 *
 * Every output is compared with sums in f64 of a plain kernel of the GPU; rows of the weights that the seed draws are
 * multiplied on the host too, from what their bytes mean there, and where these differ the host's count. */
#include "workload/gemm/cuda.h"

#include "base/half.h"
#include "base/hash.h"
#include "workload/gemm/oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 /* rows that are generated at once */ };

_Static_assert((int)IFM_CUDA_GEMM_F16 == (int)IFM_GEMM_F16 && (int)IFM_CUDA_GEMM_BF16 == (int)IFM_GEMM_BF16 &&
                   (int)IFM_CUDA_GEMM_INT8 == (int)IFM_GEMM_INT8 && (int)IFM_CUDA_GEMM_INT4 == (int)IFM_GEMM_INT4,
               "the device's numbers of the formats are the host's");

const char *ifm_gemm_cuda_supports(struct ifm_gemm_ask *ask)
{
    if (ask->settings->isa != 0)
        return "instruction sets are a processor's: leave gemm.isa out on the device cuda";
    if (ask->shape.format == IFM_GEMM_F32)
        return "nothing multiplies f32 weights on the device cuda; take f16, bf16, int8 or int4";
    if (ask->settings->layers > IFM_CUDA_TURNS)
        return "steps on the device cuda take at most 64 weight matrices in turn; lower gemm.layers";
    ask->value_bytes = sizeof(uint16_t);
    ask->scratch = ask->shape.m * ask->shape.n * sizeof(double) + ifm_gemm_bytes(&ask->shape); /* of the check */
    return NULL;
}

static enum ifm_status out_of_memory(const struct ifm_gemm_cuda *gemm, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INTERNAL, gemm->arm, NULL, "out of memory");
}

static bool is_bf16(const struct ifm_gemm_cuda *gemm)
{
    return gemm->shape.format == IFM_GEMM_BF16;
}

/* ---- inputs ---- */

struct gemm_rows {
    const struct ifm_gemm_cuda *gemm;
    float *room;
    unsigned char *to;
};

static void generate(const struct gemm_rows *rows)
{
    const struct ifm_gemm_shape *s = &rows->gemm->shape;
    for (uint64_t row = 0; row < s->n; row += CHUNK) {
        const uint64_t n = s->n - row < CHUNK ? s->n - row : CHUNK;
        ifm_model_weights(&rows->gemm->data, 0, row, n, (unsigned)s->k, rows->room);
        ifm_gemm_encode(s, row, n, rows->room, rows->to);
    }
}

/* One matrix, as a processor stores it, to `to` on the device. */
static enum ifm_status upload(const struct ifm_gemm_cuda *gemm, bool in_fragments, void *to, struct ifm_error *error)
{
    const struct gemm_rows rows = {gemm, malloc(CHUNK * gemm->shape.k * sizeof(float)), malloc(gemm->bytes)};
    unsigned char *fragments = in_fragments ? malloc(gemm->bytes) : NULL;
    enum ifm_status status = IFM_OK;
    if (rows.room == NULL || rows.to == NULL || (in_fragments && fragments == NULL)) {
        status = out_of_memory(gemm, error);
    } else {
        generate(&rows);
        if (in_fragments)
            ifm_gemm_to_fragments(&gemm->shape, gemm->in_order, rows.to, fragments);
        status = ifm_cuda_write(gemm->device, to, in_fragments ? fragments : rows.to, gemm->bytes, error);
    }
    free(rows.room);
    free(rows.to);
    free(fragments);
    return status;
}

/* `count` copies of the matrix; the same name and size are the same memory for every arm of the cell. */
static enum ifm_status take_matrices(const struct ifm_gemm_cuda *gemm, bool in_fragments, uint64_t count,
                                     const void **out, struct ifm_error *error)
{
    const struct ifm_gemm_shape *s = &gemm->shape;
    char name[160];
    void *memory;
    bool fresh;
    snprintf(name, sizeof name, "gemm.w %s %llux%llu group %u x%llu seed %016llx%s", ifm_gemm_format_name(s->format),
             (unsigned long long)s->n, (unsigned long long)s->k, s->group, (unsigned long long)count,
             (unsigned long long)gemm->data.seed,
             !in_fragments    ? ""
             : gemm->in_order ? " fragments in order"
                              : " fragments");
    IFM_TRY(gemm->device->ops->buffer(gemm->device, name, count * gemm->bytes, &memory, &fresh, error));
    if (fresh)
        IFM_TRY(upload(gemm, in_fragments, memory, error));
    for (uint64_t i = 1; fresh && i < count; i++)
        ifm_cuda_copy(gemm->device, (char *)memory + i * gemm->bytes, memory, gemm->bytes);
    *out = memory;
    return ifm_cuda_wait(gemm->device, error);
}

/* The activations as the device has them; malloc'd. */
static uint16_t *activations(const struct ifm_gemm_cuda *gemm)
{
    const struct ifm_gemm_shape *s = &gemm->shape;
    const size_t stride = gemm->arguments.x_stride;
    float *values = malloc(s->m * s->k * sizeof *values);
    uint16_t *x = calloc(s->m * stride, sizeof *x);
    if (values != NULL && x != NULL) {
        ifm_model_activations(&gemm->data, 0, 0, s->m, (unsigned)s->k, values);
        for (size_t i = 0; i < s->m * s->k; i++)
            x[i / s->k * stride + i % s->k] = is_bf16(gemm) ? ifm_f32_to_bf16(values[i]) : ifm_f32_to_f16(values[i]);
    } else {
        free(x);
        x = NULL;
    }
    free(values);
    return x;
}

static enum ifm_status take_activations(struct ifm_gemm_cuda *gemm, struct ifm_error *error)
{
    const struct ifm_gemm_shape *s = &gemm->shape;
    const size_t bytes = s->m * gemm->arguments.x_stride * sizeof(uint16_t);
    char name[96];
    void *memory;
    bool fresh;
    snprintf(name, sizeof name, "gemm.x %s %llux%llu seed %016llx", is_bf16(gemm) ? "bf16" : "f16",
             (unsigned long long)s->m, (unsigned long long)s->k, (unsigned long long)gemm->data.seed);
    IFM_TRY(gemm->device->ops->buffer(gemm->device, name, bytes, &memory, &fresh, error));
    gemm->arguments.x = memory;
    if (!fresh)
        return IFM_OK;
    uint16_t *x = activations(gemm);
    enum ifm_status status =
        x == NULL ? out_of_memory(gemm, error) : ifm_cuda_write(gemm->device, memory, x, bytes, error);
    free(x);
    return status;
}

static enum ifm_status take_outputs(struct ifm_gemm_cuda *gemm, struct ifm_error *error)
{
    const size_t n = gemm->shape.m * gemm->shape.n;
    char name[96];
    void *sums;
    bool fresh;
    snprintf(name, sizeof name, "gemm.out of %s", gemm->arm);
    IFM_TRY(gemm->device->ops->buffer(gemm->device, name, n * sizeof(uint16_t), &gemm->arguments.out, &fresh, error));
    IFM_TRY(gemm->device->ops->buffer(gemm->device, "gemm.reference", n * sizeof(double), &sums, &fresh, error));
    gemm->sums = sums;
    ifm_gemm_cuda_spoil(gemm, true);
    return IFM_OK;
}

/* ---- the arm ---- */

enum ifm_status ifm_gemm_cuda_open(struct ifm_gemm_cuda *gemm, const struct ifm_opening *opening,
                                   ifm_cuda_enqueue_fn *enqueue, struct ifm_error *error)
{
    const struct ifm_gemm_chosen *chosen = opening->chosen;
    const void *matrices;
    gemm->device = opening->device;
    gemm->arm = opening->arm->name;
    gemm->lossy = opening->arm->lossy;
    gemm->shape = ifm_gemm_shape_of(opening->settings, (enum ifm_gemm_format)chosen->format);
    gemm->layers = chosen->layers;
    gemm->bytes = ifm_gemm_bytes(&gemm->shape);
    gemm->data = (struct ifm_model_data){.seed = opening->seed, .outlier = IFM_MODEL_OUTLIER};
    const struct ifm_gemm_shape *s = &gemm->shape;
    const uint64_t stride = (s->k + IFM_CUDA_GEMM_PAD - 1) / IFM_CUDA_GEMM_PAD * IFM_CUDA_GEMM_PAD;
    gemm->arguments = (struct ifm_cuda_gemm){.m = (uint32_t)s->m,
                                             .n = (uint32_t)s->n,
                                             .k = (uint32_t)s->k,
                                             .x_stride = (uint32_t)stride,
                                             .group = s->group,
                                             .format = (uint32_t)s->format};
    IFM_TRY(ifm_cuda_find(gemm->device, "gemm", "ifm_gemm_reference", &gemm->reference, error));
    IFM_TRY(take_matrices(gemm, gemm->in_fragments, gemm->layers, &matrices, error));
    gemm->matrices = matrices;
    if (gemm->in_fragments)
        IFM_TRY(take_matrices(gemm, false, 1, &gemm->plain, error));
    IFM_TRY(take_activations(gemm, error));
    IFM_TRY(take_outputs(gemm, error));
    IFM_TRY(ifm_cuda_steps_create(gemm->device, enqueue, gemm, &gemm->steps, error));
    ifm_cuda_steps_turns(gemm->steps, (unsigned)gemm->layers, &gemm->turn);
    return IFM_OK;
}

const void *ifm_gemm_cuda_matrix(const struct ifm_gemm_cuda *gemm)
{
    return gemm->matrices + gemm->turn * gemm->bytes;
}

void ifm_gemm_cuda_step(void *opened, uint64_t n)
{
    const struct ifm_gemm_cuda *gemm = opened;
    ifm_cuda_steps_run(gemm->steps, n);
}

void ifm_gemm_cuda_spoil(void *opened, bool all)
{
    const struct ifm_gemm_cuda *gemm = opened;
    (void)all;
    ifm_cuda_fill(gemm->device, gemm->arguments.out, UINT32_MAX, gemm->shape.m * gemm->shape.n / 2); /* NaN */
}

void ifm_gemm_cuda_close(void *opened)
{
    const struct ifm_gemm_cuda *gemm = opened;
    ifm_cuda_steps_destroy(gemm->steps);
}

/* ---- the check ---- */

/* What a check reads back, as f32 where it is 16 bits wide. */
struct gemm_readback {
    uint16_t *bits; /* room for x or the outputs */
    float *x, *out;
    void *w;
    double *sums;
};

static enum ifm_status read_values(const struct ifm_gemm_cuda *gemm, const void *from, size_t n, uint16_t *bits,
                                   float *to, struct ifm_error *error)
{
    IFM_TRY(ifm_cuda_read(gemm->device, bits, from, n * sizeof *bits, error));
    for (size_t i = 0; i < n; i++)
        to[i] = is_bf16(gemm) ? ifm_bf16_to_f32(bits[i]) : ifm_f16_to_f32(bits[i]);
    return IFM_OK;
}

/* The sums in f64 of what the last step multiplied, computed by the GPU. */
static enum ifm_status refer(const struct ifm_gemm_cuda *gemm, const void *w, double *to, struct ifm_error *error)
{
    const size_t n = gemm->shape.m * gemm->shape.n, warps = IFM_CUDA_GEMM_THREADS / 32;
    struct ifm_cuda_gemm a = gemm->arguments;
    a.w = w;
    a.out = gemm->sums;
    ifm_cuda_fill(gemm->device, a.out, UINT32_MAX, n * 2);
    ifm_cuda_launch(gemm->device, &(struct ifm_cuda_launch){gemm->reference, (unsigned)((n + warps - 1) / warps),
                                                            IFM_CUDA_GEMM_THREADS, 0, &a});
    return ifm_cuda_read(gemm->device, to, gemm->sums, n * sizeof *to, error);
}

/* Rows of x are `stride` apart on the device; the oracle has them without gaps. */
static void close_gaps(const struct ifm_gemm_cuda *gemm, float *x)
{
    for (uint64_t m = 1; m < gemm->shape.m; m++)
        memmove(x + m * gemm->shape.k, x + m * gemm->arguments.x_stride, gemm->shape.k * sizeof *x);
}

static enum ifm_status compare(struct ifm_gemm_cuda *gemm, const struct gemm_readback *all, struct ifm_error *error)
{
    const struct ifm_gemm_shape *s = &gemm->shape;
    const size_t n = s->m * s->n, n_x = s->m * gemm->arguments.x_stride;
    const void *w = gemm->plain != NULL ? gemm->plain : ifm_gemm_cuda_matrix(gemm);
    const struct ifm_gpu *card = ifm_cuda_gpu(gemm->device);
    struct ifm_check *check = &gemm->known.check;
    char code[16];
    IFM_TRY(read_values(gemm, gemm->arguments.x, n_x, all->bits, all->x, error));
    IFM_TRY(read_values(gemm, gemm->arguments.out, n, all->bits, all->out, error));
    IFM_TRY(ifm_cuda_read(gemm->device, all->w, w, gemm->bytes, error));
    const uint64_t parts[] = {ifm_xxh3(all->x, n_x * sizeof *all->x), ifm_xxh3(all->w, gemm->bytes)};
    const uint64_t inputs = ifm_xxh3(parts, sizeof parts);
    if (ifm_data_is_known(&gemm->known, inputs, all->out, n * sizeof *all->out))
        return IFM_OK;
    IFM_TRY(refer(gemm, w, all->sums, error));
    close_gaps(gemm, all->x);
    *check = (struct ifm_check){0};
    const struct ifm_gemm_outputs outputs = {*s, all->x, all->w, all->out, gemm->lossy, gemm->data, all->sums};
    IFM_TRY(ifm_gemm_compare(gemm->device, 1, &outputs, check, error));
    snprintf(code, sizeof code, "sm_%u%u", card->major, card->minor);
    ifm_data_checked(all->out, n * sizeof *all->out, ifm_data_finite(all->out, n),
                     gemm->code != NULL ? gemm->code : code, check);
    gemm->known.inputs = inputs;
    return IFM_OK;
}

enum ifm_status ifm_gemm_cuda_check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct ifm_gemm_cuda *gemm = opened;
    const size_t n = gemm->shape.m * gemm->shape.n, n_x = gemm->shape.m * gemm->arguments.x_stride;
    const struct gemm_readback all = {malloc((n > n_x ? n : n_x) * sizeof(uint16_t)), malloc(n_x * sizeof(float)),
                                      malloc(n * sizeof(float)), malloc(gemm->bytes), malloc(n * sizeof(double))};
    const bool fits = all.bits != NULL && all.x != NULL && all.out != NULL && all.w != NULL && all.sums != NULL;
    enum ifm_status status = fits ? compare(gemm, &all, error) : out_of_memory(gemm, error);
    free(all.bits);
    free(all.x);
    free(all.out);
    free(all.w);
    free(all.sums);
    *out = gemm->known.check;
    return status;
}
