/* Why a comparison is undecided, and what would decide it: one answer for table, word of trust and library. */
#include "judge/internal.h"

#include "model/longer.h"
#include "model/machine_facts.h"
#include "stats/foretell.h"
#include "stats/paired.h"
#include <math.h>
#include <string.h>

/* An inconclusive gate on the comparison, by its interval; NULL = none. */
static const struct ifm_gate_result *open_gate(const struct ifm_verdict *verdict, const char *cell, const char *arm)
{
    for (size_t i = 0; i < verdict->n_gates; i++) {
        const struct ifm_gate_result *result = &verdict->gates[i];
        const enum ifm_metric_id metric = ifm_metric_of(result->gate->metric);
        if (result->outcome == IFM_OUTCOME_INCONCLUSIVE && strcmp(result->cell, cell) == 0 &&
            strcmp(result->arm, arm) == 0 && (metric == IFM_M_CHANGE_PERCENT || metric == IFM_M_SPEEDUP) &&
            ifm_judge_by_interval(result->gate, &result->observed))
            return result;
    }
    return NULL;
}

uint64_t ifm_judge_further(const struct ifm_derived *derived, const struct ifm_verdict *verdict, const char *cell,
                           const char *arm)
{
    const struct ifm_gate_result *gate = open_gate(verdict, cell, arm);
    const struct ifm_value *needed = ifm_derived_value(derived, cell, arm, IFM_M_BLOCKS_NEEDED);
    if (gate != NULL)
        return gate->further;
    return ifm_is_ok(needed) ? (uint64_t)fmax(needed->number - (double)ifm_derived_all_blocks(derived, cell, arm), 1)
                             : 0;
}

bool ifm_judge_margin_is_usual(const struct ifm_cell *cell)
{
    static const double margin = 0.003;
    return fabs(cell->measure.margin - margin) < 1e-12;
}

bool ifm_judge_is_answered(const struct ifm_verdict *verdict, const struct ifm_cell *cell, const char *arm)
{
    for (size_t i = 0; i < verdict->n_gates; i++) {
        const struct ifm_gate_result *result = &verdict->gates[i];
        const enum ifm_metric_id metric = ifm_metric_of(result->gate->metric);
        if (verdict->outcome == IFM_OUTCOME_PASS && result->outcome == IFM_OUTCOME_PASS &&
            strcmp(result->cell, cell->name) == 0 && strcmp(result->arm, arm) == 0 &&
            (metric == IFM_M_CHANGE_PERCENT || metric == IFM_M_SPEEDUP) && ifm_judge_margin_is_usual(cell))
            return true;
    }
    return false;
}

static bool has_limit(const struct ifm_verdict *verdict, const char *cell, const char *arm)
{
    for (size_t i = 0; i < verdict->n_gates; i++)
        if (strcmp(verdict->gates[i].cell, cell) == 0 && strcmp(verdict->gates[i].arm, arm) == 0) {
            const enum ifm_metric_id metric = ifm_metric_of(verdict->gates[i].gate->metric);
            /* the row's word is of the time, and of its interval */
            if ((metric == IFM_M_CHANGE_PERCENT || metric == IFM_M_SPEEDUP) && verdict->gates[i].gate->interval)
                return true;
        }
    return false;
}

bool ifm_judge_asks_processor_alone(const struct ifm_verdict *verdict)
{
    for (size_t i = 0; i < verdict->n_gates; i++)
        if (ifm_metric_of(verdict->gates[i].gate->metric) != IFM_M_CHANGE_CPU_PERCENT)
            return false;
    return verdict->n_gates > 0;
}

bool ifm_judge_limits_alone(const struct ifm_verdict *verdict, const struct ifm_plan *plan)
{
    for (size_t c = 0; c < plan->n_cells; c++) {
        const struct ifm_cell *cell = &plan->cells[c];
        for (size_t a = 0; ifm_cell_baseline(cell) != NULL && a < cell->n_arms; a++)
            if (cell->arms[a].role == IFM_ROLE_VARIANT &&
                (!ifm_judge_margin_is_usual(cell) || !has_limit(verdict, cell->name, cell->arms[a].name)))
                return false;
    }
    return verdict->n_gates > 0;
}

const char *ifm_judge_word(const struct ifm_verdict *verdict, const struct ifm_cell *cell, const char *arm,
                           const struct ifm_value *change)
{
    const char *word = ifm_is_ok(change) ? change->text : "";
    return strcmp(word, "undecided") == 0 && ifm_judge_is_answered(verdict, cell, arm) ? IFM_WITHIN_LIMIT : word;
}

