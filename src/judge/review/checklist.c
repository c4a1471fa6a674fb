/* The checklists of the specification, answered from numbers: what each list asks, and its worst place.
 *
 * A point is met only where the run shows it. What no number and no event says is absent, with the reason. Limits are
 * those of the specification and stand in the tables below; questions to the journal are in checklist_journal.c. */
#include "judge/internal.h"

#include <string.h>

/* Beyond this the processor's temperature was not stable: the band that the operating points of two arms have. */
#define TEMPERATURE_BAND_K 5.0
/* The coefficient of variation that the benchmark would rather see. */
#define CV_PREFERRED_PERCENT 2.0

struct ifm_check_item ifm_check_met(const char *found)
{
    return (struct ifm_check_item){.state = IFM_CHECK_MET, .found = found, .remedy = ""};
}

struct ifm_check_item ifm_check_unmet(const char *found, const char *remedy)
{
    return (struct ifm_check_item){.state = IFM_CHECK_NOT_MET, .found = found, .remedy = remedy};
}

struct ifm_check_item ifm_check_absent(const char *found, const char *remedy)
{
    return (struct ifm_check_item){.state = IFM_CHECK_ABSENT, .found = found, .remedy = remedy};
}

bool ifm_checks_cell(const struct ifm_checking *c, const struct ifm_cell *cell)
{
    bool supported = cell->unsupported == NULL || cell->unsupported[0] == '\0';
    return supported && (c->workload == NULL || strcmp(cell->workload, c->workload) == 0);
}

