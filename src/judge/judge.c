/* Derived numbers + gates -> one verdict.
 *
 * A gate is one result for each cell and arm that it is about. What has no number that may be judged is blocked, with
 * the reason. The verdict is the worst result: fail, then blocked, then inconclusive, which more blocks can still
 * settle. */
#include "judge/internal.h"

#include "stats/paired.h"
#include <string.h>

struct judging {
    const struct ifm_plan *plan;
    const struct ifm_derived *derived;
    struct ifm_arena *arena;
    struct ifm_verdict *verdict;
    size_t gates_capacity, reasons_capacity;
    const char *untrusted; /* why no derived number can be trusted (rule 4); NULL when they can */
};

const char *ifm_outcome_name(enum ifm_outcome outcome)
{
    static const char *const names[] = {"pass", "fail", "inconclusive", "blocked", "not_gated"};
    return names[outcome];
}

const char *ifm_outcome_words(enum ifm_outcome outcome)
{
    return outcome == IFM_OUTCOME_NOT_GATED ? "not gated" : ifm_outcome_name(outcome);
}

static void add_reason(struct judging *j, const char *reason)
{
    struct ifm_verdict *v = j->verdict;
    for (size_t i = 0; i < v->n_reasons; i++)
        if (strcmp(v->reasons[i], reason) == 0)
            return;
    IFM_ARENA_GROW(j->arena, v->reasons, v->n_reasons, j->reasons_capacity);
    v->reasons[v->n_reasons++] = reason;
}

static struct ifm_gate_result *add_result(struct judging *j, const struct ifm_gate *gate, const char *cell,
                                          const char *arm)
{
    struct ifm_verdict *v = j->verdict;
    IFM_ARENA_GROW(j->arena, v->gates, v->n_gates, j->gates_capacity);
    struct ifm_gate_result *result = &v->gates[v->n_gates++];
    *result =
        (struct ifm_gate_result){.gate = gate, .cell = cell, .arm = arm, .outcome = IFM_OUTCOME_BLOCKED, .remedy = ""};
    result->observed = (struct ifm_value){.state = IFM_STATE_ABSENT,
                                          .n_of = "",
                                          .unit = "",
                                          .reason = "there is no such number",
                                          .remedy = "",
                                          .text = ""};
    return result;
}

static void block(struct judging *j, struct ifm_gate_result *result, bool capability, const char *reason)
{
    result->outcome = IFM_OUTCOME_BLOCKED;
    result->missing_capability = capability;
    result->reason = ifm_arena_strdup(j->arena, reason);
}

/* The invalid finding that concerns a cell, or the whole run; NULL when there is none. */
static const struct ifm_finding *invalid_in(const struct ifm_derived *derived, const char *cell)
{
    const struct ifm_finding *own = NULL, *all = NULL;
    while ((own = ifm_derived_finding(derived, cell, own)) != NULL && own->severity != IFM_SEVERITY_INVALID)
        ;
    while ((all = ifm_derived_finding(derived, "", all)) != NULL && all->severity != IFM_SEVERITY_INVALID)
        ;
    return own == NULL || (all != NULL && all < own) ? all : own; /* the first of the list */
}

/* ---- one gate on one number ---- */

/* What completes a cell that was cut short; NULL = it is complete. */
static const char *unfinished(const struct judging *j, const char *name)
{
    const struct ifm_cell *cell = ifm_plan_cell(j->plan, name);
    return cell == NULL || j->derived->unfinished == NULL ? NULL : j->derived->unfinished[cell - j->plan->cells];
}

/* Comparisons of too few blocks have a value but no interval: more of them would give one. */
static bool is_of_few_blocks(const struct ifm_gate *gate, const struct ifm_value *v)
{
    bool compares = ifm_metrics[ifm_metric_of(gate->metric)].kind == IFM_CLASS_COMPARE;
    return v->state == IFM_STATE_OK && !v->has_interval && v->n < IFM_BLOCKS_NEEDED && strcmp(v->n_of, "blocks") == 0 &&
           (compares || ifm_judge_by_interval(gate, v));
}

