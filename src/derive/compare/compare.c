/* Comparisons: each variant against the baseline of its cell, paired by block. */
#include "derive/internal.h"

#include "derive/compare/between.h"
#include "derive/compare/comparison.h"
#include "model/plan_json.h"
#include <math.h>
#include <string.h>

/* A sample beyond this many medians is called slow where a finding counts them. */
#define SLOW_FACTOR 1.5

/* Faster or slower when the interval lies wholly beyond the margin; equivalent when the narrower one of the two
 * one-sided tests lies wholly inside it; else undecided. */
const char *ifm_derive_word(const struct comparison *c, double margin)
{
    double edge = log1p(margin);
    if (c->change.high < -edge)
        return "faster";
    if (c->change.low > edge)
        return "slower";
    if (c->equal.low > -edge && c->equal.high < edge)
        return "equivalent";
    return "undecided";
}

bool ifm_derive_pair(const struct ifm_arm_work *arm, const bool *without, struct comparison *out)
{
    const struct ifm_cell_work *work = arm->work;
    *out = (struct comparison){.n = 0};
    bool paired = ifm_pair_mean(arm, work->baseline, without, &out->mean);
    out->n = out->mean.n;
    out->level = ifm_derive_compare_level(work);
    out->level_equal = 1.0 - 2.0 * (1.0 - out->level);
    out->level_looks = ifm_derive_level_over_looks(work, out->level, out->n);
    bool made =
        paired && ifm_log_mean_interval(&out->mean, out->level_looks, &out->change) &&
        ifm_log_mean_interval(&out->mean, ifm_derive_level_over_looks(work, out->level_equal, out->n), &out->equal);
    if (!made)
        return false;
    out->drift = ifm_derive_hold_drift(arm, work->baseline, without, out->level_looks, &out->change);
    (void)ifm_derive_hold_drift(arm, work->baseline, without,
                                ifm_derive_level_over_looks(work, out->level_equal, out->n), &out->equal);
    out->word = ifm_derive_word(out, work->cell->measure.margin);
    return true;
}

/* Too few blocks for an interval or a word: what they say without one. */
static void emit_few(const struct ifm_arm_work *arm, const struct comparison *c)
{
    struct ifm_value change = ifm_value_real(100.0 * expm1(c->mean.mean), (int64_t)c->n, "blocks");
    struct ifm_value speedup = ifm_value_real(exp(-c->mean.mean), (int64_t)c->n, "blocks");
    change.text = "undecided";
    speedup.text = ifm_arena_printf(arm->d->arena, "no interval: %s", ifm_needs_blocks(arm->d->arena, c->n));
    ifm_derive_emit(arm, IFM_M_CHANGE_PERCENT, change);
    ifm_derive_emit(arm, IFM_M_SPEEDUP, speedup);
}

static double caution_of(const struct comparison *c)
{
    return sqrt(c->mean.n_effective / c->mean.n_cautious);
}

static struct ifm_value change_value(const struct comparison *c, const char *word)
{
    struct ifm_value value = ifm_value_of_change(c->mean.mean, c->change, c->level, c->n, "blocks");
    value.text = word;
    value.caution = caution_of(c);
    return value;
}

static void say_drift(const struct ifm_arm_work *arm, const struct comparison *c)
{
    if (c->drift != 0.0)
        ifm_derive_say_arm(arm, IFM_SEVERITY_WARNING, "rule-07",
                           "the difference to the baseline itself drifts by %+.2f %% over the pass; its interval is "
                           "widened to hold both ends%s",
                           100.0 * expm1(c->drift),
                           strcmp(c->word, "undecided") == 0 ? ", which decide nothing together" : "")
            ->kind = IFM_FINDING_RATIO_DRIFTS;
}

/* The change of the medians: by block the ratio of the slots' medians, of these the median with the order statistics of
 * the sign test around it. A few slow steps move neither, and no shape of the noise is assumed. */
