/* Rule 7: what the time axis says of a cell. Steady state, drift, change points, too few blocks, a time cap. */
#include "derive/internal.h"

#include "base/text.h"
#include <math.h>
#include <string.h>

struct trend {
    size_t n;
    double *logs, *mid, *rest;
};

/* How much dependence between blocks inflates a CUSUM: seen in what is left beside the two means, since the step itself
 * is not dependence. */
static double independent_share(const struct trend *t, size_t at, double *rest)
{
    double before, after, r, effective;
    if (ifm_stats_mean(t->logs, at, &before) != IFM_STAT_OK ||
        ifm_stats_mean(t->logs + at, t->n - at, &after) != IFM_STAT_OK)
        return 1.0;
    for (size_t i = 0; i < t->n; i++)
        rest[i] = t->logs[i] - (i < at ? before : after);
    if (ifm_stats_autocorrelation(rest, t->n, &r) != IFM_STAT_OK ||
        ifm_stats_effective_size(t->n, r, &effective) != IFM_STAT_OK)
        return 1.0;
    return effective / (double)t->n;
}

/* Of the CUSUM, and where it is. */
static double peak_of(const struct trend *t, size_t *at)
{
    struct ifm_cusum cusum;
    if (ifm_stats_cusum(t->logs, t->n, &cusum) != IFM_STAT_OK)
        return 0;
    *at = cusum.at;
    return cusum.peak * sqrt(independent_share(t, cusum.at, t->rest));
}

/* Of an arm's logarithm over the pass, where a line through it is visibly not level, beyond the margin, so that the
 * interval of its time is widened: how far it drifts, or how far it rises and falls, where start and end are level; or
 * there is one step, as which it is said. */
struct movement {
    double drift, within, step;
};

/* From start to end. */
static double shift_of(const struct movement *m)
{
    return m->step != 0 ? m->step : m->drift;
}

/* The step from the mean before block `at` to that behind it, where less is left of the squares beside them than beside
 * a line, and less than half of all: a burst has a mean before its end, too. Else 0. */
static double step_of(const struct trend *t, const struct ifm_slope *line, size_t at)
{
    double all, before, after, of_line = 0, of_step = 0, of_all = 0;
    if (ifm_stats_mean(t->logs, t->n, &all) != IFM_STAT_OK || ifm_stats_mean(t->logs, at, &before) != IFM_STAT_OK ||
        ifm_stats_mean(t->logs + at, t->n - at, &after) != IFM_STAT_OK)
        return 0;
    for (size_t i = 0; i < t->n; i++) {
        const double l = t->logs[i] - line->intercept - line->slope * t->mid[i];
        const double s = t->logs[i] - (i < at ? before : after);
        of_line += l * l;
        of_step += s * s;
        of_all += (t->logs[i] - all) * (t->logs[i] - all);
    }
    return of_step < of_line && of_step < of_all / 2 ? after - before : 0;
}

static struct movement movement_of(const struct ifm_arm_work *arm, const struct trend *t)
{
    struct movement out = {.drift = 0, .within = 0, .step = 0};
    struct ifm_interval held;
    struct ifm_slope line;
    double fifths[IFM_FIFTHS];
    size_t at;
    if (!ifm_derive_drift_ends(arm, NULL, &held) || ifm_stats_slope(t->mid, t->logs, t->n, 0.99, &line) != IFM_STAT_OK)
        return out;
    const double change = line.slope * (t->mid[t->n - 1] - t->mid[0]);
    const bool visible = line.interval.low > 0 || line.interval.high < 0;
    if (!visible || fabs(change) <= log1p(arm->work->cell->measure.margin))
        return out;
    ifm_derive_fifths(t->logs, t->n, fifths);
    out.step = peak_of(t, &at) > IFM_CUSUM_1_PERCENT ? step_of(t, &line, at) : 0;
    if (out.step != 0)
        return out;
    if ((fifths[IFM_FIFTHS - 1] - fifths[0]) / change >= 0.5) {
        out.drift = change;
        return out;
    }
    double low = fifths[0], high = fifths[0];
    for (size_t p = 1; p < IFM_FIFTHS; p++) {
        low = fmin(low, fifths[p]);
        high = fmax(high, fifths[p]);
    }
    out.within = high - low;
    return out;
}