/* Was a time of the cell measured? Else `*why` its first time is absent; NULL where nobody says. */
static bool is_measured(const struct ifm_derived *derived, const struct ifm_cell *cell, const char **why)
{
    *why = NULL;
    for (size_t a = 0; a <= cell->n_arms;
         a++) { /* the last is the cell itself, which has a time where it has no arms */
        const char *arm = a < cell->n_arms ? cell->arms[a].name : "";
        const struct ifm_value *value = ifm_derived_value(derived, cell->name, arm, IFM_M_STEP_NS);
        if (value != NULL && value->state != IFM_STATE_ABSENT)
            return true;
        if (value != NULL && *why == NULL && value->reason[0] != '\0')
            *why = value->reason;
    }
    return false;
}

/* What an instrument would have given: an arm or a cell without any time lacks more than that. */
static bool lacks_instrument(const struct judging *j, const struct ifm_gate_result *result, const struct ifm_value *v)
{
    const char *why;
    const struct ifm_cell *cell = ifm_plan_cell(j->plan, result->cell);
    const struct ifm_value *time =
        result->arm[0] == '\0' ? NULL : ifm_derived_value(j->derived, result->cell, result->arm, IFM_M_STEP_NS);
    bool timed = cell == NULL || !ifm_is_empty(cell->unsupported) ||
                 (time == NULL ? is_measured(j->derived, cell, &why) : time->state != IFM_STATE_ABSENT);
    return timed && v->state == IFM_STATE_ABSENT && v->n == 0 && v->remedy[0] != '\0';
}

static void decide(struct judging *j, struct ifm_gate_result *result, const struct ifm_value *v)
{
    const struct ifm_gate *gate = result->gate;
    result->observed = *v;
    const char *remedy = unfinished(j, result->cell), *name = ifm_judge_told(gate).name;
    if (remedy != NULL) {
        block(j, result, false, ifm_arena_printf(j->arena, "the cell was cut short; %s", remedy));
        return;
    }
    if (v->state != IFM_STATE_OK) {
        block(j, result, lacks_instrument(j, result, v),
              ifm_arena_printf(j->arena, "%s is %s: %s", name, ifm_state_label(v->state), v->reason));
        result->remedy = v->remedy;
        return;
    }
    if (is_of_few_blocks(gate, v)) {
        result->outcome = IFM_OUTCOME_INCONCLUSIVE;
        result->further = IFM_BLOCKS_NEEDED - (uint64_t)v->n;
        result->further_of = "blocks";
        result->reason =
            ifm_arena_printf(j->arena, "%s is %.3g%s after %lld of the %d blocks that an interval needs", name,
                             v->number, strcmp(v->unit, "%") == 0 ? " %" : "", (long long)v->n, (int)IFM_BLOCKS_NEEDED);
        return;
    }
    if (ifm_judge_by_interval(gate, v) && !v->has_interval) {
        block(j, result, false,
              ifm_arena_printf(j->arena, "%s has no interval%s%s", name, v->text[0] != '\0' ? ": " : "", v->text));
        return;
    }
    if (v->n < (int64_t)gate->least_n) {
        block(j, result, false,
              ifm_arena_printf(j->arena, "%s stands on %lld %s; the gate wants at least %llu", name, (long long)v->n,
                               v->n_of[0] != '\0' ? v->n_of : "observations", (unsigned long long)gate->least_n));
        return;
    }
    ifm_judge_decide(result, v, j->derived, j->arena);
}

/* An effect size decides nothing alone: very repeatable timings make it large for a change that nobody would notice.
 * A gate on one stands only beside a gate on the change or the speed-up of the same arm. */
static bool stands_alone(const struct judging *j, enum ifm_metric_id metric, const char *cell, const char *arm)
{
    if (metric != IFM_M_CLIFFS_DELTA && metric != IFM_M_HEDGES_G && metric != IFM_M_SIGN_FLIP_P)
        return false;
    for (size_t g = 0; g < j->plan->n_gates; g++) {
        const struct ifm_gate *other = &j->plan->gates[g];
        enum ifm_metric_id its = ifm_metric_of(other->metric);
        bool change = its == IFM_M_CHANGE_PERCENT || its == IFM_M_SPEEDUP;
        if (change && (other->cell[0] == '\0' || strcmp(other->cell, cell) == 0) &&
            (other->arm[0] == '\0' || strcmp(other->arm, arm) == 0))
            return false;
    }
    return true;
}

/* ---- what a gate is about ---- */

