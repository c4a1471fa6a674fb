/* The checklists of the specification: what each list asks, with its limits.
 *
 * A point is met only where the run shows it. What no number and no event says is absent, with the reason. */
#include "judge/internal.h"

#include <string.h>

/* Beyond this the processor's temperature was not stable: the band that the operating points of two arms have. */
#define TEMPERATURE_BAND_K 5.0

struct question {
    const char *asks, *brief; /* `brief`: as another list names the point */
    ifm_answer_fn *answer;
    double limit;
};

static ifm_answer_fn answer_environment;

static const struct question environment[] = {
    {"GPU locked: persistence mode, application clocks, power cap", "GPU", ifm_answer_gpu, 0},
    {"processor's clocks locked, as read back before and after", "clocks", ifm_answer_locks, 0},
    {"versions of kernel, compiler and libraries recorded", "versions", ifm_answer_versions, 0},
    {"at least 50 warm-up steps of each arm", "warm-up", ifm_answer_warmup, 50},
    {"each arm steady when its warm-up ended", "steadiness", ifm_answer_steady, 0},
    {"temperature stable within 5 K", "temperature", ifm_answer_temperature, TEMPERATURE_BAND_K},
    {"random numbers by seed, and the same output before and after", "seed and output", ifm_answer_seed, 0},
    {"no background load: other programs take at most 10 % of each CPU", "load", ifm_answer_load, IFM_LOADED},
    {"inputs fixed: one configuration, the same work in compared arms", "inputs", ifm_answer_inputs, 0},
    {NULL, NULL, NULL, 0},
};

static const struct question final[] = {
    {"environment locked: every point of the list above", "", answer_environment, 0},
    {"fingerprint of the machine captured", "", ifm_answer_fingerprint, 0},
    {"at least 50 warm-up steps of each arm", "", ifm_answer_warmup, 50},
    {"at least 1000 measured samples of each arm", "", ifm_answer_repeats, 1000},
    {"latency and throughput recorded", "", ifm_answer_latency, 0},
    {"hits of the second-level cache captured", "", ifm_answer_l2, 0},
    {"energy for each token computed", "", ifm_answer_energy, 0},
    {"compared with a baseline, with interval and effect size", "", ifm_answer_compared, 0},
    {"record and reports whole, stored and versioned", "", ifm_answer_stored, 0},
    {NULL, NULL, NULL, 0},
};

static const struct question elastic[] = {
    {"coefficient of variation at most 5 %, better 2 %", "", ifm_answer_variation, 5},
    {"at least 100 measured samples of each arm", "", ifm_answer_repeats, 100},
    {"at least 20 warm-up steps of each arm", "", ifm_answer_warmup, 20},
    {"compared with the uncompressed baseline in the same blocks", "", ifm_answer_uncompressed, 0},
    {"temperature stable within 5 K", "", ifm_answer_temperature, TEMPERATURE_BAND_K},
    {"repeatable across runs", "", ifm_answer_repeatable, 0},
    {NULL, NULL, NULL, 0},
};

/* The arms that "each arm" means: all but probes of ceilings. */
static const char *arms_of(const struct ifm_checking *c)
{
    size_t n = 0;
    for (struct ifm_check_place at = {0}; ifm_checks_next(c, &at);)
        n++;
    return ifm_arena_printf(c->arena, "%zu arm%s%s%s", n, n == 1 ? "" : "s", c->workload == NULL ? "" : " of ",
                            c->workload == NULL ? "" : c->workload);
}

static struct ifm_checklist answered(const struct ifm_checking *c, const char *id, const char *title,
                                     const struct question *questions)
{
    struct ifm_checklist list = {.id = id, .title = title, .arms = arms_of(c)};
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

/* "clocks, load": the points of a list in this state. */
static const char *names_of(const struct ifm_checking *c, const struct ifm_checklist *list,
                            const struct question *questions, enum ifm_check_state state)
{
    const char *names = "";
    for (size_t i = 0; i < list->n_items; i++)
        if (list->items[i].state == state)
            names = ifm_arena_printf(c->arena, "%s%s%s", names, names[0] == '\0' ? "" : ", ", questions[i].brief);
    return names;
}

/* What one list says as a whole: a point that is not met outweighs one that cannot be known, and each is named. */
static struct ifm_check_item answer_environment(const struct ifm_checking *c)
{
    struct ifm_checklist list = answered(c, "", "", environment);
    const struct ifm_check_item *open = NULL;
    for (size_t i = 0; i < list.n_items; i++)
        open = list.items[i].state == IFM_CHECK_MET ? open : &list.items[i];
    struct ifm_check_item whole = ifm_check_met(c, "%zu of %zu points are met", list.n_met, list.n_items);
    if (open == NULL)
        return whole;
    const char *unmet = names_of(c, &list, environment, IFM_CHECK_NOT_MET),
               *unknown = names_of(c, &list, environment, IFM_CHECK_ABSENT);
    const char *remedy = list.n_met + 1 == list.n_items ? open->remedy : "each point's own, above";
    return ifm_check_found(c, unmet[0] != '\0' ? IFM_CHECK_NOT_MET : IFM_CHECK_ABSENT, remedy, "%s%s%s%s%s",
                           whole.found, unmet[0] == '\0' ? "" : "; not met: ", unmet,
                           unknown[0] == '\0' ? "" : "; not known here: ", unknown);
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