static struct ifm_value median_value(const struct ifm_arm_work *arm, const bool *without, const struct comparison *c)
{
    const struct ifm_cell_work *work = arm->work;
    struct ifm_arena *scratch = ifm_arena_create();
    double *logs = IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1);
    double *room = IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1), middle = 0.0;
    size_t n = ifm_pair_medians(arm, work->baseline, without, logs), needs = 0;
    struct ifm_interval interval;
    ifm_stats_sort(logs, room, n);
    struct ifm_value value = ifm_value_absent("there are no blocks", "", 0, "blocks");
    if (ifm_stats_quantile_sorted(logs, n, 0.5, &middle) == IFM_STAT_OK)
        value = ifm_value_real(100.0 * expm1(middle), (int64_t)n, "blocks");
    if (ifm_stats_quantile_interval(logs, n, (size_t)c->mean.n_effective, 0.5, c->level, &interval, &needs) ==
        IFM_STAT_OK)
        ifm_value_bracket(&value, 100.0 * expm1(interval.low), 100.0 * expm1(interval.high), c->level);
    else
        value.text = ifm_arena_printf(arm->d->arena, "needs %zu independent blocks, has %zu", needs,
                                      (size_t)c->mean.n_effective);
    ifm_arena_destroy(scratch);
    return value;
}

/* A number of this cell that was derived already: they are the last of the list. */
static const struct ifm_value *made_before(const struct ifm_arm_work *arm, enum ifm_metric_id metric)
{
    const struct ifm_derived *out = arm->d->out;
    for (size_t i = out->n_numbers; i-- > 0 && out->numbers[i].cell == arm->work->cell->name;)
        if (out->numbers[i].arm == arm->arm->name && out->numbers[i].metric == metric)
            return &out->numbers[i].value;
    return NULL;
}

/* The change of a percentile of the samples, where both arms have an interval of it: those of two arms are independent.
 */
static struct ifm_value percentile_value(const struct ifm_arm_work *arm, const struct comparison *c,
                                         enum ifm_metric_id metric)
{
    const struct ifm_value *own = made_before(arm, metric), *base = made_before(arm->work->baseline, metric);
    struct ifm_log_estimate one, other, change;
    double t;
    if (own == NULL || base == NULL || !ifm_log_estimate_of(own, &one) || !ifm_log_estimate_of(base, &other))
        return ifm_value_absent("one of the two 95th percentiles has no interval", "measure more samples", 0,
                                "samples");
    change = ifm_log_difference(&one, &other);
    if (ifm_stats_t_quantile(0.5 + 0.5 * c->level, change.df, &t) != IFM_STAT_OK)
        return ifm_value_no_stat(IFM_STAT_TOO_FEW, own->n, own->n_of);
    struct ifm_interval interval = {change.mean - t * change.se, change.mean + t * change.se};
    return ifm_value_of_change(change.mean, interval, c->level, (size_t)(own->n < base->n ? own->n : base->n),
                               own->n_of);
}

/* Does the change lie wholly on the other side of zero than `mean`, by more than `edge` percent? What has no interval
 * must lie beyond the margin itself. */
static bool contradicts(const struct ifm_value *change, double mean, double edge, double margin)
{
    if (change->state != IFM_STATE_OK)
        return false;
    double low = change->has_interval ? change->low : change->number - margin;
    double high = change->has_interval ? change->high : change->number + margin;
    return mean > 0 ? high < -edge : mean < 0 && low > edge;
}

/* "6 of 60 samples take over 1.5x the median", of the arm whose mean lies further above its median. */
static const char *slow_samples(const struct ifm_arm_work *arm, bool of_arm)
{
    const struct ifm_arm_work *slow = of_arm ? arm : arm->work->baseline;
    const struct ifm_value *median = made_before(slow, IFM_M_LATENCY_NS_P50);
    size_t above = 0;
    const struct ifm_slot *slot;
    for (size_t k = 0; ifm_is_ok(median) && (slot = ifm_next_slot(slow, &k)) != NULL; k++)
        for (size_t i = slow->work->record->first[k]; i < slow->work->record->first[k + 1]; i++)
            above +=
                (double)slow->work->record->samples[i].duration_ns > SLOW_FACTOR * median->number * (double)slot->inner;
    if (above == 0)
        return "";
    return ifm_arena_printf(arm->d->arena, ": %zu of %zu samples of %s take over %.3gx the median", above,
                            slow->n_samples, slow->arm->name, SLOW_FACTOR);
}

/* Which blocks a median and an average are of, beside a table whose times are of all: "" where they are of all too.
 * Percentiles of single runs are of all. */