/* ---- how long that takes ---- */

struct ifm_more ifm_judge_more_for(const struct ifm_undecided *of, uint64_t blocks, struct ifm_arena *arena)
{
    const struct ifm_event_stop *stop = of->events == NULL ? NULL : IFM_LAST(of->events, stop, of->cell->name, NULL);
    struct ifm_more more = {.blocks = blocks, .flag = ""};
    if (blocks == 0 || stop == NULL || stop->blocks <= 0 || !(stop->elapsed_s > 0))
        return more;
    more.seconds = stop->elapsed_s * (double)blocks / (double)stop->blocks;
    more.hopeless = more.seconds > IFM_MORE_MOST_S;
    more.flag = more.hopeless ? "" : ifm_longer(of->cell, of->events, 1 + (double)blocks / (double)stop->blocks, arena);
    return more;
}

struct ifm_more ifm_judge_more(const struct ifm_undecided *of, struct ifm_arena *arena)
{
    struct ifm_more more = {.flag = ""};
    const char *cell = of->cell->name;
    const struct ifm_value *change = ifm_derived_value(of->derived, cell, of->arm, IFM_M_CHANGE_PERCENT);
    if (!ifm_is_ok(change))
        return more;
    const int64_t all = ifm_derived_all_blocks(of->derived, cell, of->arm);
    more.disturbed = 2 * change->n <= all && all > change->n;
    more.busy = of->derived->busy;
    more.few = !ifm_derived_foretells(of->derived, cell, of->arm);
    if (more.few)
        return more;
    const struct ifm_more known =
        ifm_judge_more_for(of, ifm_judge_further(of->derived, of->verdict, cell, of->arm), arena);
    more.blocks = known.blocks;
    more.seconds = known.seconds;
    more.hopeless = known.hopeless;
    more.flag = known.flag;
    return more;
}

const char *ifm_more_time(const struct ifm_more *more, struct ifm_arena *arena)
{
    const double s = ifm_longer_rounded(more->seconds), minutes = ceil(more->seconds / 60); /* as --cap is, to 15 min */
    if (more->seconds <= 0)
        return "";
    if (more->seconds < 1)
        return "less than 1 s";
    return s < 900 ? ifm_arena_printf(arena, "%.0f s", s) : ifm_arena_printf(arena, "%.0f min", minutes);
}

const char *ifm_more_words(const struct ifm_more *more, struct ifm_arena *arena)
{
    const unsigned long long n = (unsigned long long)more->blocks;
    const char *blocks = n == 1 ? "block" : "blocks", *time = ifm_more_time(more, arena);
    if (more->blocks == 0 || more->hopeless)
        return "";
    /* told for four of five runs, it is more than most take, and a run with a cap ends when it is decided */
    const char *fewer = strncmp(more->flag, "--cap", 5) == 0 ? " or fewer" : "";
    return time[0] == '\0' ? ifm_arena_printf(arena, "about %llu more %s%s", n, blocks, fewer)
                           : ifm_arena_printf(arena, "about %llu more %s%s (%s)", n, blocks, fewer, time);
}

const char *ifm_judge_takes(const struct ifm_undecided *of, const struct ifm_gate_result *gate, struct ifm_arena *arena)
{
    if (gate->outcome != IFM_OUTCOME_INCONCLUSIVE || gate->further == 0 || !gate->observed.has_interval ||
        of->cell == NULL || strcmp(gate->further_of, "blocks") != 0)
        return "";
    const struct ifm_more more = ifm_judge_more_for(of, gate->further, arena);
    return more.seconds <= 0 ? ""
                             : ifm_arena_printf(arena, ", in %s%s%s", ifm_more_time(&more, arena),
                                                more.flag[0] == '\0' ? "" : ": ", more.flag);
}

const char *ifm_more_tells(const struct ifm_undecided *of, struct ifm_arena *arena)
{
    const struct ifm_value *change =
        of->cell == NULL ? NULL : ifm_derived_value(of->derived, of->cell->name, of->arm, IFM_M_CHANGE_PERCENT);
    const bool known = ifm_is_ok(change);
    const double margin = of->cell == NULL ? 0 : of->cell->measure.margin;
    const char *what = "decide";
    if (of->cell != NULL && open_gate(of->verdict, of->cell->name, of->arm) != NULL)
        what = "decide the gate";
    else if (known && fabs(log1p(change->number / 100)) <= log1p(margin))
        what = ifm_arena_printf(arena, "tell whether equal within %.3g %%", 100 * margin);
    else if (known)
        what = ifm_arena_printf(arena, "tell %s from equal within %.3g %%", change->number > 0 ? "slower" : "faster",
                                100 * margin);
    return ifm_arena_printf(arena, "would probably %s" IFM_IF_NOISE_STAYS, what);
}

