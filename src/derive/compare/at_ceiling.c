/* What a weak baseline leaves of a speed-up: the compressed arm as it was, beside a baseline that takes the time that
 * its ceiling alone would take (rule 3). Only the baseline is idealised: it is the worst case for the arm. Where the
 * ceiling moved while the arms ran, or where other work had the machine, there is no such number; a word may remain. */
#include "derive/internal.h"

#include "base/text.h"
#include "model/machine_facts.h"
#include "model/plan_json.h"
#include <math.h>

/* The ceiling that the baseline was nearest to. */
struct nearest {
    enum ifm_ceiling kind;
    double share, bar; /* of the ceiling; below `bar` the baseline is weak */
    double high;       /* the most that the share may be, of a ceiling that held still */
    double amount;     /* of a step */
    bool known;        /* is the range? */
    struct ifm_roof_range range;
};

/* What bytes can explain they explain against a baseline that memory limits and that uses what memory gives. One that
 * operations limit is another comparison; one that neither limits is a weak baseline, whichever share is the larger. */
static bool find_nearest(const struct ifm_cell_work *work, struct nearest *out)
{
    const struct ifm_arm_work *base = work->baseline;
    const enum ifm_ceiling operations = ifm_roof_of_operations(base);
    struct ifm_log_mean read, flops;
    if (!ifm_roof_share(base, IFM_CEILING_READ, &read))
        return false;
    const bool by_flops = ifm_roof_share(base, operations, &flops) && flops.mean > read.mean;
    *out = (struct nearest){.kind = by_flops ? operations : IFM_CEILING_READ,
                            .share = exp(by_flops ? flops.mean : read.mean),
                            .bar = by_flops ? IFM_LIMITED_BY_OPERATIONS : IFM_BASELINE_AT_LEAST};
    out->high = ifm_roof_share_high(base, out->kind);
    out->amount = ifm_ceiling_amount(base->arm, out->kind);
    out->known = ifm_roof_range(work, out->kind, out->amount, &out->range);
    return true;
}

static bool is_steady(const struct nearest *near)
{
    return near->known && near->range.moved <= IFM_ROOF_STEADY;
}

enum { DIGITS = 4 }; /* behind the point, at most */

/* "29"; "5.2" of what more digits show to be above 5. */
static const char *percent_above(double share, double bar, struct ifm_arena *arena)
{
    int digits = 0;
    while (digits < DIGITS && round(100.0 * share * pow(10, digits)) <= 100.0 * bar * pow(10, digits))
        digits++;
    return ifm_arena_printf(arena, "%.*f", digits, 100.0 * share);
}

/* What a share of the ceiling is between. */
struct ends {
    char low[48], high[48]; /* the 10th percentile of the run; the most that was seen, which may lie above the 90th */
};

static struct ends ends_of(const struct ifm_cell_work *work, const struct nearest *near)
{
    const char *unit = ifm_metrics[ifm_ceiling_metrics[near->kind]].unit;
    struct ends out;
    ifm_format_human(1e9 * near->range.low, unit, out.low);
    ifm_format_human(1e9 * exp(work->roofs[near->kind].log_rate), unit, out.high);
    return out;
}

static const char *remedy_of(const struct nearest *near)
{
    return !near->known                     ? "measure longer"
           : near->kind == IFM_CEILING_READ ? "another hour or machine, where the memory keeps its speed"
                                            : "another hour or machine, which keeps its speed";
}

/* "the read ceiling moved by 29 % within the run (71.2 GB/s to 91.8 GB/s, 10th to 90th percentile; taken as 96 GB/s),
 * more than 5 %". */
static const char *why_not(const struct ifm_cell_work *work, const struct nearest *near)
{
    struct ifm_arena *arena = work->d->arena;
    const char *name = ifm_ceiling_name(near->kind);
    if (!near->known)
        return ifm_arena_printf(arena, "one round of probes cannot tell how far the %s ceiling moves", name);
    const struct ends ends = ends_of(work, near);
    char high[48];
    return ifm_arena_printf(
        arena,
        "the %s ceiling moved by %s %% within the run (%s to %s, 10th to 90th percentile; taken as "
        "%s), more than %.0f %%: another run would give another bound",
        name, percent_above(near->range.moved, IFM_ROOF_STEADY, arena), ends.low,
        ifm_format_human(1e9 * near->range.high, ifm_metrics[ifm_ceiling_metrics[near->kind]].unit, high), ends.high,
        100.0 * IFM_ROOF_STEADY);
}

