/* The check of an inference cycle on the device cuda: what the last step left, then the same cycle again, walked place
 * by place without a graph.
 *
 * Of what the step left: the outputs of its last token, and of others as a budget allows, against f64 attention over
 * the cache that is read back; every row that was appended, which must be the one that was given, where it belongs,
 * with nothing behind it; all layers, which hold the same. After going back every layer must be as it was before the
 * first token. Of the walk: every query, against the rule computed here from the output in front; the outputs of a
 * place that is drawn anew each time. What the walk leaves must be what the step left, bit for bit. */
#include "workload/decode/run_cuda.h"

#include "base/half.h"
#include "base/hash.h"
#include "workload/decode/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t PRODUCTS_MOST = 1ULL << 29; /* of a query and a key, of tokens beside the last one */
static const uint64_t QUERIES_MOST = 1ULL << 28;  /* values of queries that are made again */

/* All that a cycle leaves, on the host. */
struct left {
    float *q, *out;   /* [tokens][outputs] */
    uint64_t *layers; /* [layers] digests */
};

/* A check at work. */
struct cycle_walk {
    struct ifm_decode_cuda_run *run;
    struct left again;
    float *output; /* [outputs]: that a query is made of */
    bool wrong;    /* something other than a rounding error */
};

static enum ifm_status no_memory(const struct ifm_decode_cuda_run *run, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INTERNAL, run->arm, NULL, "out of memory for the oracle");
}

static enum ifm_status read_left(const struct ifm_decode_cuda_run *run, const struct left *to, struct ifm_error *error)
{
    IFM_TRY(ifm_cuda_read(run->device, to->q, run->q_at, ifm_decode_cuda_bytes(run), error));
    IFM_TRY(ifm_cuda_read(run->device, to->out, run->out_at, ifm_decode_cuda_bytes(run), error));
    for (unsigned layer = 0; layer < run->layers; layer++)
        IFM_TRY(ifm_decode_cuda_digest(run, layer, &to->layers[layer], error));
    return IFM_OK;
}

static bool all_are(const struct ifm_decode_cuda_run *run, const uint64_t *layers, uint64_t digest)
{
    bool are = true;
    for (unsigned layer = 0; layer < run->layers; layer++)
        are = are && layers[layer] == digest;
    return are;
}

/* ---- the rows ---- */

/* The row of a pair's token `token` in a half of the cache. */
static const uint16_t *row_of(const struct ifm_decode_cuda_run *run, const unsigned char *half, uint64_t pair,
                              uint64_t token)
{
    const uint64_t page = run->table[run->first[pair] + token / IFM_KV_PAGE];
    return (const uint16_t *)(const void *)half + (page * IFM_KV_PAGE + token % IFM_KV_PAGE) * run->settings->head_dim;
}

/* The rows of one token, as they were given, or zeros where `given` is NULL. */
static bool holds_row(const struct ifm_decode_cuda_run *run, const unsigned char *half, uint64_t pair, uint64_t token,
                      const float *given)
{
    const uint16_t *row = row_of(run, half, pair, token);
    bool holds = true;
    for (uint64_t d = 0; d < run->settings->head_dim; d++)
        holds = holds && row[d] == (given == NULL ? 0 : ifm_f32_to_f16(given[d]));
    return holds;
}

/* All rows of the pair that a cycle appended, and the slots of its pages behind them. */
static bool holds_rows(const struct ifm_decode_cuda_run *run, const unsigned char *pool, uint64_t pair)
{
    const uint64_t dim = run->settings->head_dim;
    const uint64_t length = ifm_decode_cuda_length(run, pair / run->settings->kv_heads);
    const uint64_t room = (run->first[pair + 1] - run->first[pair]) * IFM_KV_PAGE;
    const uint64_t appended = run->cycle.rows == NULL ? 0 : run->tokens;
    bool holds = true;
    for (uint64_t i = 0; length + i < room; i++) {
        const float *given = i < appended ? run->cycle.rows + (i * run->pairs + pair) * 2 * dim : NULL;
        holds = holds && holds_row(run, pool, pair, length + i, given) &&
                holds_row(run, pool + run->half, pair, length + i, given == NULL ? NULL : given + dim);
    }
    return holds;
}