static const char *blocks_of_average(const struct ifm_arm_work *arm, const struct ifm_aside *aside,
                                     const struct comparison *c, bool of_blocks)
{
    struct comparison all;
    if (aside->blocks == NULL || !ifm_derive_pair(arm, NULL, &all))
        return "";
    return ifm_arena_printf(arm->d->arena, "%s of %zu undisturbed blocks (%+.3g %% on average of all %zu)",
                            of_blocks ? ";" : ", the latter", c->n, 100.0 * expm1(all.mean.mean), all.n);
}

/* What is paid decides, and what is typical must not say the opposite. */
static const char *word_of_typical(const struct ifm_arm_work *arm, const struct ifm_aside *aside,
                                   const struct comparison *c, const char *word, const struct ifm_value *median,
                                   const struct ifm_value *p95)
{
    double mean = c->mean.mean, margin = 100.0 * arm->work->cell->measure.margin;
    bool inside = 100.0 * fabs(expm1(mean)) <= margin; /* then a change inside the margin contradicts nothing */
    struct ifm_value typical = percentile_value(arm, c, IFM_M_LATENCY_NS_P50);
    const double edge = inside ? margin : 0.0;
    const struct ifm_value *other = contradicts(median, mean, edge, margin)                             ? median
                                    : typical.has_interval && contradicts(&typical, mean, edge, margin) ? &typical
                                    : contradicts(p95, mean, edge, margin)                              ? p95
                                                                                                        : NULL;
    if (other == NULL)
        return word;
    bool faster = other->number < 0;
    struct ifm_finding *said =
        ifm_derive_say_arm(arm, IFM_SEVERITY_WARNING, "rule-07",
                           "%s %s (%+.3g %%), %s on average (%+.3g %%)%s%s: undecided, as what is typical and what "
                           "is paid disagree",
                           faster ? "faster" : "slower",
                           other == p95      ? "at the 95th percentile"
                           : other == median ? "in the median block"
                                             : "at the median",
                           other->number, faster ? "slower" : "faster", 100.0 * expm1(mean),
                           blocks_of_average(arm, aside, c, other == median), slow_samples(arm, faster));
    said->kind = IFM_FINDING_TYPICAL;
    said->takes_word = true;
    return "undecided";
}

/* How far the arm's interval of step_ns lies below the baseline's, as a share of its own upper end. */
static struct ifm_value gap_value(const struct ifm_arm_work *arm)
{
    struct ifm_value own = ifm_derive_step_value(arm, NULL), base = ifm_derive_step_value(arm->work->baseline, NULL);
    if (own.state != IFM_STATE_OK || base.state != IFM_STATE_OK || !own.has_interval || !base.has_interval)
        return ifm_value_absent("one of the two step times has no interval", "", (int64_t)arm->n_blocks, "blocks");
    return ifm_value_real(100.0 * (base.low / own.high - 1.0), own.n < base.n ? own.n : base.n, "blocks");
}

/* A speed-up beyond what the arms differ in by design is told, and shown only beside how weak the baseline is. */
static struct ifm_value speedup_value(const struct ifm_arm_work *arm, const struct comparison *c)
{
    struct ifm_value value = ifm_value_real(exp(-c->mean.mean), (int64_t)c->n, "blocks");
    double ratio;
    ifm_value_bracket(&value, exp(-c->change.high), exp(-c->change.low), c->level);
    value.caution = caution_of(c);
    if (!ifm_derive_hold_speedup(arm, arm->work->baseline, &value, &ratio))
        return value;
    ifm_derive_say_arm(
        arm, IFM_SEVERITY_NOTE, "rule-03",
        "the speed-up is beyond the byte and FLOP ratio %.3g of the two arms (%s): it is not the gain of "
        "moving or computing less",
        ratio,
        ifm_is_ok(&value)                                 ? value.text
        : arm->work->baseline->rates_refused.rule != NULL ? "the baseline's own rates are refused"
                                                          : "no ceiling was measured");
    return value;
}

/* All numbers of a comparison; `from` 2 leaves the change and the speed-up out. */
static void emit_absent(const struct ifm_arm_work *arm, struct ifm_value value, size_t from)
{
    static const enum ifm_metric_id made[] = {IFM_M_CHANGE_PERCENT,     IFM_M_SPEEDUP,
                                              IFM_M_MDE_PERCENT,        IFM_M_CHANGE_PERCENT_MEDIAN,
                                              IFM_M_CHANGE_PERCENT_P95, IFM_M_INTERVALS_GAP_PERCENT,
                                              IFM_M_CLIFFS_DELTA,       IFM_M_HEDGES_G,
                                              IFM_M_SIGN_FLIP_P};
    for (size_t i = from; i < sizeof made / sizeof made[0]; i++)
        ifm_derive_emit(arm, made[i], value);
}

