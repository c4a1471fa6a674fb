/* Remedies: one for each cause that has its own, one for each rule, and the load of the machine. */
#include "document/remedy.h"

#include "document/build.h"
#include "model/longer.h"
#include "model/machine_facts.h"
#include "stats/paired.h"
#include <math.h>
#include <string.h>

const char *ifm_remedy_in(const struct ifm_remedy *remedy, const struct ifm_publication *from)
{
    const struct ifm_plan *plan = from->plan;
    const bool session = plan->n_cells > 0 && strcmp(plan->cells[0].workload, "session") == 0;
    const char *text = session && remedy->session != NULL ? remedy->session : remedy->command;
    return remedy->otherwise == NULL || ifm_lock_is_possible(from->events) ? text : remedy->otherwise;
}

/* Of the cells; 0 where a GPU computes. */
static unsigned most_threads(const struct ifm_plan *plan)
{
    unsigned threads = 0;
    for (size_t i = 0; i < plan->n_cells && strcmp(plan->device, "cuda") != 0; i++)
        if (strcmp(plan->cells[i].workload, "command") != 0 && strcmp(plan->cells[i].workload, "session") != 0)
            threads = plan->cells[i].threads > threads ? plan->cells[i].threads : threads;
    return threads;
}

/* A baseline that the machine would let be faster; more threads are no remedy where all CPUs work, or a GPU does. */
static const char *remedy_of_weakness(const struct ifm_weakness *weak, const struct ifm_publication *from)
{
    const int64_t cpus = ifm_fingerprint_of(from->events).cpus_allowed, threads = most_threads(from->plan);
    const bool all = threads == 0 || (cpus > 0 && threads >= cpus);
    if (weak->left != NULL)
        return all ? "count on no more than is left at its ceiling"
                   : "count on no more than is left at its ceiling, or take more --threads";
    return all ? "a faster baseline" : "a faster baseline, such as with more --threads";
}

/* Against other work, the first that may still help: to end it or to wait, to leave it a CPU, to go elsewhere. */
static const char *remedy_of_load(const struct ifm_publication *from, struct ifm_arena *arena)
{
    static const struct ifm_remedy quiet = {"", "end other work, or add --wait-quiet 10min",
                                            "end other work, and measure again", NULL};
    const unsigned threads = most_threads(from->plan), fewer = ifm_fewer_threads(from->events, threads);
    const bool in_vain = ifm_waited_in_vain(from->events);
    if (fewer > 0)
        return ifm_arena_printf(arena, "%s--threads %u, which leaves other work its CPU%s",
                                in_vain ? "" : "end other work, or ", fewer, threads - fewer == 1 ? "" : "s");
    const char *after = ifm_remedy_after_wait(from->events, arena);
    return in_vain         ? "other work takes its time here: measure on a machine of your own"
           : after != NULL ? after
                           : ifm_remedy_in(&quiet, from);
}

/* Its load was read each time, and was none: what could not be read is negative, and known of nobody. */
static bool is_known_quiet(const struct ifm_events *events)
{
    bool any = false;
    if (events == NULL)
        return false;
    IFM_EACH(event, events, load, NULL, NULL) {
        const double load = IFM_FACTS(event, load)->foreign_load;
        if (!(load >= 0 && load <= IFM_LOADED))
            return false;
        any = true;
    }
    return any;
}

static const char *reason_of(const struct ifm_publication *from, const struct ifm_cell *cell)
{
    const struct ifm_event_stop *stop =
        cell == NULL || from->events == NULL ? NULL : IFM_LAST(from->events, stop, cell->name, NULL);
    return stop == NULL ? "" : stop->reason;
}

const char *ifm_remedy_of_few(const struct ifm_publication *from, const char *name)
{
    static const struct ifm_remedy repeats = {"", "a larger --repeats", "a larger measure.repeats", NULL},
                                   longer = {"", "a longer --cap", "a longer measure.cap", NULL},
                                   most = {"", "a larger measure.blocks_max", NULL, NULL};
    const struct ifm_cell *cell = ifm_plan_cell(from->plan, name);
    const bool counted = cell != NULL && ifm_repeats_ended(cell, from->events);
    return ifm_remedy_in(strcmp(reason_of(from, cell), "blocks_max") == 0 ? &most : counted ? &repeats : &longer, from);
}

