/* Hard inputs of attention on the device cuda, of each kernel of ours: odd and empty lengths, extreme and subnormal
 * values, outlier channels, keys whose scores are minus infinity, and NaN, which reaches exactly the outputs that read
 * it. A query that sees no key has zeros; one whose scores are all minus infinity has NaN, 0 / 0. */
#include <cmocka.h>

#include "opened.h"
#include "planted.h"
#include "planted_cuda.h"

#include "hard_cuda.h"
#include "workload/attention/gpu.h"
#include "workload/attention/oracle.h"

/* Inputs as values, and as the device has them. */
struct tensors {
    uint16_t *bits[3];
    float *values[3];
    uint32_t *lengths;
};

enum plant {
    NOTHING,
    NAN_KEY,
    NAN_VALUE,
    NAN_QUERY,
    INFINITE_VALUE,
    MASKED_KEYS, /* every third key has a score of minus infinity */
    ALL_MASKED,  /* every key of the first head */
    PLANTS
};
static const char *const plant_names[PLANTS] = {"",
                                                "NaN in a key",
                                                "NaN in a value",
                                                "NaN in a query",
                                                "an infinite value",
                                                "keys of minus infinity",
                                                "a head's keys all of minus infinity"};

static size_t count(const struct ifm_attention_gpu *gpu, int tensor)
{
    return (tensor == 0 ? gpu->q_bytes : gpu->kv_bytes) / sizeof(uint16_t);
}

static void set(const struct ifm_attention_gpu *gpu, struct tensors *t, int tensor, size_t i, float x)
{
    t->values[tensor][i] = x;
    t->bits[tensor][i] = gpu->shape.storage == IFM_STORE_BF16 ? ifm_f32_to_bf16(x) : ifm_f32_to_f16(x);
}

/* Where value i of a tensor of [heads][seq_len][head_dim] lies. */
static size_t place(const struct ifm_attention_gpu *gpu, int tensor, size_t i)
{
    const struct ifm_attention_shape *s = &gpu->shape;
    const size_t row = i / s->head_dim, pair = row / s->seq_len, heads = tensor == 0 ? s->q_heads : s->kv_heads;
    const struct ifm_strides *at = tensor == 0 ? &gpu->at.q : &gpu->at.kv;
    return ifm_strides_head(at, pair / heads, pair % heads) + row % s->seq_len * at->row + i % s->head_dim;
}

static void plant_values(const struct ifm_attention_gpu *gpu, enum plant plant, struct tensors *t)
{
    const size_t dim = gpu->shape.head_dim, seq = gpu->shape.seq_len, key = seq / 3;
    const size_t last = count(gpu, 1) / dim - seq; /* the last head's first key */
    const bool masks = plant == MASKED_KEYS || plant == ALL_MASKED;
    if (plant == NAN_KEY)
        set(gpu, t, 1, key * dim + 5, NAN);
    if (plant == NAN_VALUE) {
        set(gpu, t, 2, key * dim + 5, NAN);
        set(gpu, t, 2, (last + seq - 1) * dim + dim - 1, NAN); /* causal: of the last query alone */
    }
    if (plant == NAN_QUERY)
        set(gpu, t, 0, key * dim + 1, NAN);
    if (plant == INFINITE_VALUE)
        set(gpu, t, 2, key * dim + 2, -INFINITY);
    for (size_t i = 0; masks && i < count(gpu, 0) / dim; i++)
        set(gpu, t, 0, i * dim, 1);
    for (size_t i = 0; masks && i < (plant == ALL_MASKED ? seq : count(gpu, 1) / dim); i++)
        if (plant == ALL_MASKED || i % seq % 3 == 1)
            set(gpu, t, 1, i * dim, -INFINITY);
}

/* All three into the one tensor that begins with Q. */
static void write_packed(const struct ifm_attention_gpu *gpu, void *const to[3], const struct tensors *t)
{
    uint16_t *all = malloc(gpu->input_bytes[0]);
    assert_non_null(all);
    for (int i = 0; i < 3; i++)
        for (size_t n = 0; n < count(gpu, i); n++)
            all[(uint16_t *)to[i] - (uint16_t *)to[0] + (ptrdiff_t)place(gpu, i, n)] = t->bits[i][n];
    planted_write(gpu->device, to[0], all, gpu->input_bytes[0]);
    free(all);
}

static void fill(const struct ifm_attention_gpu *gpu, enum hard_size size, enum plant plant, struct tensors *t)
{
    struct ifm_random random = ifm_random_start(11, (uint32_t)size);
    void *const to[] = {(void *)(uintptr_t)gpu->arguments.q, (void *)(uintptr_t)gpu->arguments.k,
                        (void *)(uintptr_t)gpu->arguments.v};
    for (int i = 0; i < 3; i++) {
        t->bits[i] = malloc(count(gpu, i) * sizeof(uint16_t));
        t->values[i] = malloc(count(gpu, i) * sizeof(float));
        assert_true(t->bits[i] != NULL && t->values[i] != NULL);
        hard_fill(&random, size, gpu->shape.storage == IFM_STORE_BF16, gpu->shape.head_dim, count(gpu, i), t->bits[i],
                  t->values[i]);
    }
    plant_values(gpu, plant, t);
    for (int i = 0; i < 3; i++)
        if (gpu->layout == IFM_CONTIGUOUS)
            planted_write(gpu->device, to[i], t->bits[i], count(gpu, i) * sizeof(uint16_t));
    if (gpu->layout == IFM_QKV_PACKED)
        write_packed(gpu, to, t);
}