static const char *time_words(const struct ifm_arm_work *arm)
{
    return ifm_cell_counts_programs(arm->work->cell) ? "the time of a run" : "the step time";
}

static void say_drift(const struct ifm_arm_work *arm, double drift)
{
    if (drift == 0)
        return;
    const enum ifm_shared shared = ifm_derive_shared(arm, NULL);
    struct ifm_finding *said = ifm_derive_say_arm(
        arm, IFM_SEVERITY_WARNING, "rule-07", "%s drifts by %+.2f %% from start to end%s; " IFM_HELD_WORDS " both ends",
        time_words(arm), 100.0 * expm1(drift), ifm_derive_shared_words(arm->work, shared));
    said->kind = IFM_FINDING_TIME_DRIFTS;
    said->drift = drift;
    said->of_one = shared == IFM_SHARED_BY_NONE;
}

static void say_within(const struct ifm_arm_work *arm, double within)
{
    if (within == 0)
        return;
    const enum ifm_shared shared = ifm_derive_shared(arm, NULL);
    struct ifm_finding *said = ifm_derive_say_arm(
        arm, IFM_SEVERITY_WARNING, "rule-07",
        "%s rises and falls within the run, by %.3g %% from fifth to fifth of it%s; " IFM_HELD_WORDS " all fifths",
        time_words(arm), 100.0 * expm1(within), ifm_derive_shared_words(arm->work, shared));
    said->kind = IFM_FINDING_TIME_CHANGES;
    said->of_one = shared == IFM_SHARED_BY_NONE;
}

/* The change of time that a gate on the comparison allows, in percent; infinite = it is no such gate. */
static double allowed_by(const struct ifm_gate *gate)
{
    if (strcmp(gate->metric, "change_percent") == 0)
        return fabs(gate->threshold);
    return strcmp(gate->metric, "speedup") == 0 && gate->threshold > 0 ? 100 * fabs(1 / gate->threshold - 1) : INFINITY;
}

/* The least of all gates. */
static double least_allowed(const struct ifm_arm_work *arm)
{
    const struct ifm_plan *plan = arm->d->plan;
    double least = INFINITY;
    for (size_t i = 0; i < plan->n_gates; i++) {
        const struct ifm_gate *gate = &plan->gates[i];
        if ((ifm_is_empty(gate->arm) || strcmp(gate->arm, arm->arm->name) == 0) &&
            (ifm_is_empty(gate->cell) || strcmp(gate->cell, arm->work->cell->name) == 0))
            least = fmin(least, allowed_by(gate));
    }
    return least;
}

/* A drift that both arms share cancels in their ratio, whoever makes it: the machine, or one of the two by what it
 * leaves behind for both. From turns alone these look alike, so a gate stands as it is, and what it cannot see is said
 * where that is more than it allows. */
static void say_shared_drift(const struct ifm_arm_work *arm, const struct movement *moved)
{
    const struct ifm_arm_work *base = arm->work->baseline;
    if (base == NULL || !ifm_derive_is_compared(arm))
        return;
    const double own = shift_of(&moved[arm->index]), its = shift_of(&moved[base->index]);
    if (own * its <= 0 || 100 * expm1(fmin(fabs(own), fabs(its))) <= least_allowed(arm))
        return;
    ifm_derive_say_arm(
        arm, IFM_SEVERITY_WARNING, "rule-07",
        "it %s together with %s (%s %+.3g %%, %s %+.3g %%), by more than a gate's limit: a ratio does not see what "
        "both share, be it the machine or what one leaves behind for both; a run of each alone tells",
        moved[arm->index].step != 0 ? "changes" : "drifts", base->arm->name, arm->arm->name, 100 * expm1(own),
        base->arm->name, 100 * expm1(its));
}

/* How much longer blocks take from `at` on than before, as their times were, CPUs' part and all; a logarithm. */
static double longer_after(const struct ifm_arm_work *arm, const struct trend *t, size_t at)
{
    double before = 0, after = 0;
    ifm_arm_logs(arm, NULL, t->rest, t->mid);
    for (size_t i = 0; i < t->n; i++)
        *(i < at ? &before : &after) += exp(t->rest[i]);
    return log(after / (double)(t->n - at) / (before / (double)at));
}

