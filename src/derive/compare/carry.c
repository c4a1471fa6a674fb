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

/* ln(time behind another / time behind its own), with its half-width at SURELY. */
struct effect {
    double mean, half;
};

/* Of few pairs all slots behind another arm stand against the few behind their own, with one variance. */
static bool measure_few(const struct carry *c, struct effect *out)
{
    const double own = (double)c->own, other = (double)c->other;
    double t;
    if (c->own < FEWEST_OWN || c->other < FEWEST_PAIRS ||
        ifm_stats_t_quantile(0.5 + 0.5 * SURELY, own + other - 2, &t) != IFM_STAT_OK)
        return false;
    out->mean = c->mean[1] - c->mean[0];
    out->half = t * sqrt(c->squares / (own + other - 2) * (1 / own + 1 / other));
    return true;
}

static bool measure(const struct carry *c, struct effect *out)
{
    double t, n = (double)c->pairs.n;
    if (c->pairs.n < FEWEST_PAIRS)
        return measure_few(c, out);
    if (ifm_stats_t_quantile(0.5 + 0.5 * SURELY, n - 1, &t) != IFM_STAT_OK)
        return false;
    out->mean = c->pairs.mean;
    out->half = t * sqrt(c->pairs.squares / (n - 1) / n);
    return true;
}

/* What a comparison would lose of the arm's logarithm were each slot behind one of its own: by the share of slots that
 * are not, and at most, were all that count behind another arm and the effect at its far end. */
struct carried_part {
    double usual, most;
    const char *words;
};

static struct carried_part part_in(const struct ifm_arm_work *arm, bool disturbed_too)
{
    const struct carry c = carry_of(arm, disturbed_too);
    char other[48], own[48];
    struct effect effect;
    if (!measure(&c, &effect) || fabs(effect.mean) <= effect.half)
        return (struct carried_part){.words = ""};
    return (struct carried_part){
        .usual = effect.mean * (double)c.other / (double)(c.own + c.other),
        .most = effect.mean + copysign(effect.half, effect.mean),
        .words = ifm_arena_printf(arm->d->arena, "%s takes %s behind another arm and %s behind itself", arm->arm->name,
                                  ifm_format_human(1e-9 * c.other_ns / (double)c.other, "s", other),
                                  ifm_format_human(1e-9 * c.own_ns / (double)c.own, "s", own)),
    };
}

/* The larger of two: disturbed slots scatter and can hide it; without them it may be gone, as the same wait is a larger
 * share of a short slot, so that the short ones behind their own arm are left out and the long ones stand. */
static struct carried_part part_of(const struct ifm_arm_work *arm)
{
    const struct carried_part quiet = part_in(arm, false), all = part_in(arm, true);
    return fabs(all.usual) > fabs(quiet.usual) ? all : quiet;
}

struct ifm_carried ifm_derive_carried(const struct ifm_arm_work *arm)
{
    const struct carried_part own = part_of(arm), base = part_of(arm->work->baseline);
    const char *both = own.words[0] != '\0' && base.words[0] != '\0' ? ", " : "";
    return (struct ifm_carried){
        .usual = own.usual - base.usual,
        .most = {own.most, -base.most, own.most - base.most},
        .words = ifm_arena_printf(arm->d->arena, "%s%s%s", own.words, both, base.words),
    };
}

void ifm_derive_say_carried(const struct ifm_arm_work *arm, const struct ifm_carried *carried, bool changes_the_word)
{
    if (!changes_the_word && fabs(carried->usual) < WORTH_SAYING)
        return;
    ifm_derive_say_arm(
        arm, IFM_SEVERITY_WARNING, "rule-07",
        "the time depends on which arm ran before (%s), which moves the comparison by a factor of %.3g%s; "
        "--slot-steps 12 lets each arm run behind itself",
        carried->words, exp(carried->usual), changes_the_word ? ": undecided" : "");
}
