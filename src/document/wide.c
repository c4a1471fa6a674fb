/* Why one time says too little, or its interval much: modes, a drift, a median that says the opposite, a ratio's
 * interval beside those of its times, and why there is no interval. */
#include "document/build.h"
#include "document/quantity.h"
#include "document/remedy.h"
#include <math.h>
#include <string.h>

/* Half of an interval over its number; NaN without one. */
static double half_of(const struct ifm_value *value)
{
    return ifm_is_ok(value) && value->has_interval ? 0.5 * (value->high - value->low) / value->number : NAN;
}

static const char *cause_of(const struct ifm_derived *derived, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_finding *widened = ifm_derived_widened(derived, cell->name, arm->name, IFM_M_SPEEDUP);
    if (widened != NULL && widened->kind == IFM_FINDING_ORDER)
        return "what slots right after the same arm say, too";
    if (widened != NULL && widened->kind == IFM_FINDING_ORDER_HIDDEN)
        return "what the order of arms may do";
    if (widened != NULL)
        return "the change at one clock";
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(derived, cell->name, f)) != NULL;)
        if (strcmp(f->arm, arm->name) == 0 && f->kind == IFM_FINDING_RATIO_DRIFTS)
            return "both ends of a change in the run";
    return "";
}

static bool is_wider(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const double much = 2;
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    const double own = half_of(ifm_value_of(builder, cell, arm, IFM_M_STEP_NS)),
                 base = baseline == NULL ? NAN : half_of(ifm_value_of(builder, cell, baseline, IFM_M_STEP_NS));
    return half_of(ifm_value_of(builder, cell, arm, IFM_M_SPEEDUP)) > much * hypot(own, base);
}

/* Was it widened for the order, by more than a note is worth, or beside one that was? A row without the mark is taken
 * for unlike. */
static bool is_told_of_order(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_derived *derived = builder->from->derived;
    const struct ifm_finding *own = ifm_derived_widened(derived, cell->name, arm->name, IFM_M_SPEEDUP);
    if (own == NULL || own->kind == IFM_FINDING_CLOCKS)
        return false;
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_arm *other = &cell->arms[a];
        const struct ifm_finding *its = ifm_derived_widened(derived, cell->name, other->name, IFM_M_SPEEDUP);
        if (its != NULL && its->kind == own->kind &&
            (its->severity == IFM_SEVERITY_WARNING || is_wider(builder, cell, other)))
            return true;
    }
    return false;
}

const char *ifm_wider_than_times(const struct ifm_builder *builder, const struct ifm_cell *cell,
                                 const struct ifm_arm *arm, bool undecided)
{
    return (!undecided && is_wider(builder, cell, arm)) || is_told_of_order(builder, cell, arm)
               ? cause_of(builder->from->derived, cell, arm)
               : "";
}

static const char *drift_in_interval(const struct ifm_builder *builder, const struct ifm_cell *cell,
                                     const struct ifm_arm *arm, const struct ifm_value *time)
{
    const double shows = 0.03; /* of the time: a narrow interval misleads nobody */
    const struct ifm_value *drift = ifm_value_of(builder, cell, arm, IFM_M_DRIFT_PERCENT);
    /* as derive widens it, which it finds worth a warning from a higher level on */
    const bool held = ifm_is_ok(drift) && drift->has_interval && (drift->low > 0 || drift->high < 0) &&
                      fabs(log1p(drift->number / 100)) > log1p(cell->measure.margin);
    return held && half_of(time) > shows ? IFM_DRIFT_NOTE_WORDS : "";
}

/* "the time alternates from slot to slot (83.0 ms, 52.9 ms), whichever arm runs": why a time has modes, of the arm that
 * it was found of and of its baseline alike. */
static const char *alternates_words(const struct ifm_builder *builder, const struct ifm_cell *cell,
                                    const struct ifm_arm *arm)
{
    const bool baseline = ifm_cell_baseline(cell) == arm;
    for (const struct ifm_finding *f = NULL;
         (f = ifm_derived_finding(builder->from->derived, cell->name, f)) != NULL;) {
        const char *end = ifm_is_alternating(f->text) ? strstr(f->text, IFM_ALTERNATES_END) : NULL;
        if (end != NULL && (baseline || strcmp(f->arm, arm->name) == 0))
            return ifm_arena_printf(builder->arena, "%.*s", (int)(end - f->text + (long)strlen(IFM_ALTERNATES_END)),
                                    f->text);
    }
    return "";
}

