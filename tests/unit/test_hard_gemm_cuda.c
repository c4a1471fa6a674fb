/* Hard inputs of gemm on the device cuda, of each kernel of ours: odd numbers of activations, rows of them that are
 * longer than k, extreme and subnormal values, outlier channels, and NaN, which reaches exactly the outputs that read
 * it. */
#include <cmocka.h>

#include "opened.h"
#include "planted.h"
#include "planted_cuda.h"

#include "hard_cuda.h"
#include "workload/gemm/cuda.h"

enum plant { NOTHING, NAN_ACTIVATION, NAN_WEIGHT, INFINITE_ACTIVATION, PLANTS };
static const char *const plant_names[PLANTS] = {"", "NaN in an activation", "NaN in a weight",
                                                "an infinite activation"};

struct asked {
    enum hard_size x, w;
    enum plant plant;
};

static bool has_codes(const struct ifm_gemm_shape *s)
{
    return s->format == IFM_GEMM_INT8 || s->format == IFM_GEMM_INT4;
}

/* Weights in their format, as a processor has them; the caller frees them. */
static unsigned char *encode(const struct ifm_gemm_shape *s, const struct asked *asked, struct ifm_random *random)
{
    const size_t n = s->n * s->k;
    float *values = malloc(n * sizeof *values);
    uint16_t *bits = malloc(n * sizeof *bits);
    unsigned char *out = malloc(ifm_gemm_bytes(s));
    assert_true(values != NULL && bits != NULL && out != NULL);
    hard_fill(random, asked->w, s->format == IFM_GEMM_BF16, s->k, n, bits, values);
    if (asked->plant == NAN_WEIGHT && !has_codes(s))
        values[3 * s->k + s->k / 2] = NAN;
    ifm_gemm_encode(s, 0, s->n, values, out);
    if (asked->plant == NAN_WEIGHT && has_codes(s))
        ((uint16_t *)(void *)out)[3] = 0x7e00; /* the scale of the first group of row 3 */
    free(values);
    free(bits);
    return out;
}

static void upload(const struct ifm_gemm_cuda *gemm, const unsigned char *plain)
{
    unsigned char *fragments = malloc(gemm->bytes);
    assert_non_null(fragments);
    if (gemm->in_fragments)
        ifm_gemm_to_fragments(&gemm->shape, gemm->in_order, plain, fragments);
    planted_write(gemm->device, (void *)(uintptr_t)gemm->matrices, gemm->in_fragments ? fragments : plain, gemm->bytes);
    free(fragments);
}

/* Rows that are as long as x_stride; zeros behind k. */
static float *activations(const struct ifm_gemm_cuda *gemm, const struct asked *asked, struct ifm_random *random)
{
    const struct ifm_gemm_shape *s = &gemm->shape;
    const size_t n = s->m * s->k, stride = gemm->arguments.x_stride;
    const bool is_bf16 = s->format == IFM_GEMM_BF16;
    float *values = malloc(n * sizeof *values);
    uint16_t *bits = malloc(n * sizeof *bits), *x = calloc(s->m * stride, sizeof *x);
    assert_true(values != NULL && bits != NULL && x != NULL);
    hard_fill(random, asked->x, is_bf16, s->k, n, bits, values);
    if (asked->plant == NAN_ACTIVATION || asked->plant == INFINITE_ACTIVATION) {
        const float odd = asked->plant == NAN_ACTIVATION ? NAN : INFINITY;
        values[(s->m - 1) * s->k + 7] = odd;
        bits[(s->m - 1) * s->k + 7] = is_bf16 ? ifm_f32_to_bf16(odd) : ifm_f32_to_f16(odd);
    }
    for (size_t i = 0; i < n; i++)
        x[i / s->k * stride + i % s->k] = bits[i];
    planted_write(gemm->device, (void *)(uintptr_t)gemm->arguments.x, x, s->m * stride * sizeof *x);
    free(bits);
    free(x);
    return values;
}

/* In eight sums, which are vector code; k is a multiple of 64. */
static double product(const float *w, const float *x, size_t k)
{
    double sums[8] = {0}, sum = 0;
    for (size_t i = 0; i < k; i += 8)
        for (size_t j = 0; j < 8; j++)
            sums[j] += (double)w[i + j] * (double)x[i + j];
    for (size_t j = 0; j < 8; j++)
        sum += sums[j];
    return sum;
}