/* A change within the margin is none that anybody asked about, as of a drift. */
static void look_for_change(const struct ifm_arm_work *arm, const struct trend *t, bool held)
{
    size_t at;
    const double peak = peak_of(t, &at);
    const double longer = peak > IFM_CUSUM_1_PERCENT ? longer_after(arm, t, at) : 0;
    if (fabs(longer) <= log1p(arm->work->cell->measure.margin))
        return;
    const double at_ns = (t->mid[at - 1] + t->mid[at]) / 2;
    const enum ifm_shared shared = ifm_derive_shared(arm, &at_ns);
    struct ifm_finding *said =
        ifm_derive_say_arm(arm, IFM_SEVERITY_WARNING, "rule-07",
                           "%s is %.2g %% %s after %zu of %zu blocks than before%s%s (CUSUM %.2f, limit %.2f)",
                           time_words(arm), 100 * fabs(expm1(longer)), longer > 0 ? "longer" : "shorter", at, t->n,
                           ifm_derive_shared_words(arm->work, shared),
                           held ? "; " IFM_HELD_WORDS " all fifths of the run" : "", peak, IFM_CUSUM_1_PERCENT);
    said->kind = IFM_FINDING_TIME_CHANGES;
    said->of_one = shared == IFM_SHARED_BY_NONE;
}

enum { NAMED = 4 }; /* arms in one finding of a cell: a sweep has dozens, and a busy machine unsettles them all */

/* Adds an arm to those that were not steady, if it is among the first; says whether there are more. */
static const char *add_unsteady(struct ifm_text *names, size_t *unsteady, const char *arm)
{
    if ((*unsteady)++ < NAMED)
        ifm_text_printf(names, "%s%s", names->size > 0 ? ", " : "", arm);
    return *unsteady > NAMED ? ", ..." : "";
}

static void look_at_warmup(const struct ifm_cell_work *work)
{
    struct ifm_text names = {0};
    size_t unsteady = 0;
    const char *more = "";
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const struct ifm_event_warmup *warmup = IFM_TOLD(work, warmup, work->cell->arms[a].name);
        if (warmup != NULL && !warmup->steady)
            more = add_unsteady(&names, &unsteady, warmup->arm);
    }
    if (unsteady > 0)
        ifm_derive_say_cell(work, IFM_SEVERITY_WARNING, "rule-07",
                            "%zu of %zu arms were not steady when the warm-up ended: %s%s", unsteady,
                            ifm_plan_count_in_blocks(work->cell), names.data, more)
            ->kind = IFM_FINDING_WARM_UP;
    ifm_text_free(&names);
}

/* "mma (410 W, standard deviation 22 W, +0.8 K/s)" */
static const char *watts_of(const struct ifm_event_converge *gate, struct ifm_arena *arena)
{
    char watts[48], spread[48];
    if (isnan(gate->watts) || isnan(gate->sd_w))
        return gate->arm;
    const char *slope = isnan(gate->slope_k_per_s) ? "" : ifm_arena_printf(arena, ", %+.1f K/s", gate->slope_k_per_s);
    return ifm_arena_printf(arena, "%s (%s, standard deviation %s%s)", gate->arm,
                            ifm_format_human(gate->watts, "W", watts), ifm_format_human(gate->sd_w, "W", spread),
                            slope);
}

/* What the gate of power and temperature said before the measured blocks, from the last one that each arm went
 * through. Control inputs; no number is made of them. */
static void look_at_gates(const struct ifm_cell_work *work)
{
    struct ifm_text names = {0};
    size_t unsteady = 0;
    const char *more = "";
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const struct ifm_event_converge *gate = IFM_TOLD(work, converge, work->cell->arms[a].name);
        if (gate != NULL && !gate->steady)
            more = add_unsteady(&names, &unsteady, watts_of(gate, work->d->arena));
    }
    if (unsteady > 0)
        ifm_derive_say_cell(work, IFM_SEVERITY_WARNING, "rule-07",
                            "power or temperature of %zu of %zu arms had not settled when the time for the warm-up "
                            "was spent: %s%s",
                            unsteady, work->cell->n_arms, names.data, more)
            ->kind = IFM_FINDING_WARM_UP;
    ifm_text_free(&names);
}

#define BY_MACHINE "disturbed by the machine; "