/* Beside an arm whose modes mislead, as many of another one are told too: a row without the mark is taken for unlike.
 */
static const char *modes_words(const struct ifm_builder *builder, const struct ifm_cell *cell,
                               const struct ifm_arm *arm)
{
    const struct ifm_value *modes = ifm_value_of(builder, cell, arm, IFM_M_MODES_COUNT);
    for (const struct ifm_finding *f = NULL;
         (f = ifm_derived_finding(builder->from->derived, cell->name, f)) != NULL;) {
        const struct ifm_value *its =
            f->kind == IFM_FINDING_MODES
                ? ifm_derived_value(builder->from->derived, cell->name, f->arm, IFM_M_MODES_COUNT)
                : NULL;
        if (ifm_is_ok(its) && ifm_is_ok(modes) && modes->number == its->number)
            return ifm_arena_printf(builder->arena, "%.0f modes: of its %s %s", modes->number,
                                    ifm_cell_counts_programs(cell) ? "runs" : "samples", modes->text);
    }
    return "";
}

#define BELOW 1.25
/* A mean that its median does not show, so that whoever sees both doubts neither; "" where they are near. Of a
 * program few runs are measured, and one that is slow moves their mean: from less on. Each arm by itself: whoever sees
 * both numbers can hold a row without the mark against one with it. */
static const char *slow_steps(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                              const struct ifm_value *mean)
{
    const bool programs = ifm_cell_counts_programs(cell);
    const double apart = programs ? 1.2 : 2;
    const struct ifm_value *median = ifm_value_of(builder, cell, arm, IFM_M_LATENCY_NS_P50);
    if (!ifm_is_ok(median))
        return "";
    if (mean->number * BELOW < median->number)
        return programs ? "the mean is below the median (p50): runs below that take much less"
                        : "the mean is below the median (p50): steps below that take much less";
    if (mean->number < apart * median->number)
        return "";
    return programs ? "the mean is far above the median (p50): runs above that take much longer"
                    : "the mean is far above the median (p50): steps above that take much longer";
}

/* Has another arm of the cell the mark of slow steps, and no modes to tell instead? */
static bool is_slow_beside(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_arm *other = &cell->arms[a];
        const struct ifm_value *step = ifm_value_of(builder, cell, other, IFM_M_STEP_NS);
        if (other != arm && ifm_is_ok(step) && slow_steps(builder, cell, other, step)[0] != '\0' &&
            modes_words(builder, cell, other)[0] == '\0' && alternates_words(builder, cell, other)[0] == '\0')
            return true;
    }
    return false;
}

/* What to know of a time: what makes modes of it, or these, which a file tells of among what was found, or how mean and
 * median lie, or a drift. */
const char *ifm_time_words(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                           const struct ifm_value *value)
{
    const bool brief = builder->most == IFM_LEVEL_BRIEF;
    const char *modes = brief ? alternates_words(builder, cell, arm) : "";
    const char *slow = modes[0] == '\0' ? slow_steps(builder, cell, arm, value) : "";
    /* a row without the mark that others have would be taken for unlike */
    if (brief && modes[0] == '\0' && !(slow[0] != '\0' && is_slow_beside(builder, cell, arm)))
        modes = modes_words(builder, cell, arm);
    slow = modes[0] == '\0' ? slow : "";
    const char *drift = slow[0] == '\0' ? drift_in_interval(builder, cell, arm, value) : "";
    return modes[0] == '\0'   ? slow[0] == '\0' ? drift : slow
           : drift[0] == '\0' ? modes
                              : ifm_arena_printf(builder->arena, "%s; %s", modes, drift);
}

static bool is_told(const struct ifm_derived *derived, const char *cell, const char *arm)
{
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(derived, cell, f)) != NULL;)
        if (f->kind == IFM_FINDING_TYPICAL && strcmp(f->arm, arm) == 0)
            return true;
    return false;
}

/* "b 0.73x by the mean, 1.05x by p50": both beyond the margin, on two sides of 1, and the second not within the
 * interval of the first; "" of another arm, or where the ratio left out blocks that p50 has. */
