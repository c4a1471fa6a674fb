/* Attention kernels against the f64 oracle: every instruction set of this machine, every storage format, odd shapes,
 * masks, ragged and empty sequences, extreme scales, NaN; and the parts that a library's products leave over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/random.h"
#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"
#include "workload/attention/blas.h"
#include "workload/attention/data.h"
#include "workload/attention/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS_MOST = 5 };

struct problem {
    struct ifm_attention_job job;
    struct ifm_attention_unit *units;
    uint32_t *lengths;
    uint64_t next;
    size_t rows, values, kv_values; /* of the output; of K */
    size_t out_room;                /* values of job.out, gaps too */
    void *q, *k, *v;
    double *reference;
};

static void *memory(size_t bytes)
{
    void *room = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(room);
    return room;
}

static void set(void *to, enum ifm_attention_storage storage, size_t i, float x)
{
    if (storage == IFM_STORE_F32)
        ((float *)to)[i] = x;
    else
        ((uint16_t *)to)[i] = storage == IFM_STORE_BF16 ? ifm_f32_to_bf16(x) : ifm_f32_to_f16(x);
}

static void *normals(size_t n, enum ifm_attention_storage storage, uint32_t stream, double scale)
{
    void *to = memory(n * ifm_attention_size(storage));
    struct ifm_random random = ifm_random_start(42, stream);
    for (size_t i = 0; i < n; i++)
        set(to, storage, i, (float)(scale * ifm_random_normal(&random)));
    return to;
}

struct scales {
    double q, k, v;
};
static const struct scales plain = {1, 1, 1};

static struct problem make(struct ifm_attention_shape s, struct scales scales)
{
    struct problem p = {.rows = s.batch * s.q_heads * s.seq_len};
    p.values = p.out_room = p.rows * s.head_dim;
    p.kv_values = s.batch * s.kv_heads * s.seq_len * s.head_dim;
    p.q = normals(p.values, s.storage, 1, scales.q);
    p.k = normals(p.kv_values, s.storage, 2, scales.k);
    p.v = normals(p.kv_values, s.storage, 3, scales.v);
    p.lengths = memory(s.batch * sizeof *p.lengths);
    for (uint64_t b = 0; b < s.batch; b++)
        p.lengths[b] = (uint32_t)s.seq_len;
    p.units = memory(ifm_attention_units(&s, IFM_ATTENTION_BLOCK / 12) * sizeof *p.units);
    p.reference = memory(p.values * sizeof *p.reference);
    p.job =
        (struct ifm_attention_job){.shape = s, .q = p.q, .k = p.k, .v = p.v, .lengths = p.lengths, .units = p.units};
    p.job.at = ifm_attention_views_of(&s, IFM_CONTIGUOUS);
    p.job.out = memory(p.values * ifm_attention_size(s.storage));
    p.job.scratch = memory(WORKERS_MOST * ifm_attention_scratch_floats(&s) * sizeof(float));
    return p;
}