static const char *unknown_metric(struct judging *j, const char *metric)
{
    const char *nearest = ifm_metric_nearest(metric);
    return nearest == NULL
               ? ifm_arena_printf(j->arena, "there is no metric \"%s\"", metric)
               : ifm_arena_printf(j->arena, "there is no metric \"%s\"; the nearest is \"%s\"", metric, nearest);
}

/* Does any number of this cell, in whatever state, carry the metric? */
static bool carries(const struct ifm_derived *derived, const struct ifm_cell *cell, enum ifm_metric_id metric)
{
    bool any = ifm_derived_find(derived, cell->name, "", metric) != NULL;
    for (size_t a = 0; a < cell->n_arms && !any; a++)
        any = ifm_derived_find(derived, cell->name, cell->arms[a].name, metric) != NULL;
    return any;
}

/* Does the gate want the arm to be the faster one? */
static bool wants_faster(const struct ifm_gate *gate, enum ifm_metric_id metric)
{
    switch (metric) {
    case IFM_M_SPEEDUP:
    case IFM_M_SPEEDUP_OVER_FASTEST:
        return gate->op == IFM_GATE_AT_LEAST && gate->threshold > 1;
    case IFM_M_INTERVALS_GAP_PERCENT:
    case IFM_M_CLIFFS_DELTA:
    case IFM_M_HEDGES_G:
        return gate->op == IFM_GATE_AT_LEAST && gate->threshold >= 0;
    case IFM_M_CHANGE_PERCENT:
        return gate->op == IFM_GATE_AT_MOST && gate->threshold < 0;
    default:
        return false;
    }
}

/* A point may lie beyond a threshold while its comparison has no word: that is no improvement yet. One whose speed-up
 * is refused is none either, by what number of it ever; that nothing became slower is no speed-up, and stands. */
static void hold_to_word(struct judging *j, struct ifm_gate_result *result, enum ifm_metric_id metric)
{
    const struct ifm_number *change = ifm_derived_find(j->derived, result->cell, result->arm, IFM_M_CHANGE_PERCENT);
    const struct ifm_value *speedup = ifm_derived_value(j->derived, result->cell, result->arm, IFM_M_SPEEDUP);
    if (result->outcome == IFM_OUTCOME_PASS && wants_faster(result->gate, metric) && speedup != NULL &&
        speedup->state == IFM_STATE_REFUSED) {
        block(j, result, false, speedup->reason);
        result->remedy = speedup->remedy;
        return;
    }
    if (result->outcome != IFM_OUTCOME_PASS || !wants_faster(result->gate, metric) || change == NULL ||
        change->value.state != IFM_STATE_OK || strcmp(change->value.text, "undecided") != 0)
        return;
    result->outcome = IFM_OUTCOME_INCONCLUSIVE;
    result->reason = ifm_arena_printf(j->arena, "%s is %.3g, and the comparison is undecided",
                                      ifm_judge_told(result->gate).name, result->observed.number);
}

/* A rule of honesty lets the number decide nothing, wherever it lies: number and limit, the rule, its reason. */
static void block_undecided(struct judging *j, struct ifm_gate_result *result, const struct ifm_finding *finding)
{
    static const char lead[] = "undecided: ";
    const struct ifm_value *v = &result->observed;
    const char *text = finding->text;
    text += strncmp(text, lead, sizeof lead - 1) == 0 ? sizeof lead - 1 : 0;
    if (v->state != IFM_STATE_OK || (ifm_judge_by_interval(result->gate, v) && !v->has_interval)) {
        block(j, result, false, finding->text);
        return;
    }
    block(j, result, false,
          ifm_judge_is_open(result->gate, v)
              ? ifm_arena_printf(j->arena, "%s; %s: %s", ifm_judge_held(result->gate, v, j->arena), finding->rule, text)
              : ifm_arena_printf(j->arena, "%s, but %s lets it decide nothing: %s",
                                 ifm_judge_held(result->gate, v, j->arena), finding->rule, text));
}

/* An interval that is wide by what one arm left behind for another (rule 7), or by clocks that differ (rule 8), gets no
 * narrower with more blocks. */