static double *expect(const struct ifm_gemm_shape *s, const unsigned char *w, const float *x)
{
    double *out = malloc(s->m * s->n * sizeof *out);
    float *row = malloc(s->k * sizeof *row);
    assert_true(out != NULL && row != NULL);
    for (size_t n = 0; n < s->n; n++) {
        ifm_gemm_decode(s, w, n, row);
        for (size_t m = 0; m < s->m; m++) {
            out[m * s->n + n] = product(row, x + m * s->k, s->k);
        }
    }
    free(row);
    return out;
}

static void run(const struct opened *opened, const void *wanted)
{
    const struct asked *asked = wanted;
    const struct ifm_gemm_cuda *gemm = opened->state;
    const struct ifm_gemm_shape *s = &gemm->shape;
    const bool is_bf16 = s->format == IFM_GEMM_BF16;
    if (asked->plant == INFINITE_ACTIVATION && has_codes(s))
        return; /* codes are multiplied in two parts: infinity less infinity */
    char what[160];
    snprintf(what, sizeof what, "%s m %zu n %zu k %zu, activations %s, weights %s %s", ifm_gemm_format_name(s->format),
             (size_t)s->m, (size_t)s->n, (size_t)s->k, hard_names[asked->x], hard_names[asked->w],
             plant_names[asked->plant]);
    const struct hard_case c = {"gemm",
                                opened->opening.arm->name,
                                what,
                                is_bf16 ? 8e-3 : 2e-3,
                                is_bf16 ? 0 : LEAST_F16,
                                is_bf16 ? 3.39e38f : MOST_F16};
    struct ifm_random random = ifm_random_start(13, (uint32_t)s->m);
    unsigned char *w = encode(s, asked, &random);
    float *x = activations(gemm, asked, &random);
    upload(gemm, w);
    uint16_t *bits = hard_steps(opened, &c, gemm->arguments.out, s->m * s->n * sizeof *bits);
    float *got = hard_widen(bits, s->m * s->n, is_bf16);
    double *want = expect(s, w, x);
    hard_compare(&c, got, want, s->m, s->n);
    free(w);
    free(x);
    free(bits);
    free(got);
    free(want);
}

static void all(struct bench *bench, const char *text)
{
    static const struct asked asked[] = {
        {HARD_PLAIN, HARD_PLAIN, NOTHING},       {HARD_OUTLIERS, HARD_PLAIN, NOTHING},
        {HARD_LARGEST, HARD_SUBNORMAL, NOTHING}, {HARD_SUBNORMAL, HARD_LARGEST, NOTHING},
        {HARD_LARGEST, HARD_PLAIN, NOTHING},     {HARD_PLAIN, HARD_PLAIN, NAN_ACTIVATION},
        {HARD_PLAIN, HARD_PLAIN, NAN_WEIGHT},    {HARD_PLAIN, HARD_PLAIN, INFINITE_ACTIVATION},
        {HARD_PLAIN, HARD_OUTLIERS, NOTHING},
    };
    hard_each(bench, &ifm_workload_gemm, text, HARD_LIST(run, asked));
}

#define FORMATS_OF_OURS "layers=1 weights=f16,bf16,int8,int4 arms=ours"
#define FORMATS FORMATS_OF_OURS ",naive"

static void one(void **context)
{
    all(*context, "m=1 n=64 k=320 group=64 " FORMATS);
    all(*context, "m=1 n=192 k=448 group=128 " FORMATS);
}

/* int4 in bulk: more chunks than slots, of one panel and of several; a last chunk of one group, of one unit and of
 * many; blocks with unequal shares. */
static void in_bulk(void **context)
{
    struct bench *bench = *context;
    const unsigned each = bench->machine.gpu->multiprocessors, rows = 64 * (5 * each / 4 + 1);
    all(bench, "m=1 n=64 k=24640 group=128 layers=1 weights=int4 arms=ours");
    all(bench, "m=1 n=64 k=6080 group=64 layers=1 weights=int4 arms=ours");
    all(bench, "m=1 n=192 k=4416 group=32 layers=1 weights=int4 arms=ours");
    all(bench, ifm_arena_printf(bench->arena, "m=1 n=%u k=64 group=64 layers=1 weights=int4 arms=ours", rows));
    all(bench, ifm_arena_printf(bench->arena, "m=1 n=%u k=448 group=128 layers=1 weights=int4 arms=ours", rows));
    all(bench,
        ifm_arena_printf(bench->arena, "m=1 n=%u k=4160 group=32 layers=1 weights=int4 arms=ours", 64 * each / 2));
}