/* Beside other programs the arm takes longer than it would and the ceiling is lower than it is: the one would call an
 * arm slower that is not, the other leave it what it has not. NULL = the machine was the lab's. */
static const struct ifm_value *taken_by_others(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    const struct ifm_events *events = work->d->facts->events;
    const struct ifm_aside aside = ifm_derive_set_aside(arm);
    const char *why = NULL;
    if (ifm_derive_lacks_undisturbed(&aside))
        why =
            ifm_arena_printf(work->d->arena, "the machine disturbed %zu of %zu blocks", aside.n, aside.n + aside.left);
    else if (strcmp(work->d->plan->device, "cuda") != 0 && ifm_was_loaded(events))
        why = "other programs lowered the ceiling";
    if (why == NULL)
        return NULL;
    struct ifm_value *absent = ifm_arena_alloc(work->d->arena, sizeof *absent);
    *absent = ifm_value_absent(ifm_arena_printf(work->d->arena, "%s, so what it leaves is unknown", why),
                               ifm_quiet_remedy(events, work->cell->workload, work->cell->threads, work->d->arena),
                               (int64_t)aside.left, "blocks");
    return absent;
}

/* No number, but a word, where the arm is ahead of the baseline even at a ceiling as far above the most seen as that is
 * above its 10th percentile. */
static struct ifm_value left_unsteady(const struct ifm_cell_work *work, const struct nearest *near,
                                      const struct ifm_value *step)
{
    struct ifm_value value =
        ifm_value_absent(why_not(work, near), remedy_of(near), (int64_t)near->range.rounds, "rounds");
    const double most = fmax(exp(work->roofs[near->kind].log_rate), near->range.high);
    if (near->known && step->has_interval &&
        near->amount / (most * most / near->range.low) > step->high * (1 + work->cell->measure.margin))
        value.text = "faster";
    return value;
}

/* At the fastest that was seen of the ceiling; its interval holds the ceiling's range and the arm's interval at the
 * level of the cell's comparisons, as it decides a word beside theirs. */
static struct ifm_value left_of(const struct ifm_arm_work *arm, const struct nearest *near)
{
    const struct ifm_cell_work *work = arm->work;
    const double level = ifm_derive_compare_level(work);
    const struct ifm_value step =
        ifm_derive_step_at(arm, NULL, ifm_derive_level_over_looks(work, level, arm->n_blocks));
    const struct ifm_value *taken = taken_by_others(arm);
    if (taken != NULL)
        return *taken;
    if (!is_steady(near))
        return left_unsteady(work, near, &step);
    const double most = exp(work->roofs[near->kind].log_rate);
    struct ifm_value value = ifm_value_real(near->amount / most / step.number, step.n, step.n_of);
    value.text = ifm_ceiling_name(near->kind);
    if (step.has_interval)
        ifm_value_bracket(&value, near->amount / fmax(most, near->range.high) / step.high,
                          near->amount / fmin(most, near->range.low) / step.low, level);
    return value;
}

static bool is_left(const struct ifm_arm_work *arm)
{
    return ifm_derive_is_compressed(arm) && !ifm_derive_is_withheld(arm) &&
           ifm_derive_step_value(arm, NULL).state == IFM_STATE_OK &&
           ifm_is_ok(ifm_derived_value(arm->d->out, arm->work->cell->name, arm->arm->name, IFM_M_SPEEDUP));
}

/* Is a number as shown on its own side of 1? */
static bool shows_side(double number, double unit)
{
    return (number > 1) == (round(number * unit) > unit) && (number < 1) == (round(number * unit) < unit);
}