static void drop(struct problem *p)
{
    void *all[] = {p->q, p->k, p->v, p->lengths, p->units, p->reference, p->job.out, p->job.scratch};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

static void oracle(struct problem *p)
{
    double *weights = malloc(p->job.shape.seq_len * sizeof *weights);
    assert_non_null(weights);
    for (uint64_t row = 0; row < p->rows; row++)
        ifm_attention_oracle(&p->job, row, weights, p->reference + row * p->job.shape.head_dim);
    free(weights);
}

static void prepare(struct problem *p, uint32_t block)
{
    const struct ifm_attention_shape *s = &p->job.shape;
    p->next = 0;
    p->job.next = &p->next;
    p->job.block = block;
    p->job.n_units = ifm_attention_units(s, block);
    ifm_attention_plan(s, p->lengths, block, p->units);
    memset(p->job.out, 0xff, p->out_room * ifm_attention_size(s->storage));
}

/* The units are taken by whichever worker comes: here each takes the k-th of every `workers`, through a counter that
 * the test moves. */
static void run(struct problem *p, const struct ifm_kernel *kernel, unsigned workers)
{
    const size_t scratch = ifm_attention_scratch_floats(&p->job.shape);
    prepare(p, ifm_attention_block(&p->job.shape, workers));
    const size_t all = p->job.n_units;
    for (size_t i = 0; i < WORKERS_MOST * scratch; i++)
        p->job.scratch[i] = NAN;     /* nothing may be read that was not written */
    for (size_t i = all; i-- > 0;) { /* any order */
        p->next = i;
        p->job.n_units = i + 1;
        kernel->fn.attention(&p->job, (unsigned)(i % workers));
    }
}

static double rounding(enum ifm_attention_storage storage)
{
    return storage == IFM_STORE_F32 ? 0 : storage == IFM_STORE_BF16 ? 0x1p-8 : 0x1p-11;
}

/* Root mean square of the error over that of the reference; where the reference is not finite, so is the output. */
static void compare(const struct problem *p, double tolerance, const char *what, unsigned workers)
{
    const struct ifm_attention_shape *s = &p->job.shape;
    double error2 = 0, reference2 = 0;
    for (size_t i = 0; i < p->values; i++) {
        const size_t at = ifm_attention_out_at(&p->job, i / s->head_dim) + i % s->head_dim;
        const double value = (double)ifm_attention_value(p->job.out, s->storage, at);
        if (isnan(p->reference[i])) {
            if (!isnan(value))
                fail_msg("%s: value %zu is %g where NaN was read", what, i, value);
            continue;
        }
        error2 += (value - p->reference[i]) * (value - p->reference[i]);
        reference2 += p->reference[i] * p->reference[i];
    }
    const double error = reference2 > 0 ? sqrt(error2 / reference2) : sqrt(error2);
    if (!(error <= tolerance + rounding(s->storage)))
        fail_msg("%s, %u workers, %llu/%llu heads, S %llu, D %llu, %s, storage %d: error %g above %g", what, workers,
                 (unsigned long long)s->q_heads, (unsigned long long)s->kv_heads, (unsigned long long)s->seq_len,
                 (unsigned long long)s->head_dim, s->causal ? "causal" : "full", (int)s->storage, error,
                 tolerance + rounding(s->storage));
}

static void on_every_isa(struct problem *p, double tolerance)
{
    const char *const *isas;
    size_t n;
    ifm_isas(&isas, &n);
    for (size_t i = 0; i < n; i++)
        for (unsigned workers = 1; workers <= WORKERS_MOST; workers += WORKERS_MOST - 1) {
            run(p, ifm_kernel_find("attention.tiled", isas[i]), workers);
            compare(p, tolerance, isas[i], workers);
        }
}

static void check_shape(struct ifm_attention_shape shape, struct scales scales, double tolerance)
{
    struct problem p = make(shape, scales);
    oracle(&p);
    on_every_isa(&p, tolerance);
    drop(&p);
}

static void agrees_with_the_oracle_on_odd_shapes(void **unused)
{
    (void)unused;
    static const uint64_t lengths[] = {1, 2, 63, 127, 128, 129, 257};
    static const uint64_t dims[] = {32, 64, 96, 128, 256};
    for (size_t s = 0; s < sizeof lengths / sizeof lengths[0]; s++)
        for (size_t d = 0; d < sizeof dims / sizeof dims[0]; d++)
            for (int storage = IFM_STORE_F32; storage <= IFM_STORE_F16; storage++) {
                const bool causal = (s + d + (size_t)storage) % 2 == 0;
                check_shape((struct ifm_attention_shape){1, 2, 1, lengths[s], dims[d], causal,
                                                         (enum ifm_attention_storage)storage},
                            plain, 1e-6);
            }
}

/* What the sweep above leaves out: each mask at each length in f32, where an error of one key shows most. */
static void agrees_with_and_without_the_mask(void **unused)
{
    (void)unused;
    static const uint64_t lengths[] = {1, 2, 7, 8, 9, 63, 127, 128, 129, 191, 193, 257, 389};
    for (size_t s = 0; s < sizeof lengths / sizeof lengths[0]; s++)
        for (int causal = 0; causal < 2; causal++)
            check_shape((struct ifm_attention_shape){1, 1, 1, lengths[s], 64, causal != 0, IFM_STORE_F32}, plain, 1e-6);
}

static void agrees_on_groups_and_batches(void **unused)
{
    (void)unused;
    for (int causal = 0; causal < 2; causal++) {
        check_shape((struct ifm_attention_shape){2, 8, 1, 65, 64, causal != 0, IFM_STORE_F16}, plain, 1e-6);
        check_shape((struct ifm_attention_shape){3, 6, 2, 70, 32, causal != 0, IFM_STORE_F32}, plain, 1e-6);
        check_shape((struct ifm_attention_shape){2, 3, 3, 33, 128, causal != 0, IFM_STORE_BF16}, plain, 1e-6);
    }
}

/* Rows behind the length of a sequence are NaN: whoever reads them shows. Their outputs are zeros. */
static void ragged_and_empty_sequences(void **unused)
{
    (void)unused;
    static const uint32_t lengths[] = {0, 1, 31, 200, 128, 0, 77};
    for (int storage = IFM_STORE_F32; storage <= IFM_STORE_F16; storage++)
        for (int causal = 0; causal < 2; causal++) {
            const struct ifm_attention_shape s = {7, 2, 1, 200, 64, causal != 0, (enum ifm_attention_storage)storage};
            struct problem p = make(s, plain);
            memcpy(p.lengths, lengths, sizeof lengths);
            for (uint64_t b = 0; b < s.batch; b++)
                for (uint64_t i = lengths[b] * s.head_dim; i < s.seq_len * s.head_dim; i++) {
                    set(p.k, s.storage, b * s.seq_len * s.head_dim + i, NAN);
                    set(p.v, s.storage, b * s.seq_len * s.head_dim + i, NAN);
                }
            oracle(&p);
            on_every_isa(&p, 1e-6);
            for (size_t i = 0; i < s.q_heads * s.seq_len * s.head_dim; i++) /* the first sequence is empty */
                assert_true(ifm_attention_value(p.job.out, s.storage, i) == 0);
            drop(&p);
        }
}

/* ---- views of one tensor ---- */

enum { GAP = 32, BEHIND = 64 /* values that are NaN, behind each row and behind the last one */ };

/* A tensor of `rows` rows of `row` values; every value is NaN. */
static void *nothing(size_t rows, size_t row, enum ifm_attention_storage storage)
{
    void *to = memory((rows * row + BEHIND) * ifm_attention_size(storage));
    memset(to, 0xff, (rows * row + BEHIND) * ifm_attention_size(storage));
    return to;
}

static void view(void *to, const void *from, const struct ifm_attention_shape *s, uint64_t heads,
                 const struct ifm_strides *at)
{
    for (size_t i = 0; i < s->batch * heads * s->seq_len * s->head_dim; i++) {
        const size_t row = i / s->head_dim, pair = row / s->seq_len;
        set(to, s->storage,
            ifm_strides_head(at, pair / heads, pair % heads) + row % s->seq_len * at->row + i % s->head_dim,
            ifm_attention_value(from, s->storage, i));
    }
}

/* The same values as Q, K and V of a fused projection, whose rows are GAP values apart. */
static struct problem packed(const struct problem *from)
{
    struct problem p = *from;
    const struct ifm_attention_shape *s = &p.job.shape;
    const size_t size = ifm_attention_size(s->storage), tokens = s->batch * s->seq_len;
    struct ifm_attention_views *at = &p.job.at;
    *at = ifm_attention_views_of(s, IFM_QKV_PACKED);
    struct ifm_strides *all[] = {&at->q, &at->kv, &at->out};
    for (size_t i = 0; i < 3; i++) {
        all[i]->row += GAP;
        all[i]->sequence += GAP * s->seq_len;
    }
    assert_int_equal(at->q.row, (s->q_heads + 2 * s->kv_heads) * s->head_dim + GAP);
    p.q = nothing(tokens, at->q.row, s->storage);
    p.k = (char *)p.q + s->q_heads * s->head_dim * size;
    p.v = (char *)p.k + s->kv_heads * s->head_dim * size;
    view(p.q, from->q, s, s->q_heads, &at->q);
    view(p.k, from->k, s, s->kv_heads, &at->kv);
    view(p.v, from->v, s, s->kv_heads, &at->kv);
    p.job.q = p.q;
    p.job.k = p.k;
    p.job.v = p.v;
    p.job.out = nothing(tokens, at->out.row, s->storage);
    p.out_room = tokens * at->out.row + BEHIND;
    p.reference = memory(p.values * sizeof *p.reference);
    return p;
}

/* Gaps of the output are as they were. */
static void gaps_are_untouched(const struct problem *p)
{
    const struct ifm_attention_shape *s = &p->job.shape;
    const size_t row = p->job.at.out.row, live = s->q_heads * s->head_dim;
    for (size_t i = 0; i < p->out_room; i++)
        if (i % row >= live || i >= s->batch * s->seq_len * row)
            assert_true(isnan(ifm_attention_value(p->job.out, s->storage, i)));
}

static void drop_packed(struct problem *p)
{
    free(p->q);
    free(p->job.out);
    free(p->reference);
}

static void on_views(struct ifm_attention_shape s)
{
    struct problem p = make(s, plain);
    const uint32_t lengths[] = {(uint32_t)s.seq_len, 0, (uint32_t)(s.seq_len + 1) / 2};
    memcpy(p.lengths, lengths, sizeof lengths);
    oracle(&p);
    struct problem views = packed(&p);
    oracle(&views);
    assert_memory_equal(p.reference, views.reference, p.values * sizeof *p.reference);
    on_every_isa(&views, 1e-6);
    gaps_are_untouched(&views);
    drop_packed(&views);
    drop(&p);
}

static void agrees_on_views_of_one_tensor(void **unused)
{
    (void)unused;
    static const uint64_t lengths[] = {1, 127, 129, 199}, dims[] = {32, 64, 96, 128};
    for (size_t i = 0; i < 4; i++)
        for (int storage = IFM_STORE_F32; storage <= IFM_STORE_F16; storage++)
            for (int causal = 0; causal < 2; causal++)
                on_views((struct ifm_attention_shape){3, 4, 2, lengths[i], dims[(i + (size_t)storage) % 4], causal != 0,
                                                      (enum ifm_attention_storage)storage});
}

/* Scores of +-300 and more: weights from 1 to 0, where a wrong maximum overflows or loses everything. The rounding
 * error of a score is relative to the score, so the bound is wider. */
static void survives_extreme_scales(void **unused)
{
    (void)unused;
    const struct ifm_attention_shape s = {1, 2, 2, 257, 64, false, IFM_STORE_F32};
    struct ifm_attention_shape causal = s;
    causal.causal = true;
    static const struct scales all[] = {{100, 1, 1},       {10, 10, 1},       {1e15, 1e-15, 1}, {1e-30, 1, 1e30},
                                        {1e-30, 1e-30, 1}, {1e30, 1e-30, 1},  {1, 1, 1e-30},    {1, 1e-38, 1},
                                        {30, 30, 1e30},    {1e-30, 1e30, 1e5}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        check_shape(s, all[i], 2e-4);
        check_shape(causal, all[i], 2e-4);
    }
}

/* A NaN in K or V reaches every query that sees the key, and no other; in Q, its own query alone. */
static void nan_reaches_those_who_see_it(void **unused)
{
    (void)unused;
    static const uint64_t positions[] = {0, 5, 130, 150, 256};
    for (int which = 0; which < 3; which++)
        for (int causal = 0; causal < 2; causal++)
            for (size_t i = 0; i < sizeof positions / sizeof positions[0]; i++) {
                struct problem p =
                    make((struct ifm_attention_shape){1, 2, 2, 257, 32, causal != 0, IFM_STORE_F32}, plain);
                void *arrays[] = {p.q, p.k, p.v};
                set(arrays[which], IFM_STORE_F32, positions[i] * 32 + 3, NAN);
                oracle(&p);
                const size_t last = 257 * 32 - 29; /* column 3 of the last query of the first head: it sees every key */
                assert_true(isnan(p.reference[last]) == (which != 0 || positions[i] == 256));
                on_every_isa(&p, 1e-6);
                drop(&p);
            }
}

/* Which worker takes a unit, how many there are and how large units are: the bits are the same. */
static void is_the_same_every_time(void **unused)
{
    (void)unused;
    struct problem p = make((struct ifm_attention_shape){2, 4, 2, 389, 64, true, IFM_STORE_F32}, plain);
    const size_t bytes = p.values * sizeof(float);
    float *first = memory(bytes);
    const char *const *isas;
    size_t n;
    ifm_isas(&isas, &n);
    for (size_t i = 0; i < n; i++) {
        const struct ifm_kernel *kernel = ifm_kernel_find("attention.tiled", isas[i]);
        run(&p, kernel, 1);
        memcpy(first, p.job.out, bytes);
        for (unsigned workers = 1; workers <= WORKERS_MOST; workers++) {
            run(&p, kernel, workers);
            assert_memory_equal(first, p.job.out, bytes);
        }
    }
    free(first);
    drop(&p);
}

/* A kernel that skipped a key, or a comparison that could not see it, would pass everything above. */
static void one_changed_row_shows(void **unused)
{
    (void)unused;
    struct problem p = make((struct ifm_attention_shape){1, 2, 1, 257, 64, false, IFM_STORE_F32}, plain);
    oracle(&p);
    for (size_t d = 0; d < 64; d++)
        ((float *)p.v)[256 * 64 + d] += 1;
    run(&p, ifm_kernel_find("attention.tiled", "auto"), 2);
    double difference = 0;
    for (size_t i = 0; i < p.values; i++)
        difference = fmax(difference, fabs((double)((float *)p.job.out)[i] - p.reference[i]));
    assert_true(difference > 1e-4);
    drop(&p);
}

static void units_cover_every_query_once(void **unused)
{
    (void)unused;
    const struct ifm_attention_shape s = {3, 2, 1, 500, 64, true, IFM_STORE_F32};
    const uint32_t lengths[] = {500, 0, 333};
    for (unsigned workers = 1; workers <= 64; workers *= 4) {
        const uint32_t block = ifm_attention_block(&s, workers);
        const size_t n = ifm_attention_units(&s, block);
        struct ifm_attention_unit *units = memory(n * sizeof *units);
        unsigned char *seen = calloc(3 * 2 * 500, 1);
        uint64_t before = UINT64_MAX, pairs = 0;
        assert_non_null(seen);
        ifm_attention_plan(&s, lengths, block, units);
        for (size_t i = 0; i < n; i++) {
            const uint64_t own = ifm_attention_pairs(lengths[units[i].sequence], true, units[i].first, block);
            assert_true(own <= before); /* the heaviest first */
            before = own;
            pairs += own;
            for (uint64_t row = units[i].first; row < 500 && row < units[i].first + block; row++)
                assert_int_equal(seen[(units[i].sequence * 2 + units[i].head) * 500 + row]++, 0);
        }
        for (size_t i = 0; i < 3 * 2 * 500; i++)
            assert_int_equal(seen[i], 1);
        assert_int_equal(pairs, 2 * (500 * 501 / 2 + 333 * 334 / 2));
        free(seen);
        free(units);
    }
    assert_int_equal(ifm_attention_pairs(10, false, 4, 100), 60);
    assert_int_equal(ifm_attention_pairs(10, true, 4, 3), 5 + 6 + 7);
    assert_int_equal(ifm_attention_pairs(10, true, 10, 3), 0);
}

/* The softmax between a library's products: against f64, on every instruction set, at odd lengths. */
static void softmax_of_rows(void **unused)
{
    (void)unused;
    enum { ROWS = 5, MOST = 67, STRIDE = 80 };
    static const size_t lengths[] = {1, 2, 15, 16, 17, 66, MOST};
    const char *const *isas;
    size_t n;
    ifm_isas(&isas, &n);
    for (size_t i = 0; i < n * sizeof lengths / sizeof lengths[0] * 2; i++) {
        const size_t keys = lengths[i / 2 / n], first = 3;
        const bool causal = i % 2 == 1;
        float scores[ROWS * STRIDE], before[ROWS * STRIDE], totals[ROWS];
        struct ifm_random random = ifm_random_start(7, (uint32_t)i);
        for (size_t j = 0; j < ROWS * STRIDE; j++)
            before[j] = scores[j] = (float)(20 * ifm_random_normal(&random));
        ifm_kernel_find("attention.softmax", isas[i / 2 % n])
            ->fn.softmax(scores, STRIDE, ROWS, keys, causal, first, totals);
        for (size_t r = 0; r < ROWS; r++) {
            const size_t seen = causal && first + r + 1 < keys ? first + r + 1 : keys;
            double top = -INFINITY, total = 0;
            for (size_t k = 0; k < seen; k++)
                top = fmax(top, (double)before[r * STRIDE + k]);
            for (size_t k = 0; k < seen; k++) {
                const double below = top - (double)before[r * STRIDE + k], weight = exp2(-below);
                total += weight;
                assert_true(fabs((double)scores[r * STRIDE + k] - weight) <= (2e-7 + 6e-8 * below) * weight + 1e-36);
            }
            for (size_t k = seen; k < keys; k++)
                assert_true(scores[r * STRIDE + k] == 0);
            for (size_t k = keys; k < STRIDE; k++)
                assert_true(scores[r * STRIDE + k] == before[r * STRIDE + k]);
            assert_true(fabs((double)totals[r] - total) <= 1e-6 * total);
        }
    }
}

/* Every 16-bit value through widen and back: the definition of base/half.h. */
static void narrow_formats_are_those_of_half(void **unused)
{
    (void)unused;
    enum { ALL = 65536 };
    uint16_t *narrow = memory(ALL * sizeof *narrow), *back = memory(ALL * sizeof *back);
    float *wide = memory(ALL * sizeof *wide);
    const char *const *isas;
    size_t n;
    ifm_isas(&isas, &n);
    for (size_t i = 0; i < ALL; i++)
        narrow[i] = (uint16_t)i;
    for (size_t a = 0; a < n; a++)
        for (int storage = IFM_STORE_BF16; storage <= IFM_STORE_F16; storage++) {
            const enum ifm_attention_storage format = (enum ifm_attention_storage)storage;
            ifm_kernel_find("attention.widen", isas[a])->fn.widen(narrow, format, wide, ALL);
            ifm_kernel_find("attention.store", isas[a])->fn.store(wide, 1, format, back, ALL);
            for (size_t i = 0; i < ALL; i++) {
                const float exact = ifm_attention_value(narrow, format, i);
                if (isnan(exact))
                    assert_true(isnan(wide[i]) && isnan(ifm_attention_value(back, format, i)));
                else
                    assert_true(ifm_f32_bits(exact) == ifm_f32_bits(wide[i]) && back[i] == narrow[i]);
            }
            struct ifm_random random = ifm_random_start(11, (uint32_t)storage);
            for (size_t i = 0; i < ALL; i++) /* any bits: ties, overflow, subnormal results */
                wide[i] = ifm_f32_of_bits(i % 2 == 0 ? ifm_random_u32(&random)
                                                     : (ifm_random_u32(&random) & 0xbfff8000) + 0x30008000);
            ifm_kernel_find("attention.store", isas[a])->fn.store(wide, 1, format, back, ALL);
            for (size_t i = 0; i < ALL; i++) {
                uint16_t expected;
                set(&expected, format, 0, wide[i]);
                assert_true(isnan(wide[i]) ? isnan(ifm_attention_value(back, format, i)) : back[i] == expected);
            }
        }
    free(narrow);
    free(back);
    free(wide);
}

/* The library's arm, with blocks that do and do not divide the length. */
static void the_library_arm_agrees(void **unused)
{
    (void)unused;
    const char *why_not = NULL;
    struct ifm_attention_blas arm = {.library = ifm_openblas_load(&why_not),
                                     .softmax = ifm_kernel_find("attention.softmax", "auto"),
                                     .widen = ifm_kernel_find("attention.widen", "auto"),
                                     .store = ifm_kernel_find("attention.store", "auto")};
    if (arm.library == NULL) {
        print_message("%s\n", why_not);
        skip();
    }
    static const uint32_t blocks[] = {16, 64, IFM_ATTENTION_BLOCK};
    static const uint32_t lengths[] = {129, 0, 67};
    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++)
        for (int storage = IFM_STORE_F32; storage <= IFM_STORE_F16; storage++)
            for (int causal = 0; causal < 2; causal++) {
                const struct ifm_attention_shape s = {
                    3, 4, 2, 129, 32, causal != 0, (enum ifm_attention_storage)storage};
                struct problem p = make(s, plain);
                memcpy(p.lengths, lengths, sizeof lengths);
                oracle(&p);
                const size_t scratch = ifm_attention_blas_scratch_floats(&s, blocks[b]);
                float *room = memory(scratch * sizeof *room);
                for (size_t i = 0; i < scratch; i++)
                    room[i] = NAN;
                prepare(&p, blocks[b]);
                ifm_attention_blas(&arm, &p.job, room);
                compare(&p, 1e-6, "openblas", 1);
                struct problem views = packed(&p);
                oracle(&views);
                prepare(&views, blocks[b]);
                ifm_attention_blas(&arm, &views.job, room);
                compare(&views, 1e-6, "openblas on views", 1);
                gaps_are_untouched(&views);
                free(room);
                drop_packed(&views);
                drop(&p);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_oracle_on_odd_shapes),
        cmocka_unit_test(agrees_with_and_without_the_mask),
        cmocka_unit_test(agrees_on_groups_and_batches),
        cmocka_unit_test(ragged_and_empty_sequences),
        cmocka_unit_test(agrees_on_views_of_one_tensor),
        cmocka_unit_test(survives_extreme_scales),
        cmocka_unit_test(nan_reaches_those_who_see_it),
        cmocka_unit_test(is_the_same_every_time),
        cmocka_unit_test(one_changed_row_shows),
        cmocka_unit_test(units_cover_every_query_once),
        cmocka_unit_test(softmax_of_rows),
        cmocka_unit_test(narrow_formats_are_those_of_half),
        cmocka_unit_test(the_library_arm_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