/* What others take from a program is not in its processor time, which may be decided where the time is not. */
static const char *by_processor(const struct ifm_undecided *of, struct ifm_arena *arena)
{
    const struct ifm_value *cpu = ifm_derived_value(of->derived, of->cell->name, of->arm, IFM_M_CHANGE_CPU_PERCENT);
    for (size_t i = 0; of->verdict != NULL && i < of->verdict->n_gates; i++)
        if (ifm_metric_of(of->verdict->gates[i].gate->metric) == IFM_M_CHANGE_CPU_PERCENT)
            return ""; /* it is judged already */
    for (size_t a = 0; a < of->cell->n_arms; a++)
        if (of->cell->arms[a].role == IFM_ROLE_BASELINE &&
            ifm_derived_waits(of->derived, of->cell->name, of->cell->arms[a].name))
            return "";
    const struct ifm_gate_result *gate = open_gate(of->verdict, of->cell->name, of->arm);
    const bool of_time = gate != NULL && ifm_metric_of(gate->gate->metric) == IFM_M_CHANGE_PERCENT;
    return ifm_is_ok(cpu) && !ifm_derived_waits(of->derived, of->cell->name, of->arm)
               ? ifm_derived_cpu_decides(of->cell, of->arm, cpu, of_time ? gate->gate : NULL, arena)
               : "";
}

const char *ifm_judge_cpu_side(const struct ifm_undecided *of, struct ifm_arena *arena)
{
    const struct ifm_gate_result *gate = open_gate(of->verdict, of->cell->name, of->arm);
    const struct ifm_value *cpu = ifm_derived_value(of->derived, of->cell->name, of->arm, IFM_M_CHANGE_CPU_PERCENT);
    if (gate == NULL || ifm_metric_of(gate->gate->metric) != IFM_M_CHANGE_PERCENT || by_processor(of, arena)[0] == '\0')
        return "";
    return cpu->low > gate->gate->threshold ? "above the limit" : IFM_WITHIN_LIMIT;
}

const char *ifm_judge_quiet(const struct ifm_undecided *of, struct ifm_arena *arena)
{
    return ifm_arena_printf(arena, "%s%s", ifm_quiet_remedy(of->events, of->cell->workload, of->cell->threads, arena),
                            by_processor(of, arena));
}

/* ---- what is known ---- */

enum { LONG_S = 60 };

/* An undecided change whose interval holds zero; NULL where there is none. */
static const struct ifm_value *around_zero(const struct ifm_undecided *of)
{
    const struct ifm_value *change = ifm_derived_value(of->derived, of->cell->name, of->arm, IFM_M_CHANGE_PERCENT);
    return !ifm_is_ok(change) || !change->has_interval || change->low > 0 || change->high < 0 ||
                   change->n < IFM_BLOCKS_NEEDED || strcmp(change->text, "undecided") != 0
               ? NULL
               : change;
}

/* To two digits. */
static double rounded_up(double percent)
{
    const double unit = pow(10, floor(log10(percent)) - 1);
    return percent > 0 ? ceil(percent / unit - 1e-9) * unit : 0;
}

/* The far end of an interval that holds zero, in percent; 0 where there is none. */
static double far_end(const struct ifm_undecided *of)
{
    const struct ifm_value *change = around_zero(of);
    return change == NULL ? 0 : rounded_up(fmax(-change->low, change->high));
}

/* Do the medians show a difference, or one beyond `far` percent? */
static bool medians_differ(const struct ifm_undecided *of, double far)
{
    const struct ifm_value *median =
        ifm_derived_value(of->derived, of->cell->name, of->arm, IFM_M_CHANGE_PERCENT_MEDIAN);
    return ifm_is_ok(median) &&
           (fabs(median->number) > far || (median->has_interval && (median->low > 0 || median->high < 0)));
}

static const double NEAR_ZERO = 2.0 / 3.0; /* of half the interval: beyond, few more blocks find a difference */

