/* The checklists' questions to numbers, each answered at its worst place, and what all questions share. */
#include "judge/internal.h"

#include "model/machine_facts.h"
#include <math.h>
#include <string.h>

/* The coefficient of variation that the benchmark would rather see. */
#define CV_PREFERRED_PERCENT 2.0

enum { WHOLE = 15 }; /* digits of a count */

struct ifm_check_item ifm_check_found(const struct ifm_checking *c, enum ifm_check_state state, const char *remedy,
                                      const char *found, ...)
{
    va_list arguments;
    va_start(arguments, found);
    const char *text = ifm_arena_vprintf(c->arena, found, arguments);
    va_end(arguments);
    return (struct ifm_check_item){.state = state, .found = text, .remedy = remedy};
}

struct ifm_check_item ifm_check_no_arms(const struct ifm_checking *c)
{
    return ifm_check_absent(c, "measure a workload", "the run measures no arm but ceilings");
}

bool ifm_checks_cell(const struct ifm_checking *c, const struct ifm_cell *cell)
{
    bool supported = ifm_is_empty(cell->unsupported);
    return supported && (c->workload == NULL || strcmp(cell->workload, c->workload) == 0);
}

bool ifm_checks_arm(const struct ifm_arm *arm)
{
    return arm->role != IFM_ROLE_CEILING;
}

bool ifm_checks_next(const struct ifm_checking *c, struct ifm_check_place *place)
{
    for (; place->k < c->plan->n_cells; place->k++, place->next = 0) {
        place->cell = &c->plan->cells[place->k];
        while (ifm_checks_cell(c, place->cell) && place->next < place->cell->n_arms) {
            place->arm = &place->cell->arms[place->next++];
            if (ifm_checks_arm(place->arm))
                return true;
        }
    }
    return false;
}

/* ---- the worst place of a number ---- */

struct extreme {
    size_t n_arms, n; /* arms asked, and those that have the number */
    double number;
    const char *unit;                       /* of `metric`; NULL or "" = none */
    const char *cell, *arm;                 /* where it is worst */
    const char *lacking_cell, *lacking_arm; /* the first arm that has no such number */
    const struct ifm_value *lacking;        /* what it has instead; NULL = nothing */
};

/* The greatest or the least of `metric`, times `factor` unless that is IFM_M_NONE. */
static struct extreme extreme_of(const struct ifm_checking *c, enum ifm_metric_id metric, enum ifm_metric_id factor,
                                 bool greatest)
{
    struct extreme worst = {0};
    for (struct ifm_check_place at = {0}; ifm_checks_next(c, &at);) {
        const struct ifm_value *value = ifm_derived_value(c->derived, at.cell->name, at.arm->name, metric);
        const struct ifm_value *times =
            factor == IFM_M_NONE ? value : ifm_derived_value(c->derived, at.cell->name, at.arm->name, factor);
        worst.n_arms++;
        if (!ifm_is_ok(value) || !ifm_is_ok(times)) {
            if (worst.lacking_arm == NULL) {
                worst.lacking_cell = at.cell->name;
                worst.lacking_arm = at.arm->name;
                worst.lacking = ifm_is_ok(value) ? times : value;
            }
            continue;
        }
        double number = value->number * (factor == IFM_M_NONE ? 1.0 : times->number);
        if (worst.n++ == 0 || (greatest ? number > worst.number : number < worst.number)) {
            worst.number = number;
            worst.unit = value->unit;
            worst.cell = at.cell->name;
            worst.arm = at.arm->name;
        }
    }
    return worst;
}

/* Nothing that is measured again or for longer gives an arm something to do that it has not in this cell. */
static const char remedy_of_idleness[] =
    "a shape that gives the arm something to do (of a cache, a longer one), or leave the arm out";

/* What a number's own remedy is, or to measure again. */
static const char *remedy_of(const struct ifm_value *value)
{
    if (value != NULL && value->state == IFM_STATE_INACTIVE)
        return remedy_of_idleness;
    return value == NULL || value->remedy[0] == '\0' ? "measure the cell again" : value->remedy;
}