/* Rule 2: the decision must stand without the blocks that the machine disturbed, and be no firmer for there being more
 * of them. */
static const char *word_without_marked(const struct ifm_arm_work *arm, const struct comparison *all, bool taken)
{
    const struct ifm_cell_work *work = arm->work;
    if (work->n_marked == 0)
        return all->word;
    struct comparison rest;
    bool made = ifm_derive_pair(arm, work->marked, &rest);
    ifm_derive_emit(arm, IFM_M_CHANGE_PERCENT_WITHOUT_MARKED,
                    made ? change_value(&rest, rest.word)
                         : ifm_value_absent(ifm_needs_blocks(arm->d->arena, rest.n), "", (int64_t)rest.n, "blocks"));
    if (taken || strcmp(all->word, "undecided") == 0 ||
        ifm_derive_marked_stand(arm, NULL, &all->change, &all->equal, log1p(work->cell->measure.margin)))
        return all->word;
    const char *why =
        rest.n < IFM_BLOCKS_NEEDED
            ? ifm_arena_printf(arm->d->arena, "%s over all %zu blocks, but too few are undisturbed (%zu)", all->word,
                               all->n, rest.n)
            : ifm_arena_printf(arm->d->arena, "%s only if the %zu block%s of %zu that the machine disturbed count%s",
                               all->word, work->n_marked, work->n_marked == 1 ? "" : "s", work->n_measured,
                               work->n_marked == 1 ? "s" : "");
    ifm_derive_say_arm(arm, IFM_SEVERITY_WARNING, "rule-02", "%s: undecided", why)->takes_word = true;
    return "undecided";
}

/* The word of the undisturbed blocks. Blocks that are not set aside count as no evidence for it, as above; and what was
 * paid over all blocks must not surely say another, so that no tail is hidden with them. A word that was taken before
 * (`taken`) is not said. */
static const char *word_beside_disturbed(const struct ifm_arm_work *arm, const struct ifm_aside *aside,
                                         const struct comparison *rest, bool taken)
{
    struct comparison all;
    ifm_derive_say_disturbed(arm, aside);
    if (aside->blocks == NULL)
        return word_without_marked(arm, rest, taken);
    bool made = ifm_derive_pair(arm, NULL, &all);
    if (made)
        ifm_derive_emit(arm, IFM_M_CHANGE_PERCENT_ALL_BLOCKS, change_value(&all, all.word));
    if (strcmp(rest->word, "undecided") == 0)
        return rest->word;
    if (!taken && !ifm_derive_marked_stand(arm, aside->blocks, &rest->change, &rest->equal,
                                           log1p(arm->work->cell->measure.margin))) {
        ifm_derive_say_arm(arm, IFM_SEVERITY_WARNING, "rule-02",
                           "%s only if the blocks count that were disturbed by what the run itself saw (a clock that "
                           "skipped, a thread moved): undecided%s",
                           rest->word, ifm_derive_stray_remedy(arm))
            ->takes_word = true;
        return "undecided";
    }
    const bool opposite = made && strcmp(rest->word, "equivalent") != 0 && all.mean.mean * rest->mean.mean < 0;
    if (!opposite && (!made || strcmp(all.word, "undecided") == 0 || strcmp(all.word, rest->word) == 0))
        return rest->word;
    const char *found = ifm_arena_printf(arm->d->arena, "%+.3g %%", 100.0 * expm1(rest->mean.mean));
    ifm_derive_say_arm(arm, IFM_SEVERITY_WARNING, "rule-02",
                       "%s over the %zu undisturbed blocks, and %s over all %zu (%+.3g %%): undecided",
                       taken ? found : rest->word, rest->n, all.word, all.n, 100.0 * expm1(all.mean.mean))
        ->takes_word = true;
    return "undecided";
}