double ifm_judge_no_difference(const struct ifm_undecided *of)
{
    const struct ifm_value *change = ifm_derived_value(of->derived, of->cell->name, of->arm, IFM_M_CHANGE_PERCENT);
    const double far = far_end(of);
    if (far <= 0 || fabs(change->number) > NEAR_ZERO * (change->high - change->low) / 2 || medians_differ(of, far))
        return 0;
    const uint64_t further = ifm_judge_further(of->derived, of->verdict, of->cell->name, of->arm);
    return further > 0 && further <= (uint64_t)change->n ? 0 : far;
}

/* Of two one-sided tests. */
static double level_equal(const struct ifm_value *change)
{
    return 1 - 2 * (1 - change->level);
}

/* Margins in percent; 0 where more of the same run soon tells more, the question is a gate's, or none is that wide. */
struct margins {
    double here;  /* by which this run is equal */
    double again; /* by which a next one of as many blocks probably is: this one's end may be chance */
};

static struct margins equal_within(const struct ifm_undecided *of, const struct ifm_more *more)
{
    const double most = 99;
    const bool soon = more->blocks > 0 && !more->hopeless && more->seconds < LONG_S;
    const struct ifm_value *change = around_zero(of);
    if (change == NULL || soon || open_gate(of->verdict, of->cell->name, of->arm) != NULL)
        return (struct margins){0};
    const double low = log1p(change->low / 100), high = log1p(change->high / 100), /* a margin is of logarithms */
        edge = ifm_stats_foretell_edge((low + high) / 2, (high - low) / 2, (uint64_t)change->n, change->level,
                                       level_equal(change));
    const double here = rounded_up(100 * expm1(fmax(-low, high))), again = rounded_up(100 * expm1(edge));
    return (struct margins){here < most ? here : 0, again < most ? again : 0};
}

const char *ifm_judge_even(const struct ifm_undecided *of, struct ifm_arena *arena)
{
    const struct ifm_value *change =
        of->cell == NULL ? NULL : ifm_derived_value(of->derived, of->cell->name, of->arm, IFM_M_CHANGE_PERCENT);
    const struct ifm_event_stop *stop =
        of->cell == NULL || of->events == NULL ? NULL : IFM_LAST(of->events, stop, of->cell->name, NULL);
    if (!ifm_is_ok(change) || !change->has_interval || stop == NULL)
        return "";
    const double low = log1p(change->low / 100), high = log1p(change->high / 100);
    const uint64_t times = ifm_stats_foretell_even((low + high) / 2, (high - low) / 2, (uint64_t)change->n,
                                                   log1p(of->cell->measure.margin), change->level, level_equal(change));
    return times == 0 || (double)times * stop->elapsed_s > IFM_MORE_MOST_S
               ? ""
               : ifm_longer(of->cell, of->events, (double)times, arena);
}

static const char *equal_words(const struct ifm_undecided *of, const struct ifm_more *more, struct ifm_arena *arena)
{
    const double percent = equal_within(of, more).here;
    return percent > 0 ? ifm_arena_printf(arena, ", though a margin of %.2g %% would call this run equal", percent)
                       : "";
}

const char *ifm_judge_margin_for_next(const struct ifm_undecided *of, struct ifm_arena *arena)
{
    const struct ifm_more more = ifm_judge_more(of, arena);
    const bool session = strcmp(of->cell->workload, "session") == 0;
    const double percent = equal_within(of, &more).again;
    return percent > 0 ? ifm_arena_printf(arena, session ? "measure.margin=%.2g%%" : "--margin %.2g%%", percent) : "";
}

/* ---- the reason ---- */

const char *ifm_judge_at_limit(const struct ifm_undecided *of, struct ifm_arena *arena)
{
    enum { TIMES = 4 };
    const struct ifm_event_stop *stop =
        of->cell == NULL || of->events == NULL ? NULL : IFM_LAST(of->events, stop, of->cell->name, NULL);
    const char *longer =
        stop == NULL || TIMES * stop->elapsed_s > IFM_MORE_MOST_S ? "" : ifm_longer(of->cell, of->events, TIMES, arena);
    return longer[0] == '\0' ? "a quieter machine, or another limit for the gate"
                             : ifm_arena_printf(arena, "%s, which about halves the interval", longer);
}

