/* Synthetic tensors shaped like a model's. Owns nothing; never depends on a thread or on the order of calls.
 *
 * Compiled without contraction: the same bits everywhere. Loops run over fixed chunks of channels, so that the compiler
 * vectorises them without being allowed to reorder anything. */
#include "workload/data/model_data.h"

#include "base/random.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { WIDE = 16, HALF_MOST = IFM_MODEL_DIM_MOST / 2, PER_COLUMN = 128, PER_CHANNEL = 32 };
enum {
    STREAM_KEY = 0x4d440001,
    STREAM_VALUE,
    STREAM_QUERY,
    STREAM_WEIGHT,
    STREAM_ACTIVATION,
    STREAM_OUTLIER,
    STREAM_SPREAD,
    STREAM_COLUMN,
    STREAM_INNER
};

/* sqrt(1 - rho^2) of rho = 1/2; and what takes the sum of four bytes, less its mean, to variance 1: its variance is
 * 4 (256^2 - 1) / 12. */
#define RHO 0.5f
#define FRESH 0.86602540f
#define BYTES_MEAN 510
#define BYTES_SCALE 6.7658752e-3f

/* Where the random words of a run of values come from: word i is mix(start + i * step). */
struct source {
    uint64_t start, step;
};

static struct source source_of(uint64_t seed, uint32_t stream, const uint64_t *index, unsigned n)
{
    uint32_t word[4];
    for (unsigned i = 0; i < n; i++) {
        ifm_philox(seed, i == 0 ? stream : STREAM_INNER, index[i], word);
        seed = (uint64_t)word[1] << 32 | word[0];
    }
    return (struct source){seed, ((uint64_t)word[3] << 32 | word[2]) | 1};
}

/* The output function of SplitMix64 (Steele, Lea, Flood 2014, with the constants of Stafford's variant 13). */
static inline uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

/* The sums of the four bytes of each half of a word, less their mean: two nearly normal numbers, unscaled. WIDE words
 * from number `at` on. */
static inline void draw(const struct source *source, uint64_t at, float *restrict low, float *restrict high)
{
    uint64_t word[WIDE];
    int32_t first[WIDE], second[WIDE];
    for (unsigned i = 0; i < WIDE; i++)
        word[i] = mix(source->start + (at + i) * source->step);
    for (unsigned i = 0; i < WIDE; i++) {
        const uint64_t every = 0x00ff00ff00ff00ffU;
        uint64_t pairs = (word[i] & every) + (word[i] >> 8 & every);
        pairs += pairs >> 16;
        first[i] = (int32_t)(pairs & 0xffff);
        second[i] = (int32_t)(pairs >> 32 & 0xffff);
    }
    for (unsigned i = 0; i < WIDE; i++) {
        low[i] = (float)(first[i] - BYTES_MEAN);
        high[i] = (float)(second[i] - BYTES_MEAN);
    }
}