/* The amount of work that two arms disagree on, as words; NULL when they deliver the same. */
static const char *other_amount(struct ifm_derivation *d, const struct ifm_arm *arm, const struct ifm_arm *base)
{
    const struct ifm_ledger *a = &arm->ledger, *b = &base->ledger;
    const struct {
        uint64_t own, base;
        const char *what;
    } amounts[] = {{a->tokens_generated, b->tokens_generated, "generated tokens"},
                   {a->tokens_prompt, b->tokens_prompt, "prompt tokens"},
                   {a->rows, b->rows, "rows"}};
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++)
        if (amounts[i].own != amounts[i].base)
            return ifm_arena_printf(d->arena,
                                    "a step of %s does %llu %s and one of the baseline %llu: a ratio of their times "
                                    "compares no speeds",
                                    arm->name, (unsigned long long)amounts[i].own, amounts[i].what,
                                    (unsigned long long)amounts[i].base);
    return NULL;
}

/* Rule 12: what is compared must have done the same work. Another amount of it is refused; the same amount by another
 * computation, whose outputs nothing holds to be equal, is said. A lossy arm has its error beside it (rule 10). */
static bool did_the_same(const struct ifm_arm_work *arm)
{
    struct ifm_cell_work *work = arm->work;
    const struct ifm_arm *own = arm->arm, *base = work->baseline->arm;
    const char *amount = other_amount(arm->d, own, base);
    if (amount != NULL) {
        struct ifm_value refused = ifm_value_refused(arm->d->arena, "rule-12", amount);
        refused.remedy = "compare their rates, or give both arms the same shape";
        emit_absent(arm, refused, 0);
        ifm_derive_say_arm(arm, IFM_SEVERITY_WARNING, "rule-12", "%s", amount);
        return false;
    }
    if (!own->lossy && memcmp(&own->ledger, &base->ledger, sizeof own->ledger) != 0)
        ifm_derive_say_arm(arm, IFM_SEVERITY_NOTE, "rule-12",
                           "the arm and its baseline compute different things (their bytes or operations differ, and "
                           "no output is held to be equal): two workloads are compared, not two implementations");
    return true;
}

static bool stands_with(struct comparison *c, double margin, struct allowance a, const char *word)
{
    ifm_widen(c, a);
    return strcmp(word, "undecided") != 0 && strcmp(ifm_derive_word(c, margin), word) == 0;
}

/* The same for what is typical and for the tail: gates are held against these too. */
static void widen_percent(struct ifm_value *change, struct allowance a)
{
    if (change->has_interval)
        ifm_value_bracket(change, 100.0 * expm1(log1p(change->low / 100.0) - a.high),
                          100.0 * expm1(log1p(change->high / 100.0) - a.low), change->level);
}

/* An arm that now and then waits, or is slowed, by what it does itself has more such blocks than the other, before they
 * are so many that they are certainly its own: then the interval holds what all blocks say too. */
bool ifm_derive_paid(const struct ifm_arm_work *arm, const struct ifm_aside *aside, struct comparison *all,
                     struct ifm_interval *paid)
{
    return aside->blocks != NULL && aside->lopsided && ifm_derive_pair(arm, NULL, all) &&
           ifm_log_mean_interval(&all->mean, IFM_BESIDE_LEVEL, paid);
}

static void say_lopsided(const struct ifm_arm_work *arm, const struct ifm_aside *aside, const struct comparison *all,
                         const struct ifm_interval *paid, bool takes)
{
    const char *what = takes ? ifm_arena_printf(arm->d->arena,
                                                ", and over all %zu blocks the change lies between %+.3g and %+.3g %%: "
                                                "undecided",
                                                all->n, 100.0 * expm1(paid->low), 100.0 * expm1(paid->high))
                             : ifm_arena_printf(arm->d->arena, ": the interval holds what all %zu blocks say", all->n);
    struct ifm_finding *said =
        ifm_derive_say_arm(arm, takes ? IFM_SEVERITY_WARNING : IFM_SEVERITY_NOTE, "rule-02",
                           "%zu of %zu disturbed blocks are those of %s alone, maybe its own doing%s", aside->alone,
                           aside->disturbed, aside->most->arm->name, what);
    said->kind = IFM_FINDING_LOPSIDED;
    said->takes_word = takes;
}

