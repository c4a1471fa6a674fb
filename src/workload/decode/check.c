/* The check of decode: what the kernel did to the numbers, and what the compression did, apart.
 *
 * Kernel error: all outputs, in compare.c. Loss: f64 attention over the reference reading of the cache against f64
 * attention over the exact tokens, all of them, of rows that the seed draws and that take some tenths of a second. Both
 * are of the layer that the last step attended over, with the query that it had. What the cache holds is looked at too:
 * those tokens that it holds in f16 are as they were appended. */
#include "workload/decode/check.h"

#include "base/order.h"
#include "workload/data/data.h"
#include "workload/decode/compare.h"
#include "workload/decode/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_LEAST = 4, HEADS_MOST = 8 };
static const uint64_t VALUES_MOST = 24000000; /* of K, V and products, in one check */

/* What is compared: `heads` query heads of each of `pairs` pairs. */
struct selection {
    uint64_t pairs;
    unsigned heads;
};

static uint64_t pairs_of(const struct ifm_decode_outputs *o)
{
    return o->settings->batch * o->settings->kv_heads;
}

static struct selection select_rows(const struct ifm_decode_outputs *o)
{
    const struct ifm_decode_settings *s = o->settings;
    struct selection out = {.heads = o->source->group < HEADS_MOST ? o->source->group : HEADS_MOST};
    uint64_t least = (ROWS_LEAST + out.heads - 1) / out.heads;
    out.pairs = VALUES_MOST / (s->kv_len * s->head_dim * (2 + out.heads));
    least = least < 2 ? 2 : least;
    out.pairs = out.pairs < least ? least : out.pairs;
    out.pairs = out.pairs < pairs_of(o) ? out.pairs : pairs_of(o);
    return out;
}

/* Sums of one pair's rows, so that totals do not depend on the workers. */
struct decode_sums {
    bool other; /* the cache holds other tokens than it was given */
    double loss2, exact2, cosine, kl, tv;
    enum ifm_status status;
    struct ifm_error error;
};

struct decode_comparison {
    const struct ifm_decode_outputs *o;
    struct selection selection;
    struct decode_sums *sums; /* [pairs] */
    double *losses;           /* [pairs][heads][dim]: |x - exact| */
};

/* Room of one worker for one pair. */
struct room {
    struct ifm_decode_oracle cache, exact;
    float *q, *k, *v;
    uint8_t *keep;
    double *doubles;
};

static void drop(struct room *room)
{
    free(room->q);
    free(room->keep);
    free(room->doubles);
}

static enum ifm_status take(struct room *room, const struct decode_comparison *c, uint64_t tokens,
                            struct ifm_error *error)
{
    const unsigned heads = c->selection.heads, dim = (unsigned)c->o->settings->head_dim;
    const size_t each = heads * (2 + (size_t)dim + tokens);
    *room = (struct room){.q = malloc((heads + 2 * IFM_KV_PAGE) * (size_t)dim * sizeof(float)),
                          .keep = malloc(tokens),
                          .doubles = malloc(2 * each * sizeof(double))};
    if (room->q == NULL || room->keep == NULL || room->doubles == NULL) {
        drop(room);
        return ifm_fail(error, IFM_INTERNAL, "decode", NULL, "out of memory for the oracle");
    }
    room->k = room->q + (size_t)heads * dim;
    room->v = room->k + IFM_KV_PAGE * (size_t)dim;
    struct ifm_decode_oracle *oracles[2] = {&room->cache, &room->exact};
    for (size_t i = 0; i < 2; i++) {
        double *at = room->doubles + i * each;
        *oracles[i] = (struct ifm_decode_oracle){.heads = heads, .dim = dim, .room = tokens, .q = room->q, .top = at};
        oracles[i]->total = at + heads;
        oracles[i]->sum = oracles[i]->total + heads;
        oracles[i]->scores = oracles[i]->sum + (size_t)heads * dim;
        ifm_decode_oracle_begin(oracles[i]);
    }
    return IFM_OK;
}

/* Selected pair `i`: an even selection whose first one the seed of the run draws. */
static uint64_t pair_of(const struct decode_comparison *c, uint64_t i)
{
    const uint64_t pairs = pairs_of(c->o);
    return (c->o->draw % pairs + pairs / c->selection.pairs * i) % pairs;
}