static void put_lengths(const struct ifm_attention_gpu *gpu, bool ragged, struct tensors *t)
{
    const uint32_t most = (uint32_t)gpu->shape.seq_len, few[] = {0, most, 1, most > 1 ? most - 1 : 1};
    t->lengths = malloc(gpu->shape.batch * sizeof *t->lengths);
    assert_non_null(t->lengths);
    for (size_t i = 0; i < gpu->shape.batch; i++)
        t->lengths[i] = ragged ? few[i % 4] : most;
    planted_write(gpu->device, (void *)(uintptr_t)gpu->arguments.lengths, t->lengths,
                  gpu->shape.batch * sizeof *t->lengths);
}

/* ---- the oracle ---- */

static void attend(const float *q, const float *k, const float *v, size_t dim, size_t seen, double *weights,
                   double *out)
{
    double top = -INFINITY, total = 0;
    for (size_t key = 0; key < seen; key++) {
        weights[key] = 0;
        for (size_t d = 0; d < dim; d++)
            weights[key] += (double)q[d] * (double)k[key * dim + d];
        weights[key] /= sqrt((double)dim);
        top = fmax(top, weights[key]);
    }
    for (size_t d = 0; d < dim; d++)
        out[d] = 0;
    for (size_t key = 0; key < seen; key++) {
        const double weight = exp(weights[key] - top);
        total += weight;
        for (size_t d = 0; d < dim; d++)
            out[d] += weight * (double)v[key * dim + d];
    }
    for (size_t d = 0; seen > 0 && d < dim; d++)
        out[d] /= total;
}

static double *expect(const struct ifm_attention_gpu *gpu, const struct tensors *t)
{
    const struct ifm_attention_shape *s = &gpu->shape;
    double *out = malloc(count(gpu, 0) * sizeof *out), *weights = malloc(s->seq_len * sizeof *weights);
    assert_true(out != NULL && weights != NULL);
    for (size_t row = 0; row < s->batch * s->q_heads * s->seq_len; row++) {
        const size_t pair = row / s->seq_len, position = row % s->seq_len, sequence = pair / s->q_heads;
        const size_t head = sequence * s->kv_heads + pair % s->q_heads / (s->q_heads / s->kv_heads);
        const size_t length = t->lengths[sequence], kv = head * s->seq_len * s->head_dim;
        const size_t seen = position >= length ? 0 : s->causal ? position + 1 : length;
        attend(t->values[0] + row * s->head_dim, t->values[1] + kv, t->values[2] + kv, s->head_dim, seen, weights,
               out + row * s->head_dim);
    }
    free(weights);
    return out;
}

/* ---- one arm ---- */

struct asked {
    enum hard_size size;
    enum plant plant;
    bool ragged;
};

static void run(const struct opened *opened, const void *wanted)
{
    const struct asked *asked = wanted;
    const struct ifm_attention_gpu *gpu = opened->state;
    const bool is_bf16 = gpu->shape.storage == IFM_STORE_BF16;
    char what[160];
    snprintf(what, sizeof what, "%zu tokens of %zu, %s, %s %s%s", (size_t)gpu->shape.seq_len,
             (size_t)gpu->shape.head_dim, is_bf16 ? "bf16" : "f16", hard_names[asked->size], plant_names[asked->plant],
             asked->ragged ? ", ragged" : "");
    const struct hard_case c = {"attention",           opened->opening.arm->name, what,
                                is_bf16 ? 8e-3 : 2e-3, is_bf16 ? 0 : LEAST_F16,   is_bf16 ? 3.39e38f : MOST_F16};
    struct tensors t;
    fill(gpu, asked->size, asked->plant, &t);
    put_lengths(gpu, asked->ragged, &t);
    uint16_t *bits = hard_steps(opened, &c, gpu->arguments.out, gpu->q_bytes);
    float *lying = hard_widen(bits, count(gpu, 0), is_bf16), *got = malloc(count(gpu, 0) * sizeof *got);
    assert_non_null(got);
    for (size_t i = 0; i < count(gpu, 0); i++)
        got[i] = lying[ifm_attention_out_at(&(struct ifm_attention_job){.shape = gpu->shape, .at = gpu->at},
                                            i / gpu->shape.head_dim) +
                       i % gpu->shape.head_dim];
    double *want = expect(gpu, &t);
    hard_compare(&c, got, want, count(gpu, 0) / gpu->shape.head_dim, gpu->shape.head_dim);
    for (int i = 0; i < 3; i++) {
        free(t.bits[i]);
        free(t.values[i]);
    }
    free(t.lengths);
    free(bits);
    free(lying);
    free(got);
    free(want);
}