static struct allowance allow_for_lopsided(const struct ifm_arm_work *arm, const struct ifm_aside *aside,
                                           struct comparison *c, const char **word)
{
    struct comparison all;
    struct ifm_interval paid;
    if (!ifm_derive_paid(arm, aside, &all, &paid))
        return (struct allowance){0, 0};
    const struct allowance a = ifm_to_hold(c->change, paid);
    const bool undecided = strcmp(*word, "undecided") == 0,
               stands = stands_with(c, arm->work->cell->measure.margin, a, *word);
    if ((!stands && !undecided) || a.low < 0 || a.high > 0)
        say_lopsided(arm, aside, &all, &paid, !stands && !undecided);
    *word = stands ? *word : "undecided";
    return a;
}

/* What is left behind and not found lies in the comparison all the same: it holds what each arm takes behind itself. */
static struct allowance allow_for_alone(const struct ifm_arm_work *arm, const struct ifm_aside *aside,
                                        struct comparison *c, const char **word)
{
    struct ifm_interval alone;
    if (!ifm_derive_alone(arm, arm->work->baseline, aside->blocks, &alone))
        return (struct allowance){0, 0};
    const struct allowance a = ifm_to_hold(c->change, alone);
    const bool undecided = strcmp(*word, "undecided") == 0,
               stands = stands_with(c, arm->work->cell->measure.margin, a, *word);
    /* Under load longer slots are disturbed as these were: its remedy comes first. */
    if (!stands && !undecided && !ifm_derive_lacks_undisturbed(aside))
        ifm_derive_say_arm(arm, IFM_SEVERITY_WARNING, "rule-07",
                           "in slots right after one of the same arm the change is %+.3g to %+.3g %%: the order of "
                           "arms may matter, and "
                           "the interval holds both: undecided%s",
                           100.0 * expm1(alone.low), 100.0 * expm1(alone.high),
                           ifm_derive_hides_order(arm)
                               ? ""
                               : ifm_arena_printf(arm->d->arena, IFM_REMEDY "%s, so that the order matters less",
                                                  ifm_derive_more_slots(arm->work)))
            ->takes_word = true;
    *word = stands ? *word : "undecided";
    return a;
}

/* What one arm left behind for the other is known to be there, and not how much of it lies in the blocks that count,
 * as those that the machine disturbed are not a fair choice of all. So the interval holds the change with it and
 * without; the word is that of this interval, and gates are held against it. */
static struct allowance allow_for_carried(const struct ifm_arm_work *arm, const struct ifm_aside *aside,
                                          struct comparison *c, const char **word)
{
    const struct ifm_carried carried = ifm_derive_carried(arm);
    const struct allowance a = {carried.low, carried.high};
    const bool undecided = strcmp(*word, "undecided") == 0,
               stands = stands_with(c, arm->work->cell->measure.margin, a, *word);
    c->carried = ifm_derive_is_carried(&carried) || (carried.words[0] != '\0' && !stands && !undecided);
    c->hidden = carried.hidden;
    ifm_derive_say_carried(arm, &carried, !stands && !undecided, ifm_derive_lacks_undisturbed(aside));
    *word = stands ? *word : "undecided";
    return a;
}

/* Rule 8. At the baseline's clock the arm would take between as long as here, if memory limits it, and as many cycles,
 * if its clock does. A word that stands whichever it is holds, with the interval that holds both; another is disputed,
 * and the interval is left as it is: triage asks what of it the clock explains. */
static struct allowance allow_for_clocks(const struct ifm_arm_work *arm, struct comparison *c, const char **word)
{
    const struct ifm_clocks clocks = ifm_derive_clocks(arm);
    const struct allowance a = {fmin(-clocks.apart, 0), fmax(-clocks.apart, 0)};
    struct comparison at_one_clock = *c;
    if (clocks.apart == 0)
        return a;
    const bool stands = stands_with(&at_one_clock, arm->work->cell->measure.margin, a, *word);
    ifm_derive_say_clocks(arm, &clocks, stands);
    *word = stands ? *word : "undecided";
    if (!stands)
        return (struct allowance){0, 0};
    *c = at_one_clock;
    return a;
}

/* All that may lie in the comparison and is no difference of the arms, one after the other; the word that stands. */
static const char *allow(const struct ifm_arm_work *arm, const struct ifm_aside *aside, struct comparison *c,
                         const char *word, struct ifm_value *median, struct ifm_value *p95)
{
    struct allowance parts[4];
    parts[0] = allow_for_lopsided(arm, aside, c, &word);
    parts[1] = allow_for_alone(arm, aside, c, &word);
    parts[2] = allow_for_carried(arm, aside, c, &word);
    parts[3] = allow_for_clocks(arm, c, &word);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        widen_percent(median, parts[i]);
        widen_percent(p95, parts[i]);
    }
    return word;
}