/* An arm of which the number, by its words, is not known, so that the point is not either. */
static struct ifm_check_item lacks(const struct ifm_checking *c, const struct extreme *worst, const char *words)
{
    const struct ifm_value *value = worst->lacking;
    const char *reason = value == NULL || value->reason[0] == '\0' ? "it was not measured" : value->reason;
    return ifm_check_absent(c, remedy_of(value), "no %s of %s of %s: %s", words, worst->lacking_arm,
                            worst->lacking_cell, reason);
}

/* ---- questions to numbers ---- */

/* Limits that the worst arm must keep, and how its number is told. */
enum { VARIATION, REPEATS, WARMUP, TEMPERATURE };
static const struct bound {
    enum ifm_metric_id metric, factor;
    bool is_most; /* the limit is an upper one */
    int digits;
    const char *words, *unit, *broken, *kept;
} bounds[] = {
    [VARIATION] = {IFM_M_LATENCY_CV_PERCENT, IFM_M_NONE, true, 3, "coefficient of variation", "%", "up to", "at most"},
    [REPEATS] = {IFM_M_SAMPLES_COUNT, IFM_M_NONE, false, WHOLE, "number of samples", "samples", "only", "at least"},
    [WARMUP] = {IFM_M_WARMUP_SAMPLES, IFM_M_INNER_STEPS, false, WHOLE, "number of warm-up samples", "steps", "only",
                "at least"},
    [TEMPERATURE] = {IFM_M_TEMPERATURE_RANGE_K, IFM_M_NONE, true, 2, "temperature", "K", "moved by",
                     "moved by at most"},
};

static struct ifm_check_item answer_bound(const struct ifm_checking *c, const struct bound *bound, const char *remedy,
                                          struct extreme *worst)
{
    *worst = extreme_of(c, bound->metric, bound->factor, bound->is_most);
    if (worst->n_arms == 0)
        return ifm_check_no_arms(c);
    bool broken = worst->n > 0 && (bound->is_most ? worst->number > c->limit : worst->number < c->limit);
    if (!broken && worst->n < worst->n_arms)
        return lacks(c, worst, bound->words);
    return ifm_check_found(c, broken ? IFM_CHECK_NOT_MET : IFM_CHECK_MET, broken ? remedy : "", "%s %.*g %s (%s of %s)",
                           broken ? bound->broken : bound->kept, bound->digits, worst->number, bound->unit, worst->arm,
                           worst->cell);
}

struct ifm_check_item ifm_answer_variation(const struct ifm_checking *c)
{
    struct extreme worst;
    struct ifm_check_item item = answer_bound(
        c, &bounds[VARIATION], "a quieter machine, a longer --warmup, or more steps in a sample (--inner)", &worst);
    if (item.state != IFM_CHECK_MET)
        return item;
    return ifm_check_met(c, "%s, %s the preferred %.3g %%", item.found,
                         worst.number > CV_PREFERRED_PERCENT ? "above" : "within", CV_PREFERRED_PERCENT);
}

struct ifm_check_item ifm_answer_repeats(const struct ifm_checking *c)
{
    struct extreme worst;
    return answer_bound(c, &bounds[REPEATS], ifm_arena_printf(c->arena, "--repeats %.0f", c->limit), &worst);
}

/* The cell's warm-up asked for enough steps, and its cap cut them off? Then more steps alone do not help. */
static bool was_capped(const struct ifm_checking *c, const char *cell)
{
    const struct ifm_cell *found = ifm_plan_cell(c->plan, cell);
    return found != NULL && (double)found->measure.warmup >= c->limit;
}

/* " --warmup-cap 10s" where so many steps of each arm take longer than the warm-up may: twice as long, for what data,
 * checks and calibration take of it. "" = they fit. */
static const char *cap_for(const struct ifm_checking *c, const char *cell, bool capped)
{
    const struct ifm_cell *found = ifm_plan_cell(c->plan, cell);
    double steps_s = 0;
    for (size_t a = 0; found != NULL && a < found->n_arms; a++) {
        const struct ifm_value *step = ifm_derived_value(c->derived, cell, found->arms[a].name, IFM_M_STEP_NS);
        steps_s += ifm_is_ok(step) ? 1e-9 * c->limit * step->number : 0;
    }
    const double least_s = capped ? 2 * found->measure.warmup_cap_s : 0, cap_s = ceil(fmax(2 * steps_s, least_s));
    return found == NULL || (!capped && steps_s <= found->measure.warmup_cap_s)
               ? ""
               : ifm_arena_printf(c->arena, " --warmup-cap %.0fs", cap_s);
}