/* ---- outputs ---- */

static double worse(double a, double b) /* NaN is worse than anything */
{
    return b > a || isnan(b) ? b : a;
}

static void take_worse(struct ifm_check *out, const struct ifm_check *other)
{
    out->error_rms_rel = worse(out->error_rms_rel, other->error_rms_rel);
    out->error_max_rel = worse(out->error_max_rel, other->error_max_rel);
    out->error_row = worse(out->error_row, other->error_row);
    out->error_bias = worse(out->error_bias, other->error_bias);
    out->error_part = worse(out->error_part, other->error_part);
}

/* Tokens whose outputs are compared beside the last one's. */
static uint64_t other_tokens(const struct ifm_decode_cuda_run *run)
{
    const struct ifm_decode_settings *s = run->settings;
    const uint64_t each = run->pairs * run->source.group * s->kv_len * s->head_dim, fit = PRODUCTS_MOST / each;
    return fit < run->tokens - 1 ? fit : run->tokens - 1;
}

static enum ifm_status compare_tokens(struct cycle_walk *walk, const unsigned char *pool, struct ifm_check *out,
                                      struct ifm_error *error)
{
    const struct ifm_decode_cuda_run *run = walk->run;
    const uint64_t last = run->tokens - 1;
    const uint64_t others = run->packed.cache == NULL ? other_tokens(run) : 0; /* its rows move: the walk compares */
    struct ifm_decode_rows rows;
    char code[16];
    struct ifm_decode_outputs outputs = ifm_decode_cuda_outputs(run, pool, last, &rows);
    IFM_TRY(ifm_decode_compare(&outputs, ifm_decode_cuda_code(run, code), out, error));
    for (uint64_t i = 0; i < others; i++) {
        struct ifm_check other = {0};
        outputs = ifm_decode_cuda_outputs(run, pool, i * last / others, &rows);
        IFM_TRY(ifm_decode_compare_kernel(&outputs, &other, error));
        take_worse(out, &other);
    }
    const size_t values = run->tokens * run->outputs;
    ifm_data_checked(run->out, values * sizeof(float), ifm_data_finite(run->out, values), code, out);
    return IFM_OK;
}

/* A compressed cache as it is at a token, for the oracle. */
static void take_cache(const struct ifm_decode_cuda_run *run, const unsigned char *pool, uint64_t token)
{
    ifm_decode_cuda_packed_adopt(run, token);
    ifm_decode_cuda_packed_take(run, pool);
}

/* What the step left in the last layer. */
static enum ifm_status compare_step(struct cycle_walk *walk, struct ifm_check *out, struct ifm_error *error)
{
    const struct ifm_decode_cuda_run *run = walk->run;
    unsigned char *pool;
    bool holds = true;
    enum ifm_status status = IFM_OK;
    IFM_TRY(ifm_decode_cuda_read_layer(run, run->turn, &pool, error));
    if (run->packed.cache != NULL) {
        status = ifm_decode_cuda_packed_holds(run, pool, &holds, error);
        take_cache(run, pool, run->tokens - 1);
    }
    for (uint64_t pair = 0; pair < run->pairs && run->packed.cache == NULL; pair++)
        holds = holds && holds_rows(run, pool, pair);
    walk->wrong = walk->wrong || !holds;
    if (status == IFM_OK)
        status = compare_tokens(walk, pool, out, error);
    free(pool);
    return status;
}

/* ---- the walk ---- */