static void block_widened(struct judging *j, struct ifm_gate_result *result, enum ifm_metric_id metric)
{
    const struct ifm_finding *widened = ifm_derived_dispute(j->derived, result->cell, result->arm, metric);
    if (widened == NULL)
        widened = ifm_derived_widened(j->derived, result->cell, result->arm, metric);
    if (result->outcome != IFM_OUTCOME_INCONCLUSIVE || widened == NULL)
        return;
    block_undecided(j, result, widened);
    result->further = 0;
    result->further_of = NULL;
}

/* The failure of a program in the cell; NULL = there was none. */
static const struct ifm_event_cell_failed *failed_program(const struct judging *j, const struct ifm_cell *cell)
{
    const struct ifm_event_cell_failed *failed =
        j->derived->failed == NULL ? NULL : j->derived->failed[cell - j->plan->cells];
    return failed == NULL || failed->arm == NULL ? NULL : failed;
}

/* A program that fails is no slower and no faster. Where it is the one that the gate is about, the gate fails, as
 * nobody wants to accept it; where another one is, such as the baseline, nothing is said of this arm. */
static void judge_failed(struct judging *j, struct ifm_gate_result *result, const struct ifm_cell *cell,
                         const struct ifm_event_cell_failed *failed)
{
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    const bool old = baseline != NULL && strcmp(baseline->name, failed->arm) == 0;
    result->remedy = failed->remedy;
    if (strcmp(failed->arm, result->arm) != 0) {
        block(j, result, false,
              ifm_arena_printf(j->arena, "%s%s%s%s: nothing is known of %s", failed->reason, old ? "; " : "",
                               old ? failed->arm : "", old ? " is the baseline" : "",
                               result->arm[0] == '\0' ? "this cell" : result->arm));
        return;
    }
    result->outcome = IFM_OUTCOME_FAIL;
    result->reason = ifm_arena_printf(j->arena, "%s, so that its speed was not judged", failed->reason);
}

/* A compressed arm's speed-up is that over the fastest exact arm: whoever takes it gives that one up. */
static enum ifm_metric_id metric_for(const struct judging *j, const struct ifm_gate *gate, enum ifm_metric_id metric,
                                     const struct ifm_cell *cell, const char *arm)
{
    const bool has = metric == IFM_M_SPEEDUP && ifm_judge_form_of_gate(gate) == IFM_FORM_COMPRESSED &&
                     ifm_derived_find(j->derived, cell->name, arm, IFM_M_SPEEDUP_OVER_FASTEST) != NULL;
    return has ? IFM_M_SPEEDUP_OVER_FASTEST : metric;
}

static void judge_one(struct judging *j, const struct ifm_gate *gate, enum ifm_metric_id metric,
                      const struct ifm_cell *cell, const char *arm)
{
    struct ifm_gate_result *result = add_result(j, gate, cell->name, arm);
    const struct ifm_finding *invalid = invalid_in(j->derived, cell->name);
    const struct ifm_number *number = ifm_derived_find(j->derived, cell->name, arm, metric);
    const struct ifm_event_cell_failed *failed = failed_program(j, cell);
    const struct ifm_finding *dispute = ifm_derived_dispute(j->derived, cell->name, arm, metric);
    const struct ifm_arm *subject = ifm_cell_arm(cell, arm);
    const struct ifm_finding *doubtful = ifm_judge_doubtful_output(j->derived, cell, arm, metric);
    bool unsupported = !ifm_is_empty(cell->unsupported);
    if (number != NULL)
        result->observed = number->value;
    if (j->untrusted != NULL)
        block(j, result, false, j->untrusted);
    else if (metric == IFM_M_NONE)
        block(j, result, false, unknown_metric(j, gate->metric));
    else if (ifm_judge_is_inverted(j->plan->gates, j->plan->n_gates, gate, metric))
        block(j, result, false, ifm_judge_inverted_reason(j->arena, gate, metric));
    else if (unsupported)
        block(j, result, true, ifm_arena_printf(j->arena, "this device cannot run the cell: %s", cell->unsupported));
    else if (failed != NULL)
        judge_failed(j, result, cell, failed);
    else if (invalid != NULL)
        block(j, result, false,
              ifm_arena_printf(j->arena, "the measurement is invalid (%s): %s", invalid->rule, invalid->text));
    else if (number == NULL)
        block(j, result, false,
              ifm_arena_printf(j->arena, "%s was not measured for arm \"%s\"", ifm_judge_told(gate).name, arm));
    else if (subject != NULL && ifm_arm_unchecked(subject))
        block(j, result, false, IFM_UNCHECKED);
    else if (doubtful != NULL) {
        block(j, result, false, ifm_judge_output_words(doubtful, arm, j->arena));
        result->remedy = IFM_JUDGE_OUTPUT_REMEDY;
    } else if (dispute != NULL && !(ifm_judge_by_interval(gate, &result->observed) &&
                                    ifm_derived_is_held(dispute, metric, &result->observed)))
        block_undecided(j, result, dispute);
    else if (stands_alone(j, metric, cell->name, arm))
        block(j, result, false,
              ifm_arena_printf(j->arena,
                               "%s %s and decides nothing alone: give the arm a gate on change_percent or "
                               "speedup too",
                               gate->metric, metric == IFM_M_SIGN_FLIP_P ? "tells no size" : "is an effect size"));
    else {
        decide(j, result, &number->value);
        hold_to_word(j, result, metric);
        block_widened(j, result, metric);
        ifm_judge_unseen(j->derived, result, metric, cell);
    }
}