/* What other work disturbed comes before what the rest of the blocks say. */
const struct ifm_finding *ifm_judge_took(const struct ifm_undecided *of)
{
    const struct ifm_finding *first = NULL;
    for (size_t i = 0; i < of->derived->n_findings; i++) {
        const struct ifm_finding *finding = &of->derived->findings[i];
        if (strcmp(finding->cell, of->cell->name) != 0 || strcmp(finding->arm, of->arm) != 0 || !finding->takes_word)
            continue;
        if (strcmp(finding->rule, "rule-02") == 0)
            return finding;
        first = first == NULL ? finding : first;
    }
    return first;
}

/* Where other work is the cause, to end it comes first: more blocks would be disturbed as these were. */
static const char *projected(const struct ifm_undecided *of, const struct ifm_more *more, const char *blocks,
                             bool gated, struct ifm_arena *arena)
{
    const char *words = ifm_more_words(more, arena), *colon = more->flag[0] == '\0' ? "" : ": ",
               *tells = ifm_more_tells(of, arena);
    blocks = ifm_arena_printf(arena, "%s%s%s", blocks, more->busy && !more->disturbed ? " under load" : "",
                              equal_words(of, more, arena));
    if (more->hopeless)
        return ifm_arena_printf(arena, "undecided after %s: an hour more may not decide%s. Remedy: %s", blocks,
                                gated ? " the gate" : "",
                                more->disturbed || more->busy ? ifm_judge_quiet(of, arena) : "a wider margin");
    if (more->disturbed || more->busy)
        return ifm_arena_printf(arena, "undecided after %s. Remedy: %s; else %s %s%s%s", blocks,
                                ifm_judge_quiet(of, arena), words, tells, colon, more->flag);
    return ifm_arena_printf(arena, "undecided after %s: %s %s%s%s", blocks, words, tells, colon, more->flag);
}

const char *ifm_judge_undecided(const struct ifm_undecided *of, struct ifm_arena *arena)
{
    const char *cell = of->cell->name;
    const struct ifm_value *change = ifm_derived_value(of->derived, cell, of->arm, IFM_M_CHANGE_PERCENT);
    const struct ifm_value *needed = ifm_derived_value(of->derived, cell, of->arm, IFM_M_BLOCKS_NEEDED);
    if (change == NULL || change->state != IFM_STATE_OK || strcmp(change->text, "undecided") != 0 ||
        ifm_judge_is_answered(of->verdict, of->cell, of->arm))
        return "";
    const struct ifm_finding *took = ifm_judge_took(of);
    const char *blocks = ifm_judge_blocks(of->derived, cell, of->arm, arena);
    const struct ifm_more more = ifm_judge_more(of, arena);
    const bool gated = open_gate(of->verdict, cell, of->arm) != NULL;
    if (took != NULL)
        return took->text;
    if (change->n < IFM_BLOCKS_NEEDED)
        return ifm_arena_printf(arena, "undecided: needs %d blocks, has %lld", IFM_BLOCKS_NEEDED, (long long)change->n);
    if (more.blocks > 0)
        return projected(of, &more, blocks, gated, arena);
    const char *reason =
        more.few ? IFM_TOO_FEW_TO_FORETELL
        : gated  ? "the estimate is within its noise of the gate's limit, so that no number of blocks can be foretold"
        : needed != NULL && needed->reason[0] != '\0' ? needed->reason
                                                      : "no number of blocks can be foretold";
    const bool at_limit = gated && !more.few;
    const char *quiet = more.disturbed || more.busy
                            ? ifm_arena_printf(arena, IFM_REMEDY "%s", ifm_judge_quiet(of, arena))
                        : at_limit ? ifm_arena_printf(arena, IFM_REMEDY "%s", ifm_judge_at_limit(of, arena))
                                   : "";
    return ifm_arena_printf(arena, "undecided after %s%s%s: %s%s", blocks,
                            more.busy && !more.disturbed ? " under load" : "", equal_words(of, &more, arena), reason,
                            quiet);
}

const char *ifm_judge_quiet_first(const struct ifm_undecided *of, struct ifm_arena *arena)
{
    const char *quiet = ifm_judge_quiet(of, arena), *own = strstr(ifm_judge_undecided(of, arena), IFM_REMEDY);
    const struct ifm_more more = ifm_judge_more(of, arena);
    if (open_gate(of->verdict, of->cell->name, of->arm) == NULL || more.blocks == 0)
        return quiet;
    if (more.hopeless)
        return ifm_arena_printf(arena, "%s: an hour more may not decide", quiet);
    return own == NULL ? quiet : own + strlen(IFM_REMEDY);
}
