/* Does an arm's time depend on which arm ran before it?
 *
 * A block holds the arms in an order and its mirror image, so that some slots of an arm follow one of its own and
 * others one of another arm. Where what the other left behind (a warm file, an emptied cache) makes a difference, half
 * of it lies in the comparison, and the arms are charged or paid for one another. */
#include "derive/internal.h"

#include "stats/stats.h"
#include <math.h>

/* A dependence is taken for real at this level, from so many pairs on. */
static const double SURELY = 0.99;
enum { FEWEST_PAIRS = 4, FEWEST_OWN = 2 };
/* Said beside an undecided comparison too, where it moves that by so much. */
static const double WORTH_SAYING = 0.1;

/* Of the arm's slots those behind another arm against the nearest behind its own. */
struct carry {
    size_t own, other; /* slots behind its own and behind another arm's */
    double own_ns, other_ns;
    struct {
        size_t n;
        double mean, squares;
    } pairs;        /* of ln(time behind another / time behind its own) */
    double mean[2]; /* of ln(time) behind its own and behind another */
    double squares; /* about these, of both */
};

static double step_ns_of(const struct ifm_record *r, size_t k)
{
    double ns = 0;
    for (size_t i = r->first[k]; i < r->first[k + 1]; i++)
        ns += (double)r->samples[i].duration_ns;
    return ns / ((double)r->slots[k].samples * r->slots[k].inner);
}

static struct carry carry_of(const struct ifm_arm_work *arm, bool disturbed_too)
{
    const struct ifm_record *r = arm->work->record;
    const struct ifm_cause_columns columns = ifm_cause_columns_of((const char *const *)r->column_names, r->n_columns);
    struct carry c = {0};
    double lost;
    double last[2] = {0, 0}; /* the last slot behind its own and behind another that no pair has yet */
    for (size_t k = 1; k < r->n_slots; k++) {
        if (r->slots[k].arm != arm->index || r->slots[k].phase != IFM_PHASE_MEASURE ||
            r->slots[k - 1].phase != IFM_PHASE_MEASURE ||
            (!disturbed_too && ifm_slot_cause(&r->slots[k], &columns, &lost) != IFM_CAUSE_NONE))
            continue;
        const bool other = r->slots[k - 1].arm != arm->index;
        last[other] = step_ns_of(r, k);
        *(other ? &c.other : &c.own) += 1;
        *(other ? &c.other_ns : &c.own_ns) += last[other];
        const double off = log(last[other]) - c.mean[other];
        c.mean[other] += off / (double)(other ? c.other : c.own);
        c.squares += off * (log(last[other]) - c.mean[other]);
        if (last[0] <= 0 || last[1] <= 0)
            continue;
        const double log_ratio = log(last[1] / last[0]), delta = log_ratio - c.pairs.mean;
        c.pairs.mean += delta / (double)++c.pairs.n;
        c.pairs.squares += delta * (log_ratio - c.pairs.mean);
        last[0] = last[1] = 0;
    }
    return c;
}

/* Of few pairs, as blocks that the machine disturbed are run again in their order, all slots behind another arm stand
 * against the few behind their own, with one variance. */
static bool is_real_of_few(const struct carry *c, double *effect)
{
    const double own = (double)c->own, other = (double)c->other;
    double t;
    if (c->own < FEWEST_OWN || c->other < FEWEST_PAIRS ||
        ifm_stats_t_quantile(0.5 + 0.5 * SURELY, own + other - 2, &t) != IFM_STAT_OK)
        return false;
    *effect = c->mean[1] - c->mean[0];
    return fabs(*effect) > t * sqrt(c->squares / (own + other - 2) * (1 / own + 1 / other));
}

static bool is_real(const struct carry *c, double *effect)
{
    double t, n = (double)c->pairs.n;
    if (c->pairs.n < FEWEST_PAIRS)
        return is_real_of_few(c, effect);
    *effect = c->pairs.mean;
    return ifm_stats_t_quantile(0.5 + 0.5 * SURELY, n - 1, &t) == IFM_STAT_OK &&
           fabs(c->pairs.mean) > t * sqrt(c->pairs.squares / (n - 1) / n);
}

/* What the comparison would lose of its logarithm were each slot behind one of its own arm; with words. */
static double part_in(const struct ifm_arm_work *arm, bool disturbed_too, const char **words)
{
    const struct carry c = carry_of(arm, disturbed_too);
    char other[48], own[48];
    double effect = 0;
    *words = "";
    if (!is_real(&c, &effect))
        return 0;
    *words = ifm_arena_printf(arm->d->arena, "%s takes %s behind another arm and %s behind itself", arm->arm->name,
                              ifm_format_human(1e-9 * c.other_ns / (double)c.other, "s", other),
                              ifm_format_human(1e-9 * c.own_ns / (double)c.own, "s", own));
    return effect * (double)c.other / (double)(c.own + c.other);
}

/* The larger of two: disturbed slots scatter and can hide it; without them it may be gone, as the same wait is a larger
 * share of a short slot, so that the short ones behind their own arm are left out and the long ones stand. */
static double part_of(const struct ifm_arm_work *arm, const char **words)
{
    const char *all_words;
    const double quiet = part_in(arm, false, words), all = part_in(arm, true, &all_words);
    if (fabs(all) <= fabs(quiet))
        return quiet;
    *words = all_words;
    return all;
}

double ifm_derive_carried(const struct ifm_arm_work *arm, const char **words)
{
    const char *own, *base;
    const double carried = part_of(arm, &own) - part_of(arm->work->baseline, &base);
    *words = ifm_arena_printf(arm->d->arena, "%s%s%s", own, own[0] != '\0' && base[0] != '\0' ? ", " : "", base);
    return carried;
}

void ifm_derive_say_carried(const struct ifm_arm_work *arm, double carried, const char *words, bool changes_the_word)
{
    if (!changes_the_word && fabs(carried) < WORTH_SAYING)
        return;
    ifm_derive_say_arm(
        arm, IFM_SEVERITY_WARNING, "rule-07",
        "the time depends on which arm ran before (%s), which moves the comparison by a factor of %.3g%s; "
        "--slot-steps 12 lets each arm run behind itself",
        words, exp(carried), changes_the_word ? ": undecided" : "");
}
