/* The checklists of the specification: what each list asks, with its limits.
 *
 * A point is met only where the run shows it. What no number and no event says is absent, with the reason. */
#include "judge/internal.h"

#include <string.h>

/* Beyond this the processor's temperature was not stable: the band that the operating points of two arms have. */
#define TEMPERATURE_BAND_K 5.0

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
    {"at least 50 warm-up steps of each arm", ifm_answer_warmup, 50},
    {"each arm steady when its warm-up ended", ifm_answer_steady, 0},
    {"temperature stable within 5 K", ifm_answer_temperature, TEMPERATURE_BAND_K},
    {"random numbers by seed, and the same output before and after", ifm_answer_seed, 0},
    {"no background load: at most 0.1 foreign tasks for each CPU", ifm_answer_load, IFM_LOADED},
    {"inputs fixed: one configuration, the same work in compared arms", ifm_answer_inputs, 0},
    {NULL, NULL, 0},
};

static const struct question final[] = {
    {"environment locked: every point of the list above", answer_environment, 0},
    {"fingerprint of the machine captured", ifm_answer_fingerprint, 0},
    {"at least 50 warm-up steps of each arm", ifm_answer_warmup, 50},
    {"at least 1000 measured samples of each arm", ifm_answer_repeats, 1000},
    {"latency and throughput recorded", ifm_answer_latency, 0},
    {"hits of the second-level cache captured", ifm_answer_l2, 0},
    {"energy for each token computed", ifm_answer_energy, 0},
    {"compared with a baseline, with interval and effect size", ifm_answer_compared, 0},
    {"record and reports whole, stored and versioned", ifm_answer_stored, 0},
    {NULL, NULL, 0},
};

static const struct question elastic[] = {
    {"coefficient of variation at most 5 %, better 2 %", ifm_answer_variation, 5},
    {"at least 100 measured samples of each arm", ifm_answer_repeats, 100},
    {"at least 20 warm-up steps of each arm", ifm_answer_warmup, 20},
    {"compared with the uncompressed baseline in the same blocks", ifm_answer_uncompressed, 0},
    {"temperature stable within 5 K", ifm_answer_temperature, TEMPERATURE_BAND_K},
    {"repeatable across runs", ifm_answer_repeatable, 0},
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
        struct ifm_checking asked = *c;
        asked.limit = questions[i].limit;
        list.items[i] = questions[i].answer(&asked);
        list.items[i].asks = questions[i].asks;
        list.n_met += list.items[i].state == IFM_CHECK_MET;
    }
    list.n_items = n;
    return list;
}

/* What one list says as a whole: a point that is not met outweighs one that cannot be known. */
static struct ifm_check_item answer_environment(const struct ifm_checking *c)
{
    struct ifm_checklist list = answered(c, "", "", environment);
    const struct ifm_check_item *worst = NULL;
    for (size_t i = 0; i < list.n_items; i++)
        if (list.items[i].state != IFM_CHECK_MET &&
            (worst == NULL || (worst->state == IFM_CHECK_ABSENT && list.items[i].state == IFM_CHECK_NOT_MET)))
            worst = &list.items[i];
    struct ifm_check_item whole = ifm_check_met(c, "%zu of %zu points are met", list.n_met, list.n_items);
    if (worst == NULL)
        return whole;
    if (worst->state == IFM_CHECK_NOT_MET)
        return ifm_check_unmet(c, worst->remedy, "%s; not met: %s", whole.found, worst->asks);
    return ifm_check_absent(c, worst->remedy, "%s; not known here: %s", whole.found, worst->asks);
}

static bool runs(const struct ifm_plan *plan, const char *workload)
{
    for (size_t c = 0; c < plan->n_cells; c++)
        if (strcmp(plan->cells[c].workload, workload) == 0)
            return true;
    return false;
}

void ifm_checklists(const struct ifm_plan *plan, const struct ifm_derived *derived, const struct ifm_verdict *verdict,
                    const struct ifm_events *events, struct ifm_arena *arena, struct ifm_checklist **out, size_t *n)
{
    struct ifm_checking c = {.plan = plan, .derived = derived, .verdict = verdict, .events = events, .arena = arena};
    *out = IFM_ARENA_ARRAY(arena, struct ifm_checklist, 3);
    *n = 0;
    (*out)[(*n)++] = answered(&c, "sop-environment", "Environment lock", environment);
    (*out)[(*n)++] = answered(&c, "sop-final", "Final checklist", final);
    if (!runs(plan, "decode"))
        return;
    c.workload = "decode";
    (*out)[(*n)++] = answered(&c, "elastic-kv", "Validation checklist", elastic);
}