const char *ifm_remedy_more_blocks(const struct ifm_publication *from, const char *name, struct ifm_arena *arena)
{
    static const double ROOM = 1.25; /* blocks of a time are not all as long */
    const struct ifm_cell *cell = ifm_plan_cell(from->plan, name);
    const struct ifm_event_stop *stop =
        cell == NULL || from->events == NULL ? NULL : IFM_LAST(from->events, stop, cell->name, NULL);
    const char *typed = "";
    if (stop != NULL && stop->blocks > 0 && stop->blocks < IFM_BLOCKS_NEEDED)
        typed = ifm_longer(cell, from->events,
                           (strcmp(stop->reason, "repeats") == 0 ? 1 : ROOM) * (double)IFM_BLOCKS_NEEDED /
                               (double)stop->blocks,
                           arena);
    return typed[0] != '\0' ? typed
                            : ifm_arena_printf(arena, "measure more blocks, with %s", ifm_remedy_of_few(from, name));
}

static bool has_programs(const struct ifm_plan *plan)
{
    return plan->n_cells > 0 && ifm_cell_counts_programs(plan->cells);
}

/* What most often helps against what a rule found. */
static const char *remedy_of(const char *rule, const struct ifm_publication *from, struct ifm_arena *arena)
{
    static const struct ifm_remedy remedies[] = {
        {"rule-01", "measure again", NULL, NULL},
        {"rule-03", "see rates beside their ceilings: --verbose", "see rates in the report", NULL},
        {"rule-04", "measure again into a new folder", NULL, NULL},
        {"rule-05", "see what each sensor can do: inferometer power", NULL, NULL},
        {"rule-08", "lock the clocks: inferometer lock", NULL,
         "clocks cannot be locked here: compare arms of one run, and on bare metal others"},
        {"rule-10", "compare the output with the baseline's before the speed", NULL, NULL},
        {"rule-11", "see why the feature did not run: --verbose", "see why the feature did not run, in the report",
         NULL},
        {"rule-12", "find what the output depends on before the speed", NULL, NULL},
    };
    if (strcmp(rule, "rule-03") == 0 && ifm_was_loaded(from->events)) /* which starves the probe of a ceiling */
        return remedy_of_load(from, arena);
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (strcmp(rule, remedies[i].of) == 0)
            return ifm_remedy_in(&remedies[i], from);
    if (strcmp(rule, "rule-07") == 0 && is_known_quiet(from->events))
        return "measure at another hour or on another machine: no other program was seen, so there is none to end";
    const bool of_load = strcmp(rule, "rule-02") == 0 || strcmp(rule, "rule-07") == 0;
    return of_load ? remedy_of_load(from, arena) : "";
}

/* What the kind of the finding asks for; else what most often helps against what the rule finds. Whoever quiets the
 * machine against what lies in an arm does so in vain. */