static bool is_subject(const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    return cell->n_arms == 1 || arm->role == IFM_ROLE_VARIANT;
}

/* Arms of a gate that names none: the variants; where a cell has none, whatever is not a ceiling, or else everything.
 */
static bool is_meant(const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    size_t subjects = 0, rivals = 0;
    for (size_t a = 0; a < cell->n_arms; a++) {
        subjects += is_subject(cell, &cell->arms[a]);
        rivals += cell->arms[a].role != IFM_ROLE_CEILING;
    }
    if (subjects > 0)
        return is_subject(cell, arm);
    return rivals == 0 || arm->role != IFM_ROLE_CEILING;
}

static void judge_cell(struct judging *j, const struct ifm_gate *gate, enum ifm_metric_id metric,
                       const struct ifm_cell *cell)
{
    enum ifm_form form = ifm_judge_form_of_gate(gate);
    if (gate->arm[0] != '\0' && form == IFM_FORM_ANY) {
        judge_one(j, gate, metric, cell, gate->arm);
        return;
    }
    if (cell->n_arms == 0 || ifm_derived_find(j->derived, cell->name, "", metric) != NULL) {
        judge_one(j, gate, metric, cell, ""); /* a number of the cell itself */
        return;
    }
    for (size_t a = 0; a < cell->n_arms; a++) {
        const char *arm = cell->arms[a].name;
        if (is_meant(cell, &cell->arms[a]) && ifm_judge_has_form(cell, &cell->arms[a], form))
            judge_one(j, gate, metric_for(j, gate, metric, cell, arm), cell, arm);
    }
}

/* A gate that names no cell is about every cell whose workload has the metric, and about cells that have no numbers;
 * one on a form is about every arm of it, and about nothing in a run that has none. */
static void judge_gate(struct judging *j, const struct ifm_gate *gate)
{
    size_t before = j->verdict->n_gates;
    const enum ifm_form form = ifm_judge_form_of_gate(gate);
    bool of_form = form != IFM_FORM_ANY && form != IFM_FORM_COMPRESSED;
    enum ifm_metric_id metric = ifm_metric_of(gate->metric);
    for (size_t c = 0; c < j->plan->n_cells; c++) {
        const struct ifm_cell *cell = &j->plan->cells[c];
        bool named = gate->cell[0] != '\0';
        if (named && strcmp(gate->cell, cell->name) != 0)
            continue;
        const bool other = gate->arm[0] != '\0' && cell->n_arms > 0 && ifm_cell_arm(cell, gate->arm) == NULL;
        if (!named && form == IFM_FORM_ANY && other)
            continue;
        if (named || of_form || cell->n_arms == 0 || carries(j->derived, cell, metric))
            judge_cell(j, gate, metric, cell);
    }
    if (j->verdict->n_gates > before || (of_form && metric != IFM_M_NONE))
        return;
    struct ifm_gate_result *result = add_result(j, gate, gate->cell, gate->arm);
    result->observed.reason = "no cell of this run gives it";
    if (metric != IFM_M_NONE)
        result->observed.remedy =
            ifm_arena_printf(j->arena, "`inferometer explain %s` says what it needs", gate->metric);
    if (j->untrusted != NULL)
        block(j, result, false, j->untrusted);
    else if (metric == IFM_M_NONE)
        block(j, result, false, unknown_metric(j, gate->metric));
    else {
        block(j, result, false,
              ifm_arena_printf(j->arena, "no cell%s%s%s%s gives %s", gate->cell[0] != '\0' ? " called " : "",
                               gate->cell, gate->arm[0] != '\0' ? " with arm " : "", gate->arm,
                               ifm_judge_told(gate).name));
        result->remedy = result->observed.remedy;
    }
}