/* Digits behind the point that show on which side of 1 the ends lie. */
static int digits_of(const struct ifm_value *left)
{
    int digits = 2;
    while (digits < DIGITS && !(shows_side(left->low, pow(10, digits)) && shows_side(left->high, pow(10, digits))))
        digits++;
    return digits;
}

/* As the words of comparisons: by the margin. */
static const char *word_of(const struct ifm_cell_work *work, const struct ifm_value *left)
{
    const double margin = 1 + work->cell->measure.margin;
    return left->low > margin ? "" : left->high < 1 / margin ? " (slower)" : " (not shown to be faster)";
}

/* "int8 0.92x [0.89, 0.95] (slower), int4 1.27x [1.25, 1.30]"; NULL = no arm has a bound. */
static const char *bounds(const struct ifm_cell_work *work)
{
    const char *said = NULL;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const char *name = work->arms[a].arm->name;
        const struct ifm_value *left =
            ifm_derived_value(work->d->out, work->cell->name, name, IFM_M_SPEEDUP_AT_CEILING);
        if (!ifm_is_ok(left) || !left->has_interval)
            continue;
        const int digits = digits_of(left);
        said = ifm_arena_printf(work->d->arena, "%s%s%s %.*fx [%.*f, %.*f]%s", said == NULL ? "" : said,
                                said == NULL ? "" : ", ", name, digits, left->number, digits, left->low, digits,
                                left->high, word_of(work, left));
    }
    return said;
}

/* The most that was seen of the ceiling over what there was of it when it was lowest; 1 where it held still. */
static double lowered(const struct ifm_cell_work *work, const struct nearest *near)
{
    return near->known && !is_steady(near) ? exp(work->roofs[near->kind].log_rate) / near->range.low : 1;
}

/* Is the baseline below the bar for all that its interval and the ceiling's movement leave room for? */
static bool is_surely_weak(const struct ifm_cell_work *work, const struct nearest *near)
{
    return near->high * lowered(work, near) < near->bar;
}

#define IFM_WHETHER_WEAK "whether the baseline %s is weak cannot be told: "

/* The share alone looks weak, and its blocks do not show it: they hold other work's time, or vary too much. */
static void say_open(const struct ifm_cell_work *work, const struct nearest *near)
{
    struct ifm_arena *arena = work->d->arena;
    const struct ifm_aside aside = ifm_derive_set_aside(work->baseline);
    const bool disturbed = ifm_derive_lacks_undisturbed(&aside), unknown = isinf(near->high);
    const char *to =
        disturbed || unknown ? "" : ifm_arena_printf(arena, " to %.1f", 100.0 * near->high * lowered(work, near));
    const char *why = disturbed ? ifm_arena_printf(arena, ", and the machine disturbed %zu of %zu blocks", aside.n,
                                                   aside.n + aside.left)
                      : unknown ? ", and its blocks give no interval"
                      : is_steady(near) || !near->known ? ", by its interval"
                                                        : ", as that moved";
    ifm_derive_say_cell(work, IFM_SEVERITY_WARNING, "rule-03",
                        IFM_WHETHER_WEAK
                        "it reaches %.1f%s %% of its %s ceiling%s, and is weak below %.0f %%" IFM_REMEDY "%s",
                        work->baseline->arm->name, ifm_shown_below(near->share, near->bar), to,
                        ifm_ceiling_name(near->kind), why, 100.0 * near->bar,
                        disturbed || ifm_was_loaded(work->d->facts->events)
                            ? ifm_quiet_remedy(work->d->facts->events, work->cell->workload, work->cell->threads, arena)
                        : is_steady(near) ? "measure longer"
                                          : remedy_of(near));
}

/* "46.1 to 62.0"; the lower share is of the most that was seen of the ceiling, the higher one of its 10th percentile.
 */
static const char *range_of(const struct ifm_cell_work *work, const struct nearest *near, double most)
{
    const double least = ifm_shown_below(near->share, near->bar);
    return !near->known ? ifm_arena_printf(work->d->arena, "%.1f", least)
           : most > 1   ? ifm_arena_printf(work->d->arena, "%.1f to more than 100", least)
                        : ifm_arena_printf(work->d->arena, "%.1f to %.1f", least,
                                         most < near->bar ? ifm_shown_below(most, near->bar) : 100.0 * most);
}