/* What marked blocks are, and what comparisons rest on. */
static const char *rest_on(const struct ifm_cell_work *work)
{
    struct ifm_text names = {0};
    size_t compared = 0, follow = 0, lopsided = 0, untold = 0;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const struct ifm_arm_work *arm = &work->arms[a];
        if (!ifm_derive_is_compared(arm))
            continue;
        compared++;
        const struct ifm_aside aside = ifm_derive_set_aside(arm);
        lopsided += aside.blocks != NULL && aside.lopsided;
        untold += aside.blocks == NULL && (arm->untold || work->baseline->untold);
        if (aside.follows != NULL)
            ifm_text_printf(&names, "%s%s", follow++ > 0 ? ", " : "", arm->arm->name);
    }
    const char *some = ifm_arena_printf(work->d->arena, BY_MACHINE "comparisons rest on the others, and %s's on all",
                                        names.size > 0 ? names.data : "");
    ifm_text_free(&names);
    if (compared > 0 && follow == compared)
        return BY_MACHINE "comparisons rest on all blocks, as the disturbances follow an arm";
    if (compared > 0 && untold == compared)
        return "disturbed, maybe by the programs, of which first threads alone are told: comparisons rest on all "
               "blocks";
    if (work->n_measured - work->n_marked < IFM_BLOCKS_NEEDED)
        return BY_MACHINE "too few others are left to compare, so ratios are of all of them and undecided";
    return follow > 0     ? some
           : lopsided > 0 ? BY_MACHINE "comparisons rest on the others, but intervals hold what all blocks say too"
                          : BY_MACHINE "comparisons rest on the others";
}

static void look_at_stop(const struct ifm_cell_work *work)
{
    const struct ifm_event_stop *stop = IFM_TOLD(work, stop, NULL);
    bool capped = stop != NULL && strcmp(stop->reason, "cap") == 0;
    if (capped && work->cell->measure.stop == IFM_STOP_GROUP)
        ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "rule-07",
                            "stopped by the time cap of %.3g s before the planned %llu blocks; intervals are as wide "
                            "as at a look",
                            work->cell->measure.cap_s, (unsigned long long)work->cell->measure.blocks_max);
    else if (capped && work->cell->measure.stop == IFM_STOP_DECIDED)
        ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "rule-07",
                            "stopped by the time cap of %.3g s, before a look at which all was answered by enough runs",
                            work->cell->measure.cap_s);
    else if (capped)
        ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "rule-07",
                            "stopped by the time cap of %.3g s before the wanted effect of %.3g %% could be detected",
                            work->cell->measure.cap_s, 100.0 * work->cell->measure.mde);
    if (work->n_measured < IFM_BLOCKS_NEEDED)
        ifm_derive_say_cell(work, IFM_SEVERITY_WARNING, "rule-07", "%s: no interval, and no word on a comparison",
                            ifm_needs_blocks(work->d->arena, work->n_measured))
            ->kind = IFM_FINDING_FEW_BLOCKS;
    for (size_t a = 0; a < work->cell->n_arms; a++)
        if (work->arms[a].untold)
            ifm_derive_say_arm(&work->arms[a], IFM_SEVERITY_NOTE, "rule-02",
                               "whether other work disturbed its runs is not known: " IFM_UNTOLD_WORDS);
    if (work->n_marked > 0 && work->d->plan->rules >= IFM_PLAN_RULES_REPEATS)
        ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "rule-02",
                            "%zu of %zu blocks%s are marked as %s, times are of all %zu", work->n_marked,
                            work->n_measured, work->n_repeated > 0 ? " (reruns included)" : "", rest_on(work),
                            work->n_measured);
    else if (work->n_marked > 0)
        ifm_derive_say_cell(work, IFM_SEVERITY_NOTE, "rule-02",
                            "%zu of %zu blocks are marked as disturbed by the machine (stolen time, or preemption); "
                            "numbers stand over all blocks, and again without them",
                            work->n_marked, work->n_measured);
}

/* What the run itself saw of the machine while it measured. */
static void look_at_disturbances(const struct ifm_cell_work *work)
{
    size_t n = 0;
    const struct ifm_event_disturbed *first = NULL;
    IFM_EACH_TOLD(event, work, disturbed, NULL)
        first = n++ == 0 ? IFM_FACTS(event, disturbed) : first;
    if (n > 0)
        ifm_derive_say_cell(work, IFM_SEVERITY_WARNING, "rule-02", "disturbed %zu time%s; first in block %lld: %s", n,
                            n == 1 ? "" : "s", (long long)first->block, first->reason);
}