bool ifm_checks_arm(const struct ifm_arm *arm)
{
    return arm->role != IFM_ROLE_CEILING;
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

const struct ifm_value *ifm_check_value(const struct ifm_checking *c, const char *cell, const char *arm,
                                        enum ifm_metric_id metric)
{
    return ifm_derived_value(c->derived, cell, arm, metric);
}

bool ifm_check_is_ok(const struct ifm_value *value)
{
    return value != NULL && value->state == IFM_STATE_OK;
}

/* The greatest or the least of `metric`, times `factor` unless that is IFM_M_NONE. */
static struct extreme extreme_of(const struct ifm_checking *c, enum ifm_metric_id metric, enum ifm_metric_id factor,
                                 bool greatest)
{
    struct extreme worst = {0};
    for (size_t k = 0; k < c->plan->n_cells; k++) {
        const struct ifm_cell *cell = &c->plan->cells[k];
        for (size_t a = 0; ifm_checks_cell(c, cell) && a < cell->n_arms; a++) {
            const char *arm = cell->arms[a].name;
            if (!ifm_checks_arm(&cell->arms[a]))
                continue;
            const struct ifm_value *value = ifm_check_value(c, cell->name, arm, metric);
            const struct ifm_value *times = factor == IFM_M_NONE ? value : ifm_check_value(c, cell->name, arm, factor);
            worst.n_arms++;
            if (!ifm_check_is_ok(value) || !ifm_check_is_ok(times)) {
                if (worst.lacking_arm == NULL) {
                    worst.lacking_cell = cell->name;
                    worst.lacking_arm = arm;
                    worst.lacking = ifm_check_is_ok(value) ? times : value;
                }
                continue;
            }
            double number = value->number * (factor == IFM_M_NONE ? 1.0 : times->number);
            if (worst.n++ == 0 || (greatest ? number > worst.number : number < worst.number)) {
                worst.number = number;
                worst.unit = value->unit;
                worst.cell = cell->name;
                worst.arm = arm;
            }
        }
    }
    return worst;
}

static struct ifm_check_item no_arms(void)
{
    return ifm_check_absent("the run measures no arm but ceilings", "measure a workload");
}

/* An arm of which the number, by its words, is not known, so that the point is not either. */
static struct ifm_check_item lacks(const struct ifm_checking *c, const struct extreme *worst, const char *words)
{
    const struct ifm_value *value = worst->lacking;
    const char *reason = value == NULL || value->reason[0] == '\0' ? "it was not measured" : value->reason;
    const char *remedy = value == NULL ? "" : value->remedy;
    return ifm_check_absent(
        ifm_arena_printf(c->arena, "no %s of %s of %s: %s", words, worst->lacking_arm, worst->lacking_cell, reason),
        remedy[0] == '\0' ? "measure the cell again" : remedy);
}

/* ---- questions to numbers ---- */

static struct ifm_check_item answer_variation(const struct ifm_checking *c, double limit)
{
    struct extreme worst = extreme_of(c, IFM_M_LATENCY_CV_PERCENT, IFM_M_NONE, true);
    if (worst.n_arms == 0)
        return no_arms();
    if (worst.n > 0 && worst.number > limit)
        return ifm_check_unmet(
            ifm_arena_printf(c->arena, "up to %.3g %% (%s of %s)", worst.number, worst.arm, worst.cell),
            "a quieter machine, a longer --warmup, or more steps in a sample (--inner)");
    if (worst.n < worst.n_arms)
        return lacks(c, &worst, "coefficient of variation");
    return ifm_check_met(
        ifm_arena_printf(c->arena, "at most %.3g %% (%s of %s), %s the preferred %.3g %%", worst.number, worst.arm,
                         worst.cell, worst.number > CV_PREFERRED_PERCENT ? "above" : "within", CV_PREFERRED_PERCENT));
}

static struct ifm_check_item answer_repeats(const struct ifm_checking *c, double limit)
{
    struct extreme worst = extreme_of(c, IFM_M_SAMPLES_COUNT, IFM_M_NONE, false);
    if (worst.n_arms == 0)
        return no_arms();
    if (worst.n > 0 && worst.number < limit)
        return ifm_check_unmet(
            ifm_arena_printf(c->arena, "only %.0f samples (%s of %s)", worst.number, worst.arm, worst.cell),
            ifm_arena_printf(c->arena, "--repeats %.0f", limit));
    if (worst.n < worst.n_arms)
        return lacks(c, &worst, "number of samples");
    return ifm_check_met(
        ifm_arena_printf(c->arena, "at least %.0f samples (%s of %s)", worst.number, worst.arm, worst.cell));
}

/* The cell's warm-up asked for enough steps, and its cap cut them off? Then more steps alone do not help. */
static bool was_capped(const struct ifm_checking *c, const char *cell, double limit)
{
    for (size_t k = 0; k < c->plan->n_cells; k++)
        if (strcmp(c->plan->cells[k].name, cell) == 0)
            return (double)c->plan->cells[k].measure.warmup >= limit;
    return false;
}

static struct ifm_check_item answer_warmup(const struct ifm_checking *c, double limit)
{
    struct extreme worst = extreme_of(c, IFM_M_WARMUP_SAMPLES, IFM_M_INNER_STEPS, false);
    if (worst.n_arms == 0)
        return no_arms();
    if (worst.n > 0 && worst.number < limit)
        return ifm_check_unmet(
            ifm_arena_printf(c->arena, "only %.0f steps (%s of %s)", worst.number, worst.arm, worst.cell),
            was_capped(c, worst.cell, limit) ? "a longer --warmup-cap: it ended the warm-up"
                                             : ifm_arena_printf(c->arena, "--warmup %.0f", limit));
    if (worst.n < worst.n_arms)
        return lacks(c, &worst, "number of warm-up samples");
    return ifm_check_met(
        ifm_arena_printf(c->arena, "at least %.0f steps (%s of %s)", worst.number, worst.arm, worst.cell));
}

/* Why no instrument read a temperature, as the journal says. */
static struct ifm_check_item answer_temperature(const struct ifm_checking *c, double limit)
{
    struct extreme worst = extreme_of(c, IFM_M_TEMPERATURE_RANGE_K, IFM_M_NONE, true);
    const struct ifm_event_column_absent *absent = NULL;
    IFM_EACH(event, c->events, column_absent, NULL, NULL)
        if (strcmp(IFM_FACTS(event, column_absent)->column, "temperature_mc") == 0)
            absent = IFM_FACTS(event, column_absent);
    if (worst.n > 0 && worst.number > limit)
        return ifm_check_unmet(
            ifm_arena_printf(c->arena, "moved by %.2g K (%s of %s)", worst.number, worst.arm, worst.cell),
            "a longer --warmup, or better cooling");
    if (worst.n == 0)
        return absent != NULL ? ifm_check_absent(absent->reason, absent->remedy)
                              : ifm_check_absent("no instrument of this run reads a temperature",
                                                 "measure on bare metal, with a sensor that the kernel shows");
    if (worst.n < worst.n_arms)
        return lacks(c, &worst, "temperature");
    return ifm_check_met(
        ifm_arena_printf(c->arena, "moved by at most %.2g K (%s of %s)", worst.number, worst.arm, worst.cell));
}

/* The throughput of an arm: of the tokens that it makes, else of those that it reads, else of rows. NULL: it has none.
 */
static enum ifm_metric_id throughput_of(const struct ifm_checking *c, const char *cell, const char *arm)
{
    static const enum ifm_metric_id metrics[] = {IFM_M_TOKENS_GENERATED_PER_S, IFM_M_TOKENS_PROMPT_PER_S,
                                                 IFM_M_ROWS_PER_S};
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
        if (ifm_check_value(c, cell, arm, metrics[i]) != NULL)
            return metrics[i];
    return IFM_M_NONE;
}

static struct ifm_check_item answer_latency(const struct ifm_checking *c, double limit)
{
    static const enum ifm_metric_id latencies[] = {IFM_M_LATENCY_NS_MEAN, IFM_M_LATENCY_NS_P50, IFM_M_LATENCY_NS_P95};
    (void)limit;
    for (size_t i = 0; i < sizeof latencies / sizeof latencies[0]; i++) {
        struct extreme seen = extreme_of(c, latencies[i], IFM_M_NONE, true);
        if (seen.n_arms == 0)
            return no_arms();
        if (seen.n < seen.n_arms) {
            struct ifm_check_item item = lacks(c, &seen, ifm_metrics[latencies[i]].id);
            bool has_remedy = seen.lacking != NULL && seen.lacking->remedy[0] != '\0';
            bool few = !has_remedy && (seen.n > 0 || seen.lacking != NULL);
            return ifm_check_unmet(item.found, few ? "more samples (--repeats)" : item.remedy);
        }
    }
    size_t n = 0;
    for (size_t k = 0; k < c->plan->n_cells; k++) {
        const struct ifm_cell *cell = &c->plan->cells[k];
        for (size_t a = 0; ifm_checks_cell(c, cell) && a < cell->n_arms; a++) {
            const char *arm = cell->arms[a].name;
            if (!ifm_checks_arm(&cell->arms[a]))
                continue;
            enum ifm_metric_id metric = throughput_of(c, cell->name, arm);
            if (metric == IFM_M_NONE)
                return ifm_check_absent(
                    ifm_arena_printf(c->arena, "a step of %s of %s makes nothing that is counted", arm, cell->name),
                    "measure a workload with tokens or rows");
            const struct ifm_value *value = ifm_check_value(c, cell->name, arm, metric);
            if (!ifm_check_is_ok(value))
                return ifm_check_unmet(ifm_arena_printf(c->arena, "no %s of %s of %s: %s", ifm_metrics[metric].id, arm,
                                                        cell->name, value->reason),
                                       value->remedy[0] == '\0' ? "measure the cell again" : value->remedy);
            n++;
        }
    }
    return ifm_check_met(
        ifm_arena_printf(c->arena, "mean, median, 95th percentile and throughput of %zu arm%s", n, n == 1 ? "" : "s"));
}

struct ifm_check_item ifm_check_instrument(const struct ifm_checking *c, enum ifm_metric_id metric, const char *what,
                                           const char *remedy)
{
    struct extreme seen = extreme_of(c, metric, IFM_M_NONE, true);
    if (seen.n_arms == 0)
        return no_arms();
    if (seen.n == seen.n_arms)
        return ifm_check_met(ifm_arena_printf(c->arena, "of %zu arm%s; at most %.3g%s%s (%s of %s)", seen.n,
                                              seen.n == 1 ? "" : "s", seen.number,
                                              seen.unit == NULL || seen.unit[0] == '\0' ? "" : " ",
                                              seen.unit == NULL ? "" : seen.unit, seen.arm, seen.cell));
    if (seen.n == 0)
        return ifm_check_absent(ifm_arena_printf(c->arena, "no instrument of this run %s", what), remedy);
    return lacks(c, &seen, ifm_metrics[metric].id);
}

static struct ifm_check_item answer_l2(const struct ifm_checking *c, double limit)
{
    (void)limit;
    return ifm_check_instrument(c, IFM_M_L2_HIT_PERCENT, "counts hits of the second-level cache",
                                "measure where one does: processor counters, or the profiler of a GPU");
}

/* Every cell compares something, and each comparison has an interval and an effect size. */
static struct ifm_check_item answer_compared(const struct ifm_checking *c, double limit)
{
    size_t n = 0;
    (void)limit;
    for (size_t k = 0; k < c->plan->n_cells; k++) {
        const struct ifm_cell *cell = &c->plan->cells[k];
        size_t arms = 0, before = n;
        for (size_t a = 0; ifm_checks_cell(c, cell) && a < cell->n_arms; a++) {
            const char *arm = cell->arms[a].name;
            arms += ifm_checks_arm(&cell->arms[a]);
            if (cell->arms[a].role != IFM_ROLE_VARIANT)
                continue;
            const struct ifm_value *change = ifm_check_value(c, cell->name, arm, IFM_M_CHANGE_PERCENT);
            const struct ifm_value *effect = ifm_check_value(c, cell->name, arm, IFM_M_HEDGES_G);
            const struct ifm_value *worse = ifm_check_is_ok(change) ? effect : change;
            if (!ifm_check_is_ok(change) || !ifm_check_is_ok(effect))
                return ifm_check_unmet(ifm_arena_printf(c->arena, "%s of %s has no %s: %s", arm, cell->name,
                                                        ifm_check_is_ok(change) ? "effect size" : "comparison",
                                                        worse == NULL ? "it was not compared" : worse->reason),
                                       worse == NULL || worse->remedy[0] == '\0' ? "measure the cell again"
                                                                                 : worse->remedy);
            if (!change->has_interval)
                return ifm_check_unmet(ifm_arena_printf(c->arena, "the change of %s of %s has no interval: %s", arm,
                                                        cell->name, change->text),
                                       "more blocks (--repeats, or a longer --cap)");
            n++;
        }
        if (arms > 0 && n == before)
            return ifm_check_unmet(ifm_arena_printf(c->arena, "%s compares nothing", cell->name),
                                   "give the cell a baseline and an arm beside it (arms)");
    }
    return n == 0 ? no_arms()
                  : ifm_check_met(ifm_arena_printf(
                        c->arena, "%zu comparison%s, block by block, each with its interval and Hedges' g", n,
                        n == 1 ? "" : "s"));
}

/* ... and the baseline is the cache as it is without compression. */
static struct ifm_check_item answer_uncompressed(const struct ifm_checking *c, double limit)
{
    for (size_t k = 0; k < c->plan->n_cells; k++) {
        const struct ifm_cell *cell = &c->plan->cells[k];
        for (size_t a = 0; ifm_checks_cell(c, cell) && a < cell->n_arms; a++)
            if (cell->arms[a].role == IFM_ROLE_BASELINE && cell->arms[a].stored < cell->arms[a].stored_plain)
                return ifm_check_unmet(ifm_arena_printf(c->arena, "the baseline %s of %s is compressed itself",
                                                        cell->arms[a].name, cell->name),
                                       "let compress begin with 1");
    }
    return answer_compared(c, limit);
}

static struct ifm_check_item answer_repeatable(const struct ifm_checking *c, double limit)
{
    (void)c;
    (void)limit;
    return ifm_check_absent("one run cannot show it", "measure twice, then `inferometer compare A B`");
}

/* ---- the lists ---- */

struct question {
    const char *asks;
    ifm_answer_fn *answer;
    double limit;
};

static ifm_answer_fn answer_environment;

static const struct question environment[] = {
    {"GPU locked: persistence mode, application clocks, power cap", ifm_answer_gpu, 0},
    {"processor's clocks locked, as read back before and after", ifm_answer_locks, 0},
    {"versions of kernel, compiler and libraries recorded", ifm_answer_versions, 0},
    {"at least 50 warm-up steps of each arm", answer_warmup, 50},
    {"each arm steady when its warm-up ended", ifm_answer_steady, 0},
    {"temperature stable within 5 K", answer_temperature, TEMPERATURE_BAND_K},
    {"random numbers by seed, and the same output before and after", ifm_answer_seed, 0},
    {"no background load: at most 0.1 foreign tasks for each CPU", ifm_answer_load, IFM_LOADED},
    {"inputs fixed: one configuration, the same work in compared arms", ifm_answer_inputs, 0},
    {NULL, NULL, 0},
};

static const struct question final[] = {
    {"environment locked: every point of the list above", answer_environment, 0},
    {"fingerprint of the machine captured", ifm_answer_fingerprint, 0},
    {"at least 50 warm-up steps of each arm", answer_warmup, 50},
    {"at least 1000 measured samples of each arm", answer_repeats, 1000},
    {"latency and throughput recorded", answer_latency, 0},
    {"hits of the second-level cache captured", answer_l2, 0},
    {"energy for each token computed", ifm_answer_energy, 0},
    {"compared with a baseline, with interval and effect size", answer_compared, 0},
    {"record and reports whole, stored and versioned", ifm_answer_stored, 0},
    {NULL, NULL, 0},
};

static const struct question elastic[] = {
    {"coefficient of variation at most 5 %, better 2 %", answer_variation, 5},
    {"at least 100 measured samples of each arm", answer_repeats, 100},
    {"at least 20 warm-up steps of each arm", answer_warmup, 20},
    {"compared with the uncompressed baseline in the same blocks", answer_uncompressed, 0},
    {"temperature stable within 5 K", answer_temperature, TEMPERATURE_BAND_K},
    {"repeatable across runs", answer_repeatable, 0},
    {NULL, NULL, 0},
};

static struct ifm_checklist answered(const struct ifm_checking *c, const char *id, const char *title,
                                     const struct question *questions)
{
    struct ifm_checklist list = {.id = id, .title = title};
    size_t n = 0;
    while (questions[n].asks != NULL)
        n++;
    list.items = IFM_ARENA_ARRAY(c->arena, struct ifm_check_item, n + 1);
    for (size_t i = 0; i < n; i++) {
        list.items[i] = questions[i].answer(c, questions[i].limit);
        list.items[i].asks = questions[i].asks;
        list.n_met += list.items[i].state == IFM_CHECK_MET;
    }
    list.n_items = n;
    return list;
}

/* What one list says as a whole: a point that is not met outweighs one that cannot be known. */
static struct ifm_check_item answer_environment(const struct ifm_checking *c, double limit)
{
    struct ifm_checklist list = answered(c, "", "", environment);
    const struct ifm_check_item *worst = NULL;
    (void)limit;
    for (size_t i = 0; i < list.n_items; i++)
        if (list.items[i].state != IFM_CHECK_MET &&
            (worst == NULL || (worst->state == IFM_CHECK_ABSENT && list.items[i].state == IFM_CHECK_NOT_MET)))
            worst = &list.items[i];
    const char *found = ifm_arena_printf(c->arena, "%zu of %zu points are met%s%s", list.n_met, list.n_items,
                                         worst == NULL                       ? ""
                                         : worst->state == IFM_CHECK_NOT_MET ? "; not met: "
                                                                             : "; not known here: ",
                                         worst == NULL ? "" : worst->asks);
    if (worst == NULL)
        return ifm_check_met(found);
    return worst->state == IFM_CHECK_NOT_MET ? ifm_check_unmet(found, worst->remedy)
                                             : ifm_check_absent(found, worst->remedy);
}

static bool runs(const struct ifm_plan *plan, const char *workload)
{
    for (size_t c = 0; c < plan->n_cells; c++)
        if (strcmp(plan->cells[c].workload, workload) == 0)
            return true;
    return false;
}

enum ifm_status ifm_checklists(const struct ifm_plan *plan, const struct ifm_derived *derived,
                               const struct ifm_verdict *verdict, const struct ifm_events *events,
                               struct ifm_arena *arena, struct ifm_checklist **out, size_t *n, struct ifm_error *error)
{
    *out = IFM_ARENA_ARRAY(arena, struct ifm_checklist, 3);
    *n = 0;
    if (plan == NULL || derived == NULL || verdict == NULL)
        return ifm_fail(error, IFM_INTERNAL, "checklists", NULL, "there is no plan, no number or no verdict to ask");
    struct ifm_checking c = {.plan = plan, .derived = derived, .events = events, .arena = arena};
    c.verdict = verdict;
    (*out)[(*n)++] = answered(&c, "sop-environment", "Environment lock", environment);
    (*out)[(*n)++] = answered(&c, "sop-final", "Final checklist", final);
    if (!runs(plan, "decode"))
        return IFM_OK;
    c.workload = "decode";
    (*out)[(*n)++] = answered(&c, "elastic-kv", "Validation checklist", elastic);
    return IFM_OK;
}