/* To the nearest f16, ties to even, as base/half.h; never beyond its range here. */
static inline float round_half(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t sign = bits & 0x80000000U, rest = bits ^ sign;
    /* Below 2^-14 the steps are 2^-24, those of f32 from 0.5 to 1. */
    float magnitude, small;
    memcpy(&magnitude, &rest, sizeof magnitude);
    small = (magnitude + 0.5f) - 0.5f;
    uint32_t tiny;
    memcpy(&tiny, &small, sizeof tiny);
    const uint32_t normal = (rest + 0xfff + (rest >> 13 & 1)) & ~0x1fffU;
    const uint32_t is_tiny = -(uint32_t)(rest < 0x38800000U);
    bits = sign | (tiny & is_tiny) | (normal & ~is_tiny);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static unsigned chunks_of(unsigned half)
{
    return (half + WIDE - 1) / WIDE;
}

/* `n` distinct numbers below `below`, taken one after the other. `taken` has a bit for each. */
static void pick(uint64_t seed, uint32_t stream, uint32_t below, uint64_t *taken, unsigned n, uint32_t *out)
{
    struct ifm_random random = ifm_random_start(seed, stream);
    memset(taken, 0, ((size_t)below + 63) / 64 * sizeof *taken);
    for (unsigned i = 0; i < n;) {
        uint32_t c = ifm_random_below(&random, below);
        if ((taken[c / 64] >> c % 64 & 1) != 0)
            continue;
        taken[c / 64] |= UINT64_C(1) << c % 64;
        out[i++] = c;
    }
}

static uint64_t head_of(const struct ifm_model_data *data, uint64_t pair)
{
    return data->kv_heads > 0 ? pair % data->kv_heads : 0;
}

unsigned ifm_model_key_outliers(const struct ifm_model_data *data, uint64_t layer, uint64_t pair, uint32_t *channels)
{
    uint64_t taken[IFM_MODEL_DIM_MOST / 64];
    const uint64_t index[] = {layer, head_of(data, pair)};
    const unsigned n = data->head_dim < PER_CHANNEL ? 1 : data->head_dim / PER_CHANNEL;
    pick(source_of(data->seed, STREAM_OUTLIER, index, 2).start, STREAM_INNER, data->head_dim, taken, n, channels);
    return n;
}

unsigned ifm_model_column_outliers(const struct ifm_model_data *data, uint64_t layer, unsigned columns,
                                   uint32_t *channels)
{
    uint64_t taken[IFM_MODEL_COLUMNS_MOST / 64];
    const uint64_t index[] = {layer, columns};
    const unsigned n = columns < PER_COLUMN ? 1 : columns / PER_COLUMN;
    pick(source_of(data->seed, STREAM_COLUMN, index, 2).start, STREAM_INNER, columns, taken, n, channels);
    return n;
}

/* e^x for x <= 0 by its series at x / 64, squared six times. */
static double exp_of(double x)
{
    double sum = 1;
    x *= 0x1p-6;
    for (int n = 14; n > 0; n--)
        sum = 1 + x / n * sum;
    for (int i = 0; i < 6; i++)
        sum *= sum;
    return sum;
}

/* Cosine and sine of an angle >= 0: brought into [-pi, pi), the series at a quarter of it, doubled twice. */
static void turn_of(double angle, double *cosine, double *sine)
{
    const double pi = 3.14159265358979323846, circle = 6.28318530717958647692;
    const double y = (angle - (double)(int64_t)(angle / circle) * circle - pi) * 0.25, square = y * y;
    double c = 1, s = 1;
    for (int n = 16; n > 0; n -= 2) {
        c = 1 - square / (n * (n - 1)) * c;
        s = 1 - square / (n * (n + 1)) * s;
    }
    s *= y;
    for (int i = 0; i < 2; i++) {
        const double twice = 2 * s * c;
        c = 1 - 2 * s * s;
        s = twice;
    }
    *cosine = -c; /* the angle was moved by pi */
    *sine = -s;
}

/* The turn of each pair of channels at one position, and that from one token to the next. */
struct rope {
    float cosine[HALF_MOST], sine[HALF_MOST], step_cosine[HALF_MOST], step_sine[HALF_MOST];
};

static void rope_frequencies(unsigned half, double *frequency)
{
    const double log_base = 9.21034037197618273607; /* ln 10000 */
    const double ratio = exp_of(-log_base / half);
    double power = 1;
    for (unsigned i = 0; i < half; i++, power *= ratio)
        frequency[i] = power;
}

static void rope_at(struct rope *rope, unsigned half, const double *frequency, uint64_t position)
{
    for (unsigned i = 0; i < half; i++) {
        double c, s;
        turn_of((double)position * frequency[i], &c, &s);
        rope->cosine[i] = (float)c;
        rope->sine[i] = (float)s;
    }
}

static void rope_steps(struct rope *rope, unsigned half, const double *frequency)
{
    for (unsigned i = 0; i < half; i++) {
        double c, s;
        turn_of(frequency[i], &c, &s);
        rope->step_cosine[i] = (float)c;
        rope->step_sine[i] = (float)s;
    }
}

/* WIDE channels of each half, turned and rounded. */
static inline void rope_turn(const struct rope *rope, unsigned at, const float *low, const float *high,
                             float *restrict out_low, float *restrict out_high)
{
    const float *restrict c = rope->cosine + at, *restrict s = rope->sine + at;
    for (unsigned i = 0; i < WIDE; i++) {
        out_low[i] = round_half(low[i] * c[i] - high[i] * s[i]);
        out_high[i] = round_half(high[i] * c[i] + low[i] * s[i]);
    }
}

static inline void rope_step(struct rope *rope, unsigned at)
{
    float *restrict c = rope->cosine + at, *restrict s = rope->sine + at;
    const float *restrict dc = rope->step_cosine + at, *restrict ds = rope->step_sine + at;
    for (unsigned i = 0; i < WIDE; i++) {
        const float next = c[i] * dc[i] - s[i] * ds[i];
        s[i] = s[i] * dc[i] + c[i] * ds[i];
        c[i] = next;
    }
}

/* Two halves of a row, a chunk at a time, to a row of any width. */
static inline void put(float *to, unsigned half, unsigned at, const float *low, const float *high)
{
    const unsigned n = half - at < WIDE ? half - at : WIDE;
    if (n == WIDE) {
        memcpy(to + at, low, WIDE * sizeof *to);
        memcpy(to + half + at, high, WIDE * sizeof *to);
        return;
    }
    memcpy(to + at, low, n * sizeof *to);
    memcpy(to + half + at, high, n * sizeof *to);
}

/* One head over one block: x is the autoregression, gain what each channel is multiplied by. */
struct run {
    struct source source;
    unsigned half, chunks;
    float low[HALF_MOST], high[HALF_MOST], gain_low[HALF_MOST], gain_high[HALF_MOST];
};

static inline void next_token(struct run *run, unsigned token, unsigned chunk)
{
    float fresh_low[WIDE], fresh_high[WIDE];
    float *restrict low = run->low + (size_t)WIDE * chunk, *restrict high = run->high + (size_t)WIDE * chunk;
    draw(&run->source, ((uint64_t)token * run->chunks + chunk) * WIDE, fresh_low, fresh_high);
    /* Before the first token there are zeros. */
    const float scale = token == 0 ? BYTES_SCALE : FRESH * BYTES_SCALE;
    for (unsigned i = 0; i < WIDE; i++) {
        low[i] = RHO * low[i] + scale * fresh_low[i];
        high[i] = RHO * high[i] + scale * fresh_high[i];
    }
}

static void run_start(struct run *run, const struct ifm_model_data *data, uint32_t stream, uint64_t layer,
                      uint64_t pair, uint64_t block)
{
    const uint64_t index[] = {layer, pair, block};
    run->source = source_of(data->seed, stream, index, 3);
    run->half = data->head_dim / 2;
    run->chunks = chunks_of(run->half);
    memset(run->low, 0, sizeof run->low);
    memset(run->high, 0, sizeof run->high);
}

/* Tokens from .. to of a block, with RoPE (keys) or without. */
static void run_block(struct run *run, struct rope *rope, unsigned from, unsigned to, float *out)
{
    for (unsigned token = 0; token < to; token++) {
        float *row = token < from ? NULL : out + (size_t)(token - from) * 2 * run->half;
        for (unsigned chunk = 0; chunk < run->chunks; chunk++) {
            const unsigned at = WIDE * chunk;
            float low[WIDE], high[WIDE], out_low[WIDE], out_high[WIDE];
            next_token(run, token, chunk);
            if (row != NULL) {
                for (unsigned i = 0; i < WIDE; i++) {
                    low[i] = run->low[at + i] * run->gain_low[at + i];
                    high[i] = run->high[at + i] * run->gain_high[at + i];
                }
                if (rope != NULL)
                    rope_turn(rope, at, low, high, out_low, out_high);
                else
                    for (unsigned i = 0; i < WIDE; i++) {
                        out_low[i] = round_half(low[i]);
                        out_high[i] = round_half(high[i]);
                    }
                put(row, run->half, at, out_low, out_high);
            }
            if (rope != NULL)
                rope_step(rope, at);
        }
    }
}

static void key_gains(struct run *run, const struct ifm_model_data *data, uint64_t layer, uint64_t pair)
{
    uint32_t channels[IFM_MODEL_DIM_MOST];
    const unsigned half = data->head_dim / 2, n = ifm_model_key_outliers(data, layer, pair, channels);
    for (unsigned i = 0; i < HALF_MOST; i++)
        run->gain_low[i] = run->gain_high[i] = 1;
    for (unsigned i = 0; i < n; i++) {
        const uint32_t c = channels[i];
        float *gain = c < half ? &run->gain_low[c] : &run->gain_high[c - half];
        *gain = (float)data->outlier;
    }
}

static void value_gains(struct run *run, const struct ifm_model_data *data, uint64_t layer, uint64_t pair)
{
    const uint64_t index[] = {layer, head_of(data, pair)};
    const struct source source = source_of(data->seed, STREAM_SPREAD, index, 2);
    for (unsigned i = 0; i < HALF_MOST; i++) {
        const uint64_t word = mix(source.start + i * source.step);
        run->gain_low[i] = 0.75f + 0.5f * 0x1p-16f * (float)(int32_t)(word & 0xffff);
        run->gain_high[i] = 0.75f + 0.5f * 0x1p-16f * (float)(int32_t)(word >> 32 & 0xffff);
    }
}

/* Every block that the run of tokens touches; `rope` for keys, NULL for values. */
static void run_tokens(struct run *run, const struct ifm_model_data *data, uint64_t layer, uint64_t pair,
                       uint64_t first_token, unsigned tokens, struct rope *rope, float *out)
{
    double frequency[HALF_MOST];
    const unsigned half = data->head_dim / 2;
    if (rope != NULL) {
        rope_frequencies(half, frequency);
        rope_steps(rope, half, frequency);
    }
    for (unsigned done = 0; done < tokens;) {
        const uint64_t block = (first_token + done) / IFM_MODEL_BLOCK;
        const unsigned from = (unsigned)((first_token + done) % IFM_MODEL_BLOCK), left = tokens - done;
        const unsigned to = left < IFM_MODEL_BLOCK - from ? from + left : IFM_MODEL_BLOCK;
        run_start(run, data, rope != NULL ? STREAM_KEY : STREAM_VALUE, layer, pair, block);
        if (rope != NULL)
            rope_at(rope, half, frequency, block * IFM_MODEL_BLOCK);
        run_block(run, rope, from, to, out + (size_t)done * data->head_dim);
        done += to - from;
    }
}

void ifm_model_kv(const struct ifm_model_data *data, uint64_t layer, uint64_t pair, uint64_t first_token,
                  unsigned tokens, float *k, float *v)
{
    struct run run;
    struct rope rope = {0};
    if (k != NULL) {
        key_gains(&run, data, layer, pair);
        run_tokens(&run, data, layer, pair, first_token, tokens, &rope, k);
    }
    if (v != NULL) {
        value_gains(&run, data, layer, pair);
        run_tokens(&run, data, layer, pair, first_token, tokens, NULL, v);
    }
}

void ifm_model_queries(const struct ifm_model_data *data, uint64_t layer, uint64_t pair, uint64_t position, unsigned n,
                       float *q)
{
    double frequency[HALF_MOST];
    struct rope rope = {0};
    const unsigned half = data->head_dim / 2, chunks = chunks_of(half);
    const uint64_t index[] = {layer, pair, position};
    const struct source source = source_of(data->seed, STREAM_QUERY, index, 3);
    rope_frequencies(half, frequency);
    rope_at(&rope, half, frequency, position);
    for (unsigned row = 0; row < n; row++)
        for (unsigned chunk = 0; chunk < chunks; chunk++) {
            float low[WIDE], high[WIDE], out_low[WIDE], out_high[WIDE];
            draw(&source, ((uint64_t)row * chunks + chunk) * WIDE, low, high);
            for (unsigned i = 0; i < WIDE; i++) {
                low[i] *= BYTES_SCALE;
                high[i] *= BYTES_SCALE;
            }
            rope_turn(&rope, WIDE * chunk, low, high, out_low, out_high);
            put(q + (size_t)row * data->head_dim, half, WIDE * chunk, out_low, out_high);
        }
}

/* Rows of independent values times `scale`, and `gain` times that in the large columns. */
static void matrix(const struct ifm_model_data *data, uint32_t stream, uint64_t layer, uint64_t first_row,
                   uint64_t rows, unsigned columns, float scale, float gain, float *out)
{
    uint32_t large[IFM_MODEL_COLUMNS_MOST / PER_COLUMN];
    const unsigned n_large = ifm_model_column_outliers(data, layer, columns, large);
    for (uint64_t r = 0; r < rows; r++) {
        const uint64_t index[] = {layer, columns, first_row + r};
        const struct source source = source_of(data->seed, stream, index, 3);
        float *row = out + r * columns;
        float value[2 * WIDE];
        for (unsigned at = 0; at < columns; at += 2 * WIDE) {
            const unsigned left = columns - at < 2 * WIDE ? columns - at : 2 * WIDE;
            draw(&source, at / 2, value, value + WIDE);
            for (unsigned i = 0; i < 2 * WIDE; i++)
                value[i] *= BYTES_SCALE * scale;
            memcpy(row + at, value, left * sizeof *value);
        }
        for (unsigned i = 0; i < n_large; i++)
            row[large[i]] *= gain;
        for (unsigned at = 0; at < columns; at++)
            row[at] = round_half(row[at]);
    }
}

void ifm_model_weights(const struct ifm_model_data *data, uint64_t layer, uint64_t first_row, uint64_t rows,
                       unsigned columns, float *w)
{
    matrix(data, STREAM_WEIGHT, layer, first_row, rows, columns, (float)(1 / sqrt(columns)), (float)sqrt(data->outlier),
           w);
}

void ifm_model_activations(const struct ifm_model_data *data, uint64_t layer, uint64_t first_row, uint64_t rows,
                           unsigned columns, float *x)
{
    matrix(data, STREAM_ACTIVATION, layer, first_row, rows, columns, 1, (float)data->outlier, x);
}