/* A time that depends on the CPU moves as the shares of CPUs do: that is said already, and is no drift of its own. */
static void take_places_off(const struct ifm_arm_work *arm, const struct ifm_places *places, struct trend *t)
{
    const struct ifm_record *r = arm->work->record;
    size_t i = 0, k = 0;
    for (size_t b = 0; b < arm->work->n_blocks; b++) {
        double part = 0, n = 0;
        while (k < r->n_slots && r->slots[k].block < arm->work->block[b])
            k++;
        for (; k < r->n_slots && r->slots[k].block == arm->work->block[b]; k++)
            if (r->slots[k].arm == arm->index) {
                part += ifm_derive_place_part(places, r, k);
                n++;
            }
        if (arm->present[b] && i < t->n)
            t->logs[i++] -= n > 0 ? part / n : 0;
    }
}

/* False where there is none to look at. */
static bool take_trend(const struct ifm_arm_work *arm, const struct ifm_places *places, struct trend *t)
{
    if (arm->broken != NULL || ifm_derive_is_cache_probe(arm->arm))
        return false;
    t->n = ifm_arm_logs(arm, NULL, t->logs, t->mid);
    if (places->words[0] != '\0')
        take_places_off(arm, places, t);
    return t->n >= IFM_BLOCKS_NEEDED;
}

/* Of each arm; the baseline has those of the first comparison that has some. */
static struct ifm_places *places_of(const struct ifm_cell_work *work, struct ifm_arena *scratch)
{
    struct ifm_places *places = IFM_ARENA_ARRAY(scratch, struct ifm_places, work->cell->n_arms + 1), first;
    first = (struct ifm_places){.words = ""};
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const bool compared = work->arms[a].broken == NULL && ifm_derive_is_compared(&work->arms[a]);
        places[a] = compared ? ifm_derive_places(&work->arms[a]) : (struct ifm_places){.words = ""};
        if (first.words[0] == '\0')
            first = places[a];
    }
    if (work->baseline != NULL)
        places[work->baseline->index] = first;
    return places;
}

static bool is_moved(const struct movement *m)
{
    return m->drift != 0 || m->within != 0 || m->step != 0;
}

/* It is looked for beside what the CPUs of runs give, and is said of the times as they were, which a reader has. */
static struct movement moved_of(const struct ifm_arm_work *arm, const struct ifm_places *places, struct trend *t)
{
    static const struct ifm_places none = {.words = ""};
    const struct movement still = {.drift = 0, .within = 0, .step = 0},
                          own = take_trend(arm, places, t) ? movement_of(arm, t) : still,
                          whole = is_moved(&own) && take_trend(arm, &none, t) ? movement_of(arm, t) : still;
    return is_moved(&whole) ? whole : own;
}

static void look_over_time(struct ifm_cell_work *work)
{
    struct ifm_arena *scratch = ifm_arena_create();
    struct trend t = {0, IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1),
                      IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1),
                      IFM_ARENA_ARRAY(scratch, double, work->n_blocks + 1)};
    const struct ifm_places *places = places_of(work, scratch);
    struct movement *moved = IFM_ARENA_ARRAY(scratch, struct movement, work->cell->n_arms + 1);
    look_at_stop(work);
    look_at_disturbances(work);
    look_at_warmup(work);
    for (size_t a = 0; a < work->cell->n_arms; a++)
        moved[a] = moved_of(&work->arms[a], &places[a], &t);
    for (size_t a = 0; a < work->cell->n_arms; a++)
        say_shared_drift(&work->arms[a], moved);
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        say_drift(&work->arms[a], moved[a].drift);
        say_within(&work->arms[a], moved[a].within);
        if (take_trend(&work->arms[a], &places[a], &t))
            look_for_change(&work->arms[a], &t, moved[a].step != 0);
    }
    ifm_arena_destroy(scratch);
}

void ifm_rules_time(struct ifm_cell_work *work)
{
    if (work->record != NULL && work->refusal.rule == NULL)
        look_over_time(work);
    look_at_gates(work);
}