struct ifm_check_item ifm_answer_warmup(const struct ifm_checking *c)
{
    struct extreme worst;
    const char *steps = ifm_arena_printf(c->arena, "--warmup %.0f", c->limit);
    struct ifm_check_item item = answer_bound(c, &bounds[WARMUP], steps, &worst);
    if (item.state == IFM_CHECK_NOT_MET) {
        const bool capped = was_capped(c, worst.cell);
        const char *cap = cap_for(c, worst.cell, capped);
        item.remedy = capped ? cap + 1 : ifm_arena_printf(c->arena, "%s%s", steps, cap);
    }
    return item;
}

struct ifm_check_item ifm_answer_temperature(const struct ifm_checking *c)
{
    struct extreme worst;
    struct ifm_check_item item = answer_bound(c, &bounds[TEMPERATURE], "a longer --warmup, or better cooling", &worst);
    if (worst.n > 0)
        return item;
    const struct ifm_event_column_absent *absent = NULL; /* why no instrument read one */
    IFM_EACH(event, c->events, column_absent, NULL, NULL)
        if (strcmp(IFM_FACTS(event, column_absent)->column, "temperature_mc") == 0)
            absent = IFM_FACTS(event, column_absent);
    return ifm_check_absent(
        c, absent == NULL ? "measure on bare metal, with a sensor that the kernel shows" : absent->remedy, "%s",
        absent == NULL ? "no instrument of this run reads a temperature" : absent->reason);
}

/* The throughput of an arm: of the tokens that it makes, else of those that it reads, else of rows. NULL: it has none.
 */
static enum ifm_metric_id throughput_of(const struct ifm_checking *c, const char *cell, const char *arm)
{
    static const enum ifm_metric_id metrics[] = {IFM_M_TOKENS_GENERATED_PER_S, IFM_M_TOKENS_PROMPT_PER_S,
                                                 IFM_M_ROWS_PER_S};
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
        if (ifm_derived_value(c->derived, cell, arm, metrics[i]) != NULL)
            return metrics[i];
    return IFM_M_NONE;
}

struct ifm_check_item ifm_answer_latency(const struct ifm_checking *c)
{
    static const enum ifm_metric_id latencies[] = {IFM_M_LATENCY_NS_MEAN, IFM_M_LATENCY_NS_P50, IFM_M_LATENCY_NS_P95};
    for (size_t i = 0; i < sizeof latencies / sizeof latencies[0]; i++) {
        struct extreme seen = extreme_of(c, latencies[i], IFM_M_NONE, true);
        if (seen.n_arms == 0)
            return ifm_check_no_arms(c);
        if (seen.n < seen.n_arms) {
            struct ifm_check_item item = lacks(c, &seen, ifm_metrics[latencies[i]].id);
            bool has_remedy =
                seen.lacking != NULL && (seen.lacking->remedy[0] != '\0' || seen.lacking->state == IFM_STATE_INACTIVE);
            bool few = !has_remedy && (seen.n > 0 || seen.lacking != NULL);
            return ifm_check_unmet(c, few ? "more samples (--repeats)" : item.remedy, "%s", item.found);
        }
    }
    size_t n = 0;
    for (struct ifm_check_place at = {0}; ifm_checks_next(c, &at); n++) {
        const char *arm = at.arm->name, *cell = at.cell->name;
        enum ifm_metric_id metric = throughput_of(c, cell, arm);
        if (metric == IFM_M_NONE)
            return ifm_check_absent(c, "measure a workload with tokens or rows",
                                    "a step of %s of %s makes nothing that is counted", arm, cell);
        const struct ifm_value *value = ifm_derived_value(c->derived, cell, arm, metric);
        if (!ifm_is_ok(value))
            return ifm_check_unmet(c, remedy_of(value), "no %s of %s of %s: %s", ifm_metrics[metric].id, arm, cell,
                                   value->reason);
    }
    return ifm_check_met(c, "mean, median, 95th percentile and throughput of %zu arm%s", n, n == 1 ? "" : "s");
}