static void few(void **context)
{
    all(*context, "m=7 n=64 k=320 group=32 " FORMATS);
    all(*context, "m=13 n=64 k=192 group=128 " FORMATS);
    all(*context, "m=31 n=64 k=448 group=64 " FORMATS);
    all(*context, "m=32 n=128 k=64 group=64 " FORMATS);
}

/* By wgmma, of one, two and four warpgroups a block, in one part of columns and in two, of one block for all of k and
 * of two. */
static void many(void **context)
{
    struct bench *bench = *context;
    const unsigned each = bench->machine.gpu->multiprocessors, rows = 64 * (each + 1);
    all(bench, "m=33 n=64 k=320 group=64 " FORMATS);
    all(bench, "m=64 n=128 k=64 group=32 " FORMATS);
    all(bench, "m=127 n=64 k=448 group=128 " FORMATS_OF_OURS);
    all(bench, "m=129 n=64 k=192 group=128 " FORMATS_OF_OURS);
    all(bench, "m=251 n=128 k=64 group=32 " FORMATS_OF_OURS);
    all(bench, ifm_arena_printf(bench->arena, "m=17 n=%u k=64 layers=1 weights=f16,bf16 arms=ours", rows));
    all(bench, ifm_arena_printf(bench->arena, "m=67 n=%u k=64 group=32 layers=1 weights=f16,int8 arms=ours", rows));
    all(bench, ifm_arena_printf(bench->arena, "m=33 n=%u k=192 group=128 layers=1 weights=int4 arms=ours", rows));
    all(bench, ifm_arena_printf(bench->arena, "m=129 n=%u k=64 layers=1 weights=f16,bf16 arms=ours", rows));
    all(bench, ifm_arena_printf(bench->arena, "m=97 n=%u k=64 layers=1 weights=f16 arms=ours", 64 * each));
    all(bench, ifm_arena_printf(bench->arena, "m=34 n=%u k=64 layers=1 weights=f16 arms=ours", 64 * each));
}

/* By tiles of the copy engine: one step of k, and more steps than the ring has stages. */
static void by_tiles(void **context)
{
    struct bench *bench = *context;
    const unsigned rows = 128 * (bench->machine.gpu->multiprocessors / 2 + 1);
    all(bench, ifm_arena_printf(bench->arena, "m=65 n=%u k=64 layers=1 weights=f16,bf16 arms=ours", rows));
    all(bench, ifm_arena_printf(bench->arena, "m=67 n=%u k=448 layers=1 weights=f16 arms=ours", rows));
    all(bench, ifm_arena_printf(bench->arena, "m=129 n=%u k=64 layers=1 weights=bf16 arms=ours", rows));
    all(bench, ifm_arena_printf(bench->arena, "m=131 n=%u k=320 layers=1 weights=f16 arms=ours", rows));
}

/* The same, of two, three and four blocks that share k: as many steps as are worth it, more, shares of k and of the
 * activations that are not equal, each number of columns. */
static void in_parts(void **context)
{
    static const unsigned m[] = {65, 131, 200};
    static const struct asked asked[] = {{HARD_LARGEST, HARD_PLAIN, NOTHING},
                                         {HARD_OUTLIERS, HARD_PLAIN, NOTHING},
                                         {HARD_PLAIN, HARD_PLAIN, NAN_ACTIVATION},
                                         {HARD_PLAIN, HARD_PLAIN, NAN_WEIGHT}};
    struct bench *bench = *context;
    for (unsigned split = 2; split <= 4; split++) {
        const unsigned tiles = bench->machine.gpu->multiprocessors / split, k = 64 * (16 * split + split / 2);
        const char *text = ifm_arena_printf(bench->arena, "m=%u n=%u k=%u layers=1 weights=%s arms=ours", m[split - 2],
                                            128 * (tiles > 0 ? tiles : 1), k, split == 3 ? "bf16" : "f16");
        hard_each(bench, &ifm_workload_gemm, text, HARD_LIST(run, asked));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {WITH_BENCH(one),  WITH_BENCH(in_bulk),  WITH_BENCH(few),
                                       WITH_BENCH(many), WITH_BENCH(by_tiles), WITH_BENCH(in_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