static void all(struct bench *bench, const char *text)
{
    struct asked asked[HARD_SIZES + PLANTS - 1];
    for (int i = 0; i < HARD_SIZES; i++)
        asked[i] = (struct asked){(enum hard_size)i, NOTHING, i % 2 == 1};
    for (int i = NOTHING + 1; i < PLANTS; i++)
        asked[HARD_SIZES + i - 1] = (struct asked){HARD_PLAIN, (enum plant)i, false};
    hard_each(bench, &ifm_workload_attention, text, HARD_LIST(run, asked));
}

#define SHAPE(heads, tokens, dim, sees)                                                                                \
    "layers=1 batch=4 q_heads=" heads " kv_heads=1 seq_len=" tokens " head_dim=" dim " causal=" sees " "
#define OURS "arms=ours,naive storage="

static void by_mma(void **context)
{
    all(*context, SHAPE("2", "1", "64", "true") OURS "f16");
    all(*context, SHAPE("2", "127", "64", "true") OURS "f16");
    all(*context, SHAPE("2", "129", "128", "false") "arms=mma,naive storage=f16");
    all(*context, SHAPE("1", "131", "128", "true") "arms=mma,naive storage=bf16");
}

/* The portable kernel's other head dimensions. */
static void of_other_heads(void **context)
{
    all(*context, SHAPE("2", "67", "32", "true") OURS "f16");
    all(*context, SHAPE("1", "67", "96", "false") OURS "bf16");
    all(*context, SHAPE("1", "67", "160", "true") OURS "f16");
    all(*context, SHAPE("1", "67", "256", "true") OURS "f16");
}

/* wgmma takes 257 tokens and more; heads of 64 values from 129 to 192 too. */
static void by_wgmma(void **context)
{
    all(*context, SHAPE("2", "129", "64", "true") OURS "f16");
    all(*context, SHAPE("1", "131", "64", "false") "arms=ours storage=bf16");
    all(*context, SHAPE("1", "257", "128", "true") "arms=ours storage=f16");
}

/* Views of one tensor, by each kernel. */
#define VIEWS "layout=qkv_packed "
static void over_views(void **context)
{
    all(*context, SHAPE("2", "127", "64", "true") VIEWS OURS "f16");
    all(*context, SHAPE("4", "67", "96", "false") VIEWS "arms=mma,naive storage=bf16");
    all(*context, SHAPE("2", "131", "128", "true") VIEWS "arms=mma storage=f16");
    all(*context, SHAPE("2", "131", "64", "true") VIEWS "arms=ours storage=bf16");
    all(*context, SHAPE("1", "257", "128", "true") VIEWS "arms=ours storage=f16");
}

/* The arm's own check, of more rows than the host's oracle takes: the others are the GPU's reference's. */
static void check_by_reference(const struct opened *opened, const void *unused)
{
    const struct ifm_attention_gpu *gpu = opened->state;
    struct ifm_check check;
    struct ifm_error error;
    (void)unused;
    assert_true(ifm_attention_period(&gpu->shape) > 1);
    opened->by->step(opened->state, 1);
    assert_int_equal(opened->by->check(opened->state, &check, &error), IFM_OK);
    assert_true(check.done && check.finite);
    if (!(check.error_rms_rel <= opened->opening.arm->tolerance))
        fail_msg("layout %d: error %g against the reference", (int)gpu->layout, check.error_rms_rel);
}

static void the_reference_has_the_same_layout(void **context)
{
    static const char once[1];
    hard_each(*context, &ifm_workload_attention,
              "layers=2 batch=2 q_heads=4 kv_heads=2 seq_len=257 head_dim=128 causal=true ragged=0.3 storage=f32 "
              "arms=naive " VIEWS,
              HARD_LIST(check_by_reference, once));
}

/* As many heads as one warpgroup a block cannot hold at once, and two can. */
static void by_two_warpgroups(void **context)
{
    struct bench *bench = *context;
    const unsigned each = bench->machine.gpu->multiprocessors, heads = 3 * each / 5 + 1;
    const struct asked asked[] = {{HARD_PLAIN, NAN_VALUE, false}, {HARD_LARGEST, NOTHING, false}};
    hard_each(bench, &ifm_workload_attention,
              ifm_arena_printf(bench->arena,
                               "layers=1 batch=1 q_heads=%u kv_heads=%u seq_len=257 head_dim=64 causal=true "
                               "arms=ours storage=f16",
                               heads, heads),
              HARD_LIST(run, asked));
}

int main(void)
{
    const struct CMUnitTest tests[] = {WITH_BENCH(by_mma),
                                       WITH_BENCH(of_other_heads),
                                       WITH_BENCH(by_wgmma),
                                       WITH_BENCH(over_views),
                                       WITH_BENCH(the_reference_has_the_same_layout),
                                       WITH_BENCH(by_two_warpgroups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