/* The query head of row `j` of selected pair `i`: every place within a group has its turn. */
static uint64_t head_of(const struct decode_comparison *c, uint64_t i, unsigned j)
{
    return (c->o->draw / pairs_of(c->o) + i * c->selection.heads + j) % c->o->source->group;
}

/* Whether the cache holds as many tokens as there should be, and those that it holds in f16 as they were: the kernel
 * and the reference reading would both be wrong about one that it lost. Scores tell keys apart. */
static bool holds_its_tokens(const struct room *room, const struct ifm_decode_outputs *o, uint64_t pair)
{
    uint64_t from = 0, to = 0, next = 0; /* the tokens of compressed pages */
    if (o->cache != NULL && ifm_kv_body_layout(o->cache)->format != IFM_KV_F16) {
        const struct ifm_kv_view view = ifm_kv_view_of(o->cache, pair);
        from = view.sink.tokens;
        to = from + view.n_body * IFM_KV_PAGE;
    }
    for (uint64_t t = 0; t < room->exact.tokens; t++) {
        if (room->keep[t] == 0)
            continue;
        if (next == room->cache.tokens)
            return false;
        const double mine = room->cache.scores[next], exact = room->exact.scores[t];
        if ((next < from || next >= to) && mine != exact && !(isnan(mine) && isnan(exact)))
            return false;
        next++;
    }
    return next == room->cache.tokens;
}

static enum ifm_status attend_exact(struct room *room, const struct ifm_decode_outputs *o, uint64_t pair,
                                    uint64_t tokens, struct ifm_error *error)
{
    for (uint64_t at = 0; at < tokens; at += IFM_KV_PAGE) {
        const unsigned n = tokens - at < IFM_KV_PAGE ? (unsigned)(tokens - at) : IFM_KV_PAGE;
        IFM_TRY(ifm_data_source_kv(o->source, pair, at, n, room->k, room->v, error));
        ifm_decode_oracle_add(&room->exact, n, room->k, room->v);
    }
    ifm_decode_oracle_end(&room->exact);
    return IFM_OK;
}

static void add_row(struct decode_sums *sums, const struct room *room, unsigned row, double *losses)
{
    const unsigned dim = room->exact.dim;
    const double *read = room->cache.sum + (size_t)row * dim, *exact = room->exact.sum + (size_t)row * dim;
    double dot = 0, read2 = 0, exact2 = 0;
    for (unsigned d = 0; d < dim; d++) {
        losses[d] = fabs(read[d] - exact[d]);
        sums->loss2 += losses[d] * losses[d];
        dot += read[d] * exact[d];
        read2 += read[d] * read[d];
        exact2 += exact[d] * exact[d];
    }
    sums->exact2 += exact2;
    sums->cosine = fmin(sums->cosine, fmin(1, dot / sqrt(read2 * exact2)));
    const struct ifm_decode_divergence weights = ifm_decode_divergence_of(&room->exact, &room->cache, row, room->keep);
    sums->kl += weights.kl;
    sums->tv += weights.tv;
}

static enum ifm_status compare_rows(struct decode_comparison *c, uint64_t i, uint64_t pair, struct room *room,
                                    struct decode_sums *sums)
{
    const struct ifm_decode_outputs *o = c->o;
    const size_t dim = o->settings->head_dim, heads = c->selection.heads, group = o->source->group;
    for (unsigned j = 0; j < heads; j++)
        memcpy(room->q + j * dim, o->q + (pair * group + head_of(c, i, j)) * dim, dim * sizeof *room->q);
    ifm_decode_attend_cache(o, pair, &room->cache, NULL, room->k, room->v);
    IFM_TRY(attend_exact(room, o, pair, room->exact.room, &sums->error));
    for (unsigned j = 0; j < heads; j++)
        add_row(sums, room, j, c->losses + (i * heads + j) * dim);
    sums->other = !holds_its_tokens(room, o, pair);
    return IFM_OK;
}