/* Of a ceiling that moved the share is a range, and stands beside the two ends that make it. */
static void say_unsteady(const struct ifm_cell_work *work, const struct nearest *near)
{
    struct ifm_arena *arena = work->d->arena;
    const double most = near->share * lowered(work, near);
    const bool weak = most < near->bar;
    const char *range = range_of(work, near, most), *kind = ifm_ceiling_name(near->kind);
    const char *below = ifm_arena_printf(arena, " (%sbelow %.0f %%)", weak ? "" : "weak ", 100.0 * near->bar);
    const struct ends ends = near->known ? ends_of(work, near) : (struct ends){"", ""};
    const char *of = ifm_arena_printf(arena, "%s %s ceiling", near->known ? "a" : "its", kind);
    const char *moved =
        near->known ? ifm_arena_printf(arena, " that moved between %s (10th percentile) and %s (taken as the ceiling)",
                                       ends.low, ends.high)
                    : ", of which one round of probes was taken";
    if (!weak) {
        ifm_derive_say_cell(work, IFM_SEVERITY_WARNING, "rule-03",
                            IFM_WHETHER_WEAK "it reaches %s %% of %s%s%s" IFM_REMEDY "%s", work->baseline->arm->name,
                            range, of, below, moved, remedy_of(near));
        return;
    }
    const char *brief = ifm_arena_printf(
        arena, "%s reaches only %s %%%s of %s%s: how much of a speed-up is its weakness cannot be told",
        work->baseline->arm->name, range, below, of, moved);
    struct ifm_finding *said = ifm_derive_say_cell(work, IFM_SEVERITY_WARNING, "rule-03",
                                                   "the baseline %s" IFM_REMEDY "%s", brief, remedy_of(near));
    said->kind = IFM_FINDING_WEAK_BASELINE;
    const char *share = near->known ? ifm_arena_printf(arena, "%s %% of a %s ceiling that moved between %s and %s",
                                                       range, kind, ends.low, ends.high)
                                    : ifm_arena_printf(arena, "%s %% of its %s ceiling%s", range, kind, below);
    said->weak = (struct ifm_weakness){share, brief, NULL};
}

static void say_weak(const struct ifm_cell_work *work, const struct nearest *near)
{
    const char *name = work->baseline->arm->name, *left = bounds(work);
    if (left != NULL)
        left = ifm_arena_printf(work->d->arena, "%s; worst case: only %s is idealised", left, name);
    if (!is_surely_weak(work, near) && near->share * lowered(work, near) < near->bar)
        say_open(work, near);
    else if (!is_steady(near))
        say_unsteady(work, near);
    else
        ifm_derive_say_weak(work, ifm_shown_below(near->share, near->bar), ifm_ceiling_name(near->kind), near->bar,
                            left,
                            left == NULL ? ": ratios of compressed arms tell of the baseline's weakness too" : "");
}

void ifm_derive_at_ceiling(const struct ifm_cell_work *work)
{
    struct nearest near;
    size_t compressed = 0;
    for (size_t a = 0; a < work->cell->n_arms; a++)
        compressed += ifm_derive_is_compressed(&work->arms[a]) && !ifm_derive_is_withheld(&work->arms[a]);
    if (compressed == 0 || ifm_derive_is_withheld(work->baseline))
        return;
    if (work->baseline->cache_resident) /* said by rule 3: memory is not what serves it */
        return;
    if (!find_nearest(work, &near)) {
        ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "rule-03",
                            "no read ceiling was measured beside the baseline %s: how much of a compressed arm's "
                            "speed-up is the baseline's weakness cannot be told (ceilings: read)",
                            work->baseline->arm->name);
        return;
    }
    for (size_t a = 0; a < work->cell->n_arms; a++)
        if (is_left(&work->arms[a]))
            ifm_derive_emit(&work->arms[a], IFM_M_SPEEDUP_AT_CEILING, left_of(&work->arms[a], &near));
    if (near.share < near.bar)
        say_weak(work, &near);
}