/* The word, and the intervals that it is given with. Allowances come first: no finding may say "faster over all blocks"
 * beside an interval that they widened past 1x. A word that they take is taken; the others ask whether one that they
 * leave stands, of the intervals as they were measured. */
static const char *decide_it(const struct ifm_arm_work *arm, const struct ifm_aside *aside, struct comparison *c,
                             struct ifm_value *median, struct ifm_value *p95)
{
    const struct comparison measured = *c;
    const struct ifm_value typical = *median, tail = *p95;
    const size_t first = arm->d->out->n_findings;
    const char *word = allow(arm, aside, c, measured.word, median, p95);
    const bool taken = strcmp(word, measured.word) != 0;
    if (taken)
        ifm_derive_leave_to_intervals(arm, aside->blocks, &measured.change, &measured.equal, first);
    word = word_beside_disturbed(arm, aside, &measured, taken);
    word = word_of_typical(arm, aside, &measured, word, &typical, &tail);
    return taken ? "undecided" : word;
}

void ifm_derive_comparison(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    if (!ifm_derive_is_compared(arm))
        return;
    ifm_derive_bytes_ratio(arm);
    const char *broken = work->record == NULL  ? work->missing
                         : arm->broken != NULL ? arm->broken
                                               : work->baseline->broken;
    if (work->record == NULL || broken != NULL) {
        const char *remedy = work->record != NULL && arm->broken != NULL ? arm->remedy : work->remedy;
        emit_absent(arm, ifm_value_absent(broken, remedy, 0, "blocks"), 0);
        ifm_derive_counter_changes(arm);
        return;
    }
    if (!did_the_same(arm))
        return;
    struct comparison c;
    struct ifm_aside aside = ifm_derive_set_aside(arm);
    if (!ifm_derive_pair(arm, aside.blocks, &c)) {
        bool few = c.n > 0 && c.n < IFM_BLOCKS_NEEDED;
        const struct ifm_event_cell_failed *failed = ifm_derive_failure(work);
        if (few)
            emit_few(arm, &c);
        emit_absent(arm,
                    failed != NULL ? ifm_value_absent(failed->reason, failed->remedy, (int64_t)c.n, "blocks")
                                   : ifm_value_absent(ifm_needs_blocks(arm->d->arena, c.n),
                                                      ifm_derive_more(work, "blocks"), (int64_t)c.n, "blocks"),
                    few ? 2 : 0);
        ifm_derive_counter_changes(arm);
        return;
    }
    say_drift(arm, &c);
    struct ifm_value median = median_value(arm, aside.blocks, &c),
                     p95 = percentile_value(arm, &c, IFM_M_LATENCY_NS_P95);
    const char *word = decide_it(arm, &aside, &c, &median, &p95);
    ifm_derive_emit(arm, IFM_M_CHANGE_PERCENT, change_value(&c, word));
    ifm_derive_emit(arm, IFM_M_SPEEDUP, speedup_value(arm, &c));
    ifm_derive_emit(arm, IFM_M_MDE_PERCENT, ifm_derive_mde(&c, work->cell->measure.margin));
    if (strcmp(c.word, "undecided") == 0)
        ifm_derive_emit(arm, IFM_M_BLOCKS_NEEDED, ifm_derive_blocks_needed(work, &c, &aside));
    ifm_derive_emit(arm, IFM_M_CHANGE_PERCENT_MEDIAN, median);
    ifm_derive_emit(arm, IFM_M_CHANGE_PERCENT_P95, p95);
    ifm_derive_emit(arm, IFM_M_INTERVALS_GAP_PERCENT, gap_value(arm));
    ifm_derive_effects(arm, aside.blocks);
    ifm_derive_counter_changes(arm);
    ifm_derive_companions(arm);
}

void ifm_derive_say_family(const struct ifm_cell_work *work)
{
    size_t m = ifm_derive_count_compared(work);
    if (m > 1 && work->record != NULL)
        ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "",
                            "%zu arms are compared with %s: each interval of a change is one of %.4g %%, so that all "
                            "of them hold at once with %.0f %% (Bonferroni)",
                            m, work->baseline->arm->name, 100.0 * ifm_derive_compare_level(work), 100.0 * IFM_LEVEL);
}