static enum ifm_status compare_pair(struct decode_comparison *c, uint64_t i, struct decode_sums *sums)
{
    const struct ifm_decode_outputs *o = c->o;
    const struct ifm_decode_settings *s = o->settings;
    const uint64_t pair = pair_of(c, i), length = ifm_decode_length(s, pair / s->kv_heads);
    const uint64_t held = ifm_decode_held(o, pair);
    struct room room;
    IFM_TRY(take(&room, c, length + held - ifm_decode_kept(o->form, length), &sums->error));
    memset(room.keep, 1, room.exact.room);
    enum ifm_status status = IFM_OK;
    if (o->form->half)
        status = ifm_decode_keep(o->source, s, o->form, pair, length, room.keep, &sums->error);
    if (status == IFM_OK)
        status = compare_rows(c, i, pair, &room, sums);
    drop(&room);
    return status;
}

static void compare_part(void *arg, unsigned index, unsigned count)
{
    struct decode_comparison *c = arg;
    for (uint64_t i = index; i < c->selection.pairs; i += count)
        c->sums[i].status = compare_pair(c, i, &c->sums[i]);
}

/* 0 where both are: an arm that loses nothing. */
static double over(double amount, double reference)
{
    return amount == 0 ? 0 : amount / reference;
}

static enum ifm_status add_up(struct decode_comparison *c, struct ifm_check *out, struct ifm_error *error)
{
    struct decode_sums all = {.cosine = 1};
    const uint64_t rows = c->selection.pairs * c->selection.heads, values = rows * c->o->settings->head_dim;
    for (uint64_t i = 0; i < c->selection.pairs; i++) {
        const struct decode_sums *one = &c->sums[i];
        if (one->status != IFM_OK && error != NULL)
            *error = one->error;
        IFM_TRY(one->status);
        all.other |= one->other;
        all.loss2 += one->loss2;
        all.exact2 += one->exact2;
        all.cosine = fmin(all.cosine, one->cosine);
        all.kl += one->kl;
        all.tv += one->tv;
    }
    qsort(c->losses, values, sizeof *c->losses, ifm_by_f64);
    if (all.other) /* a token that the cache lost is missing as a whole */
        out->error_part = 1;
    out->has_loss = true;
    out->loss_rms_rel = over(sqrt(all.loss2), sqrt(all.exact2));
    out->loss_p99_rel = over(c->losses[(values - 1) * 99 / 100], sqrt(all.exact2 / (double)values));
    out->loss_cosine = all.cosine;
    out->loss_kl = isinf(all.kl) ? -1 : all.kl < 0 ? 0 : all.kl / (double)rows; /* rounding, where nothing is lost */
    out->loss_tv = all.tv / (double)rows;
    return IFM_OK;
}

static enum ifm_status compare_loss(const struct ifm_decode_outputs *o, struct ifm_check *out, struct ifm_error *error)
{
    struct decode_comparison c = {.o = o, .selection = select_rows(o)};
    const size_t values = c.selection.pairs * c.selection.heads * o->settings->head_dim;
    c.sums = calloc(c.selection.pairs, sizeof *c.sums);
    c.losses = malloc(values * sizeof *c.losses);
    enum ifm_status status = IFM_OK;
    if (c.sums == NULL || c.losses == NULL)
        status = ifm_fail(error, IFM_INTERNAL, "decode", NULL, "out of memory for the oracle");
    for (uint64_t i = 0; i < c.selection.pairs && status == IFM_OK; i++)
        c.sums[i].cosine = 1;
    if (status == IFM_OK) {
        o->device->ops->parallel(o->device, o->threads, compare_part, &c);
        status = add_up(&c, out, error);
    }
    free(c.sums);
    free(c.losses);
    return status;
}

enum ifm_status ifm_decode_compare(const struct ifm_decode_outputs *o, const char *code, struct ifm_check *out,
                                   struct ifm_error *error)
{
    const size_t outputs = o->settings->batch * o->settings->q_heads * o->settings->head_dim;
    *out = (struct ifm_check){0};
    IFM_TRY(ifm_decode_compare_kernel(o, out, error));
    IFM_TRY(compare_loss(o, out, error));
    ifm_data_checked(o->out, outputs * sizeof(float), ifm_data_finite(o->out, outputs), code, out);
    return IFM_OK;
}