static double length_of(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* Whether a head's query is the fresh one and the last output in equal parts, as long as the fresh one, in f16: within
 * a step of f16, as sums in f32 differ from those in f64, most where the two parts cancel. */
static bool is_fed(const float *q, const float *fresh, const float *output, size_t dim)
{
    const double own = length_of(fresh, dim), other = output == NULL ? 0 : length_of(output, dim);
    const double part = other > 0 ? own / other : 0;
    double mixed = 0;
    bool is = true;
    for (size_t d = 0; d < dim; d++) {
        const double x = (double)fresh[d] + (output == NULL ? 0 : part * (double)output[d]);
        mixed += x * x;
    }
    const double scale = output == NULL ? 1 : mixed > 0 ? own / sqrt(mixed) : 0;
    for (size_t d = 0; d < dim; d++) {
        const double old = output == NULL ? 0 : part * (double)output[d], x = scale * ((double)fresh[d] + old);
        const double sums = 0x1p-20 * scale * (fabs((double)fresh[d]) + fabs(old));
        is = is && fabs((double)q[d] - x) <= 0x1p-10 * fabs(x) + sums + 0x1p-24;
    }
    return is;
}

/* A place whose query is made again: the output in front of it is read before it runs. */
static enum ifm_status look_at_query(struct cycle_walk *walk, uint64_t token, unsigned layer, struct ifm_error *error)
{
    struct ifm_decode_cuda_run *run = walk->run;
    const size_t dim = run->settings->head_dim, bytes = run->outputs * sizeof(float), at = token * run->outputs;
    const bool first = token == 0 && layer == 0;
    const float *out = (const float *)run->out_at + (layer > 0 ? at : at - (first ? 0 : run->outputs));
    float *q = walk->again.q + at;
    if (!first)
        IFM_TRY(ifm_cuda_read(run->device, walk->output, out, bytes, error));
    ifm_decode_cuda_place(run, token, layer);
    ifm_decode_cuda_packed_finish(run);
    IFM_TRY(ifm_cuda_read(run->device, q, (const float *)run->q_at + at, bytes, error));
    for (size_t i = 0; i < run->outputs; i += dim)
        walk->wrong = walk->wrong || !is_fed(q + i, run->cycle.fresh + at + i, first ? NULL : walk->output + i, dim);
    return IFM_OK;
}

/* The outputs of the place that ran last, by its query. */
static enum ifm_status look_at_output(struct cycle_walk *walk, uint64_t token, unsigned layer, struct ifm_check *out,
                                      struct ifm_error *error)
{
    const struct ifm_decode_cuda_run *run = walk->run;
    const size_t at = token * run->outputs, bytes = run->outputs * sizeof(float);
    struct ifm_check check = {0};
    struct ifm_decode_rows rows;
    unsigned char *pool;
    IFM_TRY(ifm_cuda_read(run->device, walk->again.out + at, (const float *)run->out_at + at, bytes, error));
    IFM_TRY(ifm_decode_cuda_read_layer(run, layer, &pool, error));
    if (run->packed.cache != NULL)
        take_cache(run, pool, token);
    struct ifm_decode_outputs outputs = ifm_decode_cuda_outputs(run, pool, token, &rows);
    outputs.q = walk->again.q + at;
    outputs.out = walk->again.out + at;
    enum ifm_status status = ifm_decode_compare_kernel(&outputs, &check, error);
    free(pool);
    take_worse(out, &check);
    walk->wrong = walk->wrong || !ifm_data_finite(outputs.out, run->outputs);
    return status;
}

/* Whether the outputs of a place are compared on the walk: where one is drawn, and of a compressed cache, whose rows
 * move as it grows, in the last layer for as many tokens as others are compared after the step. */
static bool is_compared(const struct cycle_walk *walk, uint64_t place, uint64_t drawn)
{
    const struct ifm_decode_cuda_run *run = walk->run;
    const uint64_t others = run->packed.cache == NULL ? 0 : other_tokens(run), token = place / run->layers;
    if (place == drawn)
        return true;
    if (place % run->layers != run->layers - 1 || others == 0)
        return false;
    const uint64_t each = (run->tokens - 1 + others - 1) / others;
    return token % each == 0;
}

/* Body pages of all layers are alike, so those of another one would do: while a place of a compressed cache is looked
 * at, all others' are NaN. */
static void spoil_others(const struct ifm_decode_cuda_run *run, unsigned layer)
{
    for (unsigned i = 0; i < run->layers && run->packed.body > 0; i++)
        if (i != layer)
            ifm_cuda_fill(run->device, run->pools[i], UINT32_MAX, run->packed.body / sizeof(uint32_t));
}

static void mend_others(const struct ifm_decode_cuda_run *run, unsigned layer)
{
    for (unsigned i = 0; i < run->layers && run->packed.body > 0; i++)
        if (i != layer)
            ifm_cuda_copy(run->device, run->pools[i], run->pools[layer], run->packed.body);
}

static enum ifm_status walk_places(struct cycle_walk *walk, struct ifm_check *out, struct ifm_error *error)
{
    struct ifm_decode_cuda_run *run = walk->run;
    const uint64_t places = run->tokens * run->layers, seeds[2] = {run->source.data.seed, ++run->cycle.draws};
    const uint64_t drawn = ifm_xxh3(seeds, sizeof seeds) % places, each = places * run->outputs / QUERIES_MOST + 1;
    for (uint64_t place = 0; place < places; place++) {
        const uint64_t token = place / run->layers;
        const unsigned layer = (unsigned)(place % run->layers);
        const bool compared = is_compared(walk, place, drawn);
        if (compared)
            spoil_others(run, layer);
        if (place % each == 0 || compared)
            IFM_TRY(look_at_query(walk, token, layer, error));
        else
            ifm_decode_cuda_place(run, token, layer);
        ifm_decode_cuda_packed_finish(run);
        if (compared) {
            mend_others(run, layer);
            IFM_TRY(look_at_output(walk, token, layer, out, error));
        }
    }
    return IFM_OK;
}

static enum ifm_status walk_again(struct cycle_walk *walk, const struct left *step, struct ifm_check *out,
                                  struct ifm_error *error)
{
    struct ifm_decode_cuda_run *run = walk->run;
    const size_t bytes = ifm_decode_cuda_bytes(run);
    ifm_decode_cuda_rewind(run);
    IFM_TRY(read_left(run, &walk->again, error));
    walk->wrong = walk->wrong || !all_are(run, walk->again.layers, run->cycle.still);
    IFM_TRY(walk_places(walk, out, error));
    IFM_TRY(read_left(run, &walk->again, error));
    walk->wrong = walk->wrong || memcmp(walk->again.q, step->q, bytes) != 0 ||
                  memcmp(walk->again.out, step->out, bytes) != 0 || !all_are(run, walk->again.layers, step->layers[0]);
    return IFM_OK;
}

/* ---- all of it ---- */

static enum ifm_status compare_all(struct ifm_decode_cuda_run *run, const struct left *step, struct ifm_check *out,
                                   struct ifm_error *error)
{
    const size_t bytes = ifm_decode_cuda_bytes(run);
    struct cycle_walk walk = {.run = run, .wrong = !all_are(run, step->layers, step->layers[0])};
    walk.again = (struct left){malloc(bytes), malloc(bytes), calloc(run->layers, sizeof(uint64_t))};
    walk.output = malloc(run->outputs * sizeof(float));
    enum ifm_status status = IFM_OK;
    if (walk.again.q == NULL || walk.again.out == NULL || walk.again.layers == NULL || walk.output == NULL)
        status = no_memory(run, error);
    if (status == IFM_OK)
        status = compare_step(&walk, out, error);
    if (status == IFM_OK)
        status = walk_again(&walk, step, out, error);
    if (walk.wrong)
        out->error_part = 1;
    free(walk.again.q);
    free(walk.again.out);
    free(walk.again.layers);
    free(walk.output);
    return status;
}

static enum ifm_status check_step(struct ifm_decode_cuda_run *run, const struct left *step, struct ifm_check *out,
                                  struct ifm_error *error)
{
    const size_t bytes = ifm_decode_cuda_bytes(run);
    IFM_TRY(read_left(run, step, error));
    const uint64_t parts[2] = {ifm_xxh3(step->q, bytes), ifm_xxh3(step->layers, run->layers * sizeof *step->layers)};
    const uint64_t inputs = ifm_xxh3(parts, sizeof parts);
    if (!ifm_data_is_known(&run->known, inputs, step->out, bytes)) {
        run->known.check = (struct ifm_check){0};
        IFM_TRY(compare_all(run, step, &run->known.check, error));
        run->known.inputs = inputs;
    }
    *out = run->known.check;
    return IFM_OK;
}

enum ifm_status ifm_decode_cuda_check_cycle(struct ifm_decode_cuda_run *run, struct ifm_check *out,
                                            struct ifm_error *error)
{
    const struct left step = {run->q, run->out, calloc(run->layers, sizeof(uint64_t))};
    if (step.layers == NULL)
        return no_memory(run, error);
    enum ifm_status status = check_step(run, &step, out, error);
    free(step.layers);
    return status;
}