struct ifm_check_item ifm_check_instrument(const struct ifm_checking *c, enum ifm_metric_id metric, const char *what,
                                           const char *remedy)
{
    struct extreme seen = extreme_of(c, metric, IFM_M_NONE, true);
    if (seen.n_arms == 0)
        return ifm_check_no_arms(c);
    if (seen.n == 0)
        return ifm_check_absent(c, remedy, "no instrument of this run %s", what);
    if (seen.n < seen.n_arms)
        return lacks(c, &seen, ifm_metrics[metric].id);
    const char *unit = seen.unit == NULL ? "" : seen.unit;
    return ifm_check_met(c, "of %zu arm%s; at most %.3g%s%s (%s of %s)", seen.n, seen.n == 1 ? "" : "s", seen.number,
                         unit[0] == '\0' ? "" : " ", unit, seen.arm, seen.cell);
}

struct ifm_check_item ifm_answer_l2(const struct ifm_checking *c)
{
    return ifm_check_instrument(c, IFM_M_L2_HIT_PERCENT, "counts hits of the second-level cache",
                                "measure where one does: processor counters, or the profiler of a GPU");
}

/* Every cell compares something, and each comparison has an interval and an effect size. */
struct ifm_check_item ifm_answer_compared(const struct ifm_checking *c)
{
    size_t n = 0;
    for (size_t k = 0; k < c->plan->n_cells; k++) {
        const struct ifm_cell *cell = &c->plan->cells[k];
        size_t arms = 0, before = n;
        for (size_t a = 0; ifm_checks_cell(c, cell) && a < cell->n_arms; a++) {
            const char *arm = cell->arms[a].name;
            arms += ifm_checks_arm(&cell->arms[a]);
            if (cell->arms[a].role != IFM_ROLE_VARIANT)
                continue;
            const struct ifm_value *change = ifm_derived_value(c->derived, cell->name, arm, IFM_M_CHANGE_PERCENT);
            const struct ifm_value *effect = ifm_derived_value(c->derived, cell->name, arm, IFM_M_HEDGES_G);
            const struct ifm_value *worse = ifm_is_ok(change) ? effect : change;
            if (!ifm_is_ok(worse))
                return ifm_check_unmet(c, remedy_of(worse), "%s of %s has no %s: %s", arm, cell->name,
                                       ifm_is_ok(change) ? "effect size" : "comparison",
                                       worse == NULL ? "it was not compared" : worse->reason);
            if (!change->has_interval)
                return ifm_check_unmet(c,
                                       ifm_repeats_ended(cell, c->events) ? "more blocks: a larger --repeats"
                                                                          : "more blocks: a longer --cap",
                                       "the change of %s of %s has no interval: %s", arm, cell->name, change->text);
            n++;
        }
        if (arms > 0 && n == before)
            return ifm_check_unmet(c, "give the cell a baseline and an arm beside it (arms)", "%s compares nothing",
                                   cell->name);
    }
    if (n == 0)
        return ifm_check_no_arms(c);
    return ifm_check_met(c, "%zu comparison%s, block by block, each with its interval and Hedges' g", n,
                         n == 1 ? "" : "s");
}

/* ... and the baseline is the cache as it is without compression. */
struct ifm_check_item ifm_answer_uncompressed(const struct ifm_checking *c)
{
    for (struct ifm_check_place at = {0}; ifm_checks_next(c, &at);)
        if (at.arm->role == IFM_ROLE_BASELINE && at.arm->stored < at.arm->stored_plain)
            return ifm_check_unmet(c, "let compress begin with 1", "the baseline %s of %s is compressed itself",
                                   at.arm->name, at.cell->name);
    return ifm_answer_compared(c);
}

struct ifm_check_item ifm_answer_repeatable(const struct ifm_checking *c)
{
    return ifm_check_absent(c, "measure twice, then `inferometer compare A B`", "one run cannot show it");
}