/* ---- the verdict ---- */

/* Of the verdict's own outcome the word stands before it already: "PASS". */
static void collect(struct judging *j, enum ifm_outcome outcome, const char *end)
{
    const char *is = outcome == j->verdict->outcome   ? ""
                     : outcome == IFM_OUTCOME_BLOCKED ? " is blocked"
                                                      : " is inconclusive";
    for (size_t g = 0; g < j->verdict->n_gates; g++) {
        const struct ifm_gate_result *r = &j->verdict->gates[g];
        if (r->outcome != outcome)
            continue;
        const bool alone = j->plan->n_cells == 1 && ifm_cell_counts_programs(j->plan->cells) && r->arm[0] != '\0';
        const char *place =
            r->cell[0] == '\0' ? ""
            : alone            ? ifm_arena_printf(j->arena, " (arm %s)", r->arm)
                    : ifm_arena_printf(j->arena, " (cell %s%s%s)", r->cell, r->arm[0] != '\0' ? ", arm " : "", r->arm);
        add_reason(j, ifm_arena_printf(j->arena, "gate \"%s\"%s%s: %s%s", ifm_judge_gate_name(r->gate), is, place,
                                       r->reason, end));
    }
}

/* A run in which nothing was measured has no result to accept, gates or not: IFM_MISSING where this device cannot run
 * any of the cells, IFM_INVALID otherwise. */
static enum ifm_status nothing_measured(struct judging *j)
{
    bool lacking = true;
    const char *why = NULL, *of_cell;
    for (size_t c = 0; c < j->plan->n_cells; c++) {
        const struct ifm_cell *cell = &j->plan->cells[c];
        if (is_measured(j->derived, cell, &of_cell))
            return IFM_OK;
        why = c == 0 ? of_cell : why;
        lacking &= !ifm_is_empty(cell->unsupported);
    }
    if (j->plan->n_cells == 0)
        return IFM_OK;
    why = lacking ? j->plan->cells[0].unsupported : why;
    add_reason(j, ifm_arena_printf(j->arena, "nothing was measured: %s", why == NULL ? "no cell has a record" : why));
    return lacking ? IFM_MISSING : IFM_INVALID;
}

/* A meter that was asked for by name and of which no window can be used: the verdict says so, and where no gate speaks
 * it is one. */
static enum ifm_status meters_gave(struct judging *j)
{
    enum ifm_status status = IFM_OK;
    for (size_t c = 0; c < j->plan->n_cells; c++) {
        const char *why = ifm_judge_meter(j->derived, &j->plan->cells[c], j->arena);
        if (why == NULL)
            continue;
        add_reason(j, why);
        status = IFM_INVALID;
    }
    return status;
}

/* What ran before a program failed has numbers, and is no measurement of it all the same. */
static enum ifm_status programs_ran(struct judging *j)
{
    enum ifm_status status = IFM_OK;
    for (size_t c = 0; c < j->plan->n_cells; c++) {
        const struct ifm_event_cell_failed *failed = failed_program(j, &j->plan->cells[c]);
        if (failed == NULL)
            continue;
        add_reason(j, ifm_arena_printf(j->arena, "cell %s: %s", j->plan->cells[c].name, failed->reason));
        status = IFM_INVALID;
    }
    return status;
}

/* Of a run that no gate judges. */
static enum ifm_status not_gated(struct judging *j)
{
    enum ifm_status nothing = nothing_measured(j);
    if (nothing == IFM_OK)
        nothing = programs_ran(j);
    return nothing != IFM_OK ? nothing : meters_gave(j);
}