static const char *disagreement(const struct ifm_derived *derived, const struct ifm_cell *cell,
                                const struct ifm_arm *arm, const char *name, struct ifm_arena *arena)
{
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    const struct ifm_value *mean = ifm_derived_value(derived, cell->name, arm->name, IFM_M_SPEEDUP),
                           *own = ifm_derived_value(derived, cell->name, arm->name, IFM_M_LATENCY_NS_P50),
                           *base = baseline == NULL
                                       ? NULL
                                       : ifm_derived_value(derived, cell->name, baseline->name, IFM_M_LATENCY_NS_P50);
    const double margin = log1p(cell->measure.margin);
    if (ifm_is_ok(mean) && (long long)ifm_derived_all_blocks(derived, cell->name, arm->name) > (long long)mean->n)
        return "";
    if (!ifm_is_ok(mean) || !ifm_is_ok(own) || !ifm_is_ok(base) || is_told(derived, cell->name, arm->name))
        return "";
    struct ifm_value median = *mean;
    median.number = base->number / own->number;
    const double by_mean = log(mean->number), by_median = log(median.number);
    const bool chance = !mean->has_interval || (mean->low <= median.number && median.number <= mean->high);
    if (chance || !(fabs(by_mean) > margin && fabs(by_median) > margin && by_mean * by_median < 0))
        return "";
    return ifm_arena_printf(arena, "%s %sx by the mean, %sx by p50", name, ifm_quantity_of(mean, arena).number,
                            ifm_quantity_of(&median, arena).number);
}

/* Of all arms in one line; "" = none. */
static const char *disagreements(const struct ifm_builder *builder, const struct ifm_cell *cells, size_t n)
{
    enum { NAMED = 2 };
    struct ifm_arena *arena = builder->arena;
    const char *text = "";
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < cells[i].n_arms; a++) {
            const struct ifm_arm *arm = &cells[i].arms[a];
            const char *name = n == 1 ? arm->name : ifm_document_place(cells[i].name, arm->name, arena),
                       *own = disagreement(builder->from->derived, &cells[i], arm, name, arena);
            if (own[0] != '\0' && ++count <= NAMED)
                text = ifm_arena_printf(arena, "%s%s%s", text, count > 1 ? "; " : "mean and p50 disagree: ", own);
        }
    return count <= NAMED ? text : ifm_arena_printf(arena, "%s; %zu more", text, count - NAMED);
}

void ifm_add_cautions(struct ifm_builder *builder, const struct ifm_cell *cells, size_t n, enum ifm_level level,
                      struct ifm_block *section)
{
    const char *texts[] = {disagreements(builder, cells, n), ifm_unseen_words(builder, cells, n)};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i][0] != '\0')
            ifm_add_line(builder, section, level, IFM_AS_ASIDE, texts[i]);
}

/* Where few values carry a mean, so many blocks may be out of reach; the median, where it is `shown`, hardly knows
 * them. */
static const char *instead(const struct ifm_builder *builder, const struct ifm_cell *cell, const char *why, bool shown)
{
    if (strstr(why, "skewed") == NULL && strstr(why, "makes most of the spread") == NULL)
        return "";
    return shown ? ". Remedy: go by p50"
                 : ifm_arena_printf(builder->arena, ". Remedy: more blocks, with %s",
                                    ifm_remedy_of_few(builder->from, cell->name));
}

/* Processor times of two programs swing together, so that their ratio can be known where neither is. */
static bool is_known_as_change(const struct ifm_builder *builder, const struct ifm_cell *cell)
{
    bool known = false;
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_value *change = ifm_value_of(builder, cell, &cell->arms[a], IFM_M_CHANGE_CPU_PERCENT);
        known |= ifm_is_ok(change) && change->has_interval;
    }
    return known;
}

const char *ifm_no_interval_words(const struct ifm_builder *builder, const struct ifm_cell *cell,
                                  enum ifm_metric_id metric, const struct ifm_value *value)
{
    const bool typical = metric == IFM_M_STEP_NS; /* its median stands beside it */
    const bool changes = metric == IFM_M_COMMAND_CPU_NS && is_known_as_change(builder, cell);
    return ifm_arena_printf(builder->arena, "no interval%s: %s%s",
                            changes ? " of this time alone, its change has one" : "", value->text,
                            instead(builder, cell, value->text, typical));
}