static const char *usual_remedy(const char *cause, const char *rule, const struct ifm_finding *finding,
                                const struct ifm_publication *from, struct ifm_arena *arena)
{
    static const struct ifm_remedy remedies[] = {
        [IFM_FINDING_WARM_UP] = {"", "warm up for longer: --warmup-cap", "warm up for longer: measure.warmup_cap",
                                 NULL},
        [IFM_FINDING_CACHES] = {"", "a shape that the caches do not hold either way", NULL, NULL},
        [IFM_FINDING_UNSTEADY] = {"", "warm up for longer: --warmup-cap", "a longer measure.warmup_cap", NULL},
        [IFM_FINDING_RATIO_DRIFTS] = {"", "run it again; if it drifts again, see what changes in one arm alone", NULL,
                                      NULL},
        [IFM_FINDING_TIME_CHANGES] = {"", "lock the clocks (inferometer lock), or see what changes in this arm", NULL,
                                      "run it again; if it changes again, see what changes in this arm"},
        [IFM_FINDING_TIME_DRIFTS] = {"", "lock the clocks (inferometer lock), or see what changes in this arm", NULL,
                                     "run it again; if it drifts again, see what changes in this arm"},
        [IFM_FINDING_TYPICAL] = {"", "see its slow samples in the report", NULL, NULL},
        [IFM_FINDING_DISTURBS] =
            {"", "run it again; if that follows this arm again, give it fewer threads or a CPU of its own", NULL, NULL},
        [IFM_FINDING_SHARED_GPU] = {"", "end what else computes on this GPU", NULL, NULL},
        [IFM_FINDING_FEW_WINDOWS] = {"", "measure more windows: --energy-windows",
                                     "measure more windows, with a larger measure.energy_windows", NULL},
        [IFM_FINDING_SHORT_WINDOWS] = {"", "longer windows: --energy-window", "a longer measure.energy_window", NULL},
        [IFM_FINDING_NOTHING_RAN] = {"", "a shape that gives it something to do (of a cache, a longer one)", NULL,
                                     NULL},
        [IFM_FINDING_FAILED_RUNS] = {"", "run the command alone, and see why it fails", NULL, NULL},
    };
    static const struct ifm_remedy machine = {
        "", "lock the clocks (inferometer lock), or run it again on a quieter machine", NULL,
        "run it again, or on a quieter machine"};
    const enum ifm_finding_kind kind = finding == NULL ? IFM_FINDING_OTHER : finding->kind;
    if (strstr(cause, "--") != NULL) /* it names an option itself */
        return "";
    /* What one arm alone surely does lies in it; a run of a program starts anew, so that no warm-up steadies it. */
    const bool moves = kind == IFM_FINDING_TIME_CHANGES || kind == IFM_FINDING_TIME_DRIFTS ||
                       (kind == IFM_FINDING_UNSTEADY && has_programs(from->plan));
    if (moves && !(finding->of_one && kind != IFM_FINDING_UNSTEADY))
        return ifm_remedy_in(&machine, from);
    if (kind == IFM_FINDING_FEW_BLOCKS)
        return ifm_remedy_more_blocks(from, finding->cell, arena);
    if (kind == IFM_FINDING_WEAK_BASELINE)
        return remedy_of_weakness(&finding->weak, from);
    const bool has = (size_t)kind < sizeof remedies / sizeof *remedies && remedies[kind].command != NULL;
    return has ? ifm_remedy_in(&remedies[kind], from) : remedy_of(rule, from, arena);
}

static const char *replaced(const char *text, const char *part, const char *by, struct ifm_arena *arena)
{
    const char *at = strstr(text, part);
    return at == NULL ? text : ifm_arena_printf(arena, "%.*s%s%s", (int)(at - text), text, by, at + strlen(part));
}

/* With the words of programs, and a value that can be typed: twice as long as it was. */
const char *ifm_remedy_for(const char *cause, const char *rule, const struct ifm_finding *finding,
                           const struct ifm_publication *from, struct ifm_arena *arena)
{
    const char *text = usual_remedy(cause, rule, finding, from, arena);
    double warmed_s = 0;
    for (size_t i = 0; i < from->plan->n_cells; i++)
        warmed_s = fmax(warmed_s, from->plan->cells[i].measure.warmup_cap_s);
    if (warmed_s > 0)
        text = replaced(text, "--warmup-cap", ifm_arena_printf(arena, "--warmup-cap %.3gs", 2 * warmed_s), arena);
    return has_programs(from->plan) ? replaced(text, "this arm", "this program", arena) : text;
}

/* Neither count nor cap ended it: a longer one of these would change nothing. */
static const char *longer_by_rule(const struct ifm_publication *from, struct ifm_arena *arena)
{
    const struct ifm_cell *cell = from->plan->n_cells > 0 ? from->plan->cells : NULL;
    const char *reason = reason_of(from, cell);
    return strcmp(reason, "repeats") == 0 || strcmp(reason, "cap") == 0 || reason[0] == '\0'
               ? ""
               : ifm_longer(cell, from->events, 2, arena);
}

const char *ifm_remedy_longer(const struct ifm_publication *from, struct ifm_arena *arena)
{
    const char *by_rule = longer_by_rule(from, arena);
    if (by_rule[0] != '\0')
        return by_rule;
    const struct ifm_measure *measure = from->plan->n_cells > 0 ? &from->plan->cells[0].measure : NULL;
    const bool counts = measure != NULL && measure->stop == IFM_STOP_REPEATS;
    const struct ifm_remedy longer =
        counts ? (struct ifm_remedy){"", "more samples (--repeats)", "more measure.repeats", NULL}
               : (struct ifm_remedy){"", "a longer --cap", "a longer measure.cap", NULL};
    const char *text = ifm_remedy_in(&longer, from);
    if (counts && measure->repeats > 0)
        return ifm_arena_printf(arena, "%s, such as %llu", text, 2 * (unsigned long long)measure->repeats);
    if (measure != NULL && !counts && measure->cap_s > 0)
        return ifm_arena_printf(arena, "%s, such as %.3gs", text, 2 * measure->cap_s);
    return text;
}