static void conclude(struct judging *j)
{
    struct ifm_verdict *v = j->verdict;
    size_t failed = 0, blocked = 0, lacking = 0, open = 0, invalid = 0;
    for (size_t g = 0; g < v->n_gates; g++) {
        failed += v->gates[g].outcome == IFM_OUTCOME_FAIL;
        open += v->gates[g].outcome == IFM_OUTCOME_INCONCLUSIVE;
        blocked += v->gates[g].outcome == IFM_OUTCOME_BLOCKED;
        lacking += v->gates[g].outcome == IFM_OUTCOME_BLOCKED && v->gates[g].missing_capability;
    }
    for (size_t i = 0; i < j->derived->n_findings; i++)
        invalid += j->derived->findings[i].severity == IFM_SEVERITY_INVALID;
    bool unsound = invalid > 0 || j->untrusted != NULL;
    if (failed > 0)
        v->outcome = IFM_OUTCOME_FAIL;
    else if (blocked > 0 || (unsound && v->n_gates > 0))
        v->outcome = IFM_OUTCOME_BLOCKED;
    else if (open > 0)
        v->outcome = IFM_OUTCOME_INCONCLUSIVE;
    else
        v->outcome = v->n_gates > 0 ? IFM_OUTCOME_PASS : IFM_OUTCOME_NOT_GATED;
    collect(j, IFM_OUTCOME_FAIL, "");
    collect(j, IFM_OUTCOME_BLOCKED, "");
    collect(j, IFM_OUTCOME_INCONCLUSIVE, "");
    for (size_t i = 0; i < j->derived->n_findings; i++) {
        const struct ifm_finding *f = &j->derived->findings[i];
        if (f->severity == IFM_SEVERITY_INVALID)
            add_reason(j, ifm_arena_printf(j->arena, "invalid (%s)%s%s: %s", f->rule,
                                           f->cell[0] != '\0' ? ", cell " : "", f->cell, f->text));
    }
    if (j->untrusted != NULL)
        add_reason(j, j->untrusted);
    if (failed > 0)
        v->exit_code = IFM_REJECTED;
    else if (unsound || blocked > lacking || open > 0)
        v->exit_code = IFM_INVALID;
    else
        v->exit_code = blocked > 0 ? IFM_MISSING : v->n_gates > 0 ? IFM_OK : not_gated(j);
    if (v->outcome == IFM_OUTCOME_PASS) {
        if (v->n_gates == 1)
            collect(j, IFM_OUTCOME_PASS, ifm_judge_beside_processor(j->verdict, j->derived, j->arena));
        else
            add_reason(j, ifm_arena_printf(j->arena, "every gate (%zu results)%s", v->n_gates,
                                           ifm_judge_beside_processor(j->verdict, j->derived, j->arena)));
        (void)meters_gave(j); /* gates on times alone: a lost meter touches no time, but it is said */
    } else if (v->outcome == IFM_OUTCOME_NOT_GATED && v->n_reasons == 0)
        add_reason(j, "the run has no gates: nothing was accepted or rejected");
    const char *unseen = ifm_judge_unseen_first(v, j->arena);
    if (unseen[0] != '\0' && (v->outcome == IFM_OUTCOME_PASS || v->outcome == IFM_OUTCOME_FAIL))
        add_reason(j, unseen);
}

struct ifm_verdict *ifm_judge(const struct ifm_plan *plan, const struct ifm_derived *derived, struct ifm_arena *arena)
{
    struct ifm_error distrust = {0};
    struct judging j = {.plan = plan, .derived = derived, .arena = arena};
    j.verdict = IFM_ARENA_NEW(arena, struct ifm_verdict);
    j.verdict->rollback_to = j.verdict->rollback_advice = "";
    if (ifm_derived_agree(plan, derived, &distrust) != IFM_OK)
        j.untrusted = ifm_arena_printf(arena, "the derived numbers do not agree: %s", distrust.message);
    for (size_t g = 0; g < plan->n_gates; g++)
        judge_gate(&j, &plan->gates[g]);
    conclude(&j);
    if (j.untrusted == NULL)
        ifm_judge_rollback(plan, derived, arena, j.verdict);
    ifm_judge_ladder(derived, arena, j.verdict);
    size_t capacity = 0;
    for (size_t g = 0; j.untrusted == NULL && g < j.verdict->n_gates; g++)
        ifm_judge_classes(&j.verdict->gates[g], derived, arena, &capacity, j.verdict);
    if (j.untrusted == NULL)
        ifm_judge_triage(plan, derived, arena, j.verdict);
    return j.verdict;
}
