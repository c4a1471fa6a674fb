/* How far the numbers of several sessions lie apart; see sessions.h. */
#include "derive/compare/sessions.h"

#include "base/text.h"
#include <math.h>
#include <string.h>

static const struct ifm_value *value_of(const struct ifm_run_view *view, const struct ifm_sessions_row *row)
{
    return ifm_derived_value(view->derived, row->cell, row->arm, row->metric);
}

static double half_of(const struct ifm_value *value)
{
    return value->has_interval ? 0.5 * (value->high - value->low) / value->number : NAN;
}

/* Why the session has no such number; NULL = it has. */
static const char *lacking(const struct ifm_value *value)
{
    if (value == NULL)
        return "a session does not have it";
    if (value->state != IFM_STATE_OK)
        return ifm_is_empty(value->reason) ? "a session does not have it" : value->reason;
    return value->number > 0 ? NULL : "it is not above 0";
}

static double distance(double from, double mean)
{
    return fmax(from / mean - 1.0, 1.0 - from / mean);
}

static void measure(const struct ifm_run_view *views, size_t n, const struct ifm_run_view *original, double epsilon,
                    struct ifm_sessions_row *row)
{
    const struct ifm_value *first = original == NULL ? NULL : value_of(original, row);
    row->original = first != NULL && lacking(first) == NULL ? first->number : NAN;
    double logs = 0;
    row->least = INFINITY;
    row->within = isnan(row->original) ? NAN : half_of(first);
    row->lacks = n;
    for (size_t i = 0; i < n; i++) {
        const struct ifm_value *value = value_of(&views[i], row);
        const char *why = lacking(value);
        if (why != NULL) {
            row->reason = row->lacks == n ? why : row->reason;
            row->lacks = row->lacks == n ? i : row->lacks;
            continue;
        }
        row->with++;
        logs += log(value->number);
        row->least = fmin(row->least, value->number);
        row->most = fmax(row->most, value->number);
        row->within = fmax(row->within, half_of(value)); /* of a NaN and a number the number */
    }
    if (row->with < 2) {
        row->mean = row->least = row->most = row->spread = NAN;
        return;
    }
    row->mean = exp(logs / (double)row->with);
    row->spread = fmax(distance(row->most, row->mean), distance(row->least, row->mean));
    row->spread = fmax(row->spread, distance(row->original, row->mean)); /* of a NaN and a number the number */
    row->answer = row->spread > epsilon ? IFM_REPEATABLE_NO
                  : row->with < n       ? IFM_REPEATABLE_UNKNOWN
                                        : IFM_REPEATABLE_YES;
}

static const char *output_of(const struct ifm_run_view *view, const struct ifm_sessions_row *row)
{
    const struct ifm_event_check *check = IFM_LAST(view->events, check, row->cell, row->arm);
    return check == NULL || check->output_xxh3 == NULL ? "" : check->output_xxh3;
}

/* Those of a library are within its tolerance of the reference in each run, and need not be equal. */
static const char *outputs(const struct ifm_run_view *views, size_t n, const struct ifm_run_view *original,
                           const struct ifm_sessions_row *row)
{
    const struct ifm_cell *cell = ifm_plan_cell(views[0].plan, row->cell);
    const struct ifm_arm *arm = cell == NULL ? NULL : ifm_cell_arm(cell, row->arm);
    if (arm != NULL && ifm_arm_of_library(arm))
        return "";
    const char *first = output_of(&views[0], row), *before = original == NULL ? "" : output_of(original, row);
    bool same = before[0] == '\0' || strcmp(before, first) == 0; /* a run that was ended early has none */
    for (size_t i = 1; i < n; i++)
        same &= strcmp(output_of(&views[i], row), first) == 0;
    return !same ? "differ" : first[0] == '\0' ? "" : "equal";
}

double ifm_sessions_low(const struct ifm_sessions_row *row)
{
    return fmin(row->least, row->original); /* of a NaN and a number the number */
}

double ifm_sessions_high(const struct ifm_sessions_row *row)
{
    return fmax(row->most, row->original);
}

/* The run at `i`, the original behind its sessions, where it has the number; NULL = it has not. */
static const struct ifm_run_view *run_with(const struct ifm_run_view *views, size_t n,
                                           const struct ifm_run_view *original, const struct ifm_sessions_row *row,
                                           size_t i)
{
    const struct ifm_run_view *run = i < n ? &views[i] : original;
    return run == NULL || lacking(value_of(run, row)) != NULL ? NULL : run;
}

/* An equivalence holds in a run that lies inside the margin; a direction in one that lies on its side of 1. */
static bool is_alike(const struct ifm_run_view *views, const struct ifm_sessions_row *row)
{
    const double low = ifm_sessions_low(row), high = ifm_sessions_high(row),
                 edge = 1 + ifm_plan_cell(views[0].plan, row->cell)->measure.margin + 1e-12;
    return strcmp(row->word, "equivalent") == 0 ? low >= 1 / edge && high <= edge : low > 1 || high < 1;
}

/* What the comparisons decide: two sessions or more, more of them than not, most of all runs, and none otherwise. */
static void decide(const struct ifm_run_view *views, size_t n, const struct ifm_run_view *original,
                   struct ifm_sessions_row *row)
{
    size_t decided = 0, faster = 0, slower = 0;
    bool same = true;
    for (size_t i = 0; i <= n; i++) {
        const struct ifm_run_view *run = run_with(views, n, original, row, i);
        if (run == NULL)
            continue;
        const struct ifm_value *change = ifm_derived_value(run->derived, row->cell, row->arm, IFM_M_CHANGE_PERCENT);
        if (change == NULL || change->state != IFM_STATE_OK || strcmp(change->text, "undecided") == 0) {
            row->undecided += i < n;
            row->open++;
            continue;
        }
        same &= row->word[0] == '\0' || strcmp(row->word, change->text) == 0;
        row->word = change->text;
        decided += i < n;
        faster += strcmp(change->text, "faster") == 0;
        slower += strcmp(change->text, "slower") == 0;
    }
    row->contradicts = faster > 0 && slower > 0;
    if (decided < 2 || decided <= row->undecided || 2 * row->open >= ifm_sessions_runs(row) || !same ||
        !is_alike(views, row))
        row->word = "";
}

size_t ifm_sessions_runs(const struct ifm_sessions_row *row)
{
    return row->with + !isnan(row->original);
}

/* What noise does not explain inside a run, and repeats with it. */
static void find_shape(const struct ifm_run_view *views, size_t n, const struct ifm_run_view *original,
                       struct ifm_sessions_row *row)
{
    const enum ifm_finding_kind drifts =
        row->metric == IFM_M_SPEEDUP ? IFM_FINDING_RATIO_DRIFTS : IFM_FINDING_TIME_DRIFTS;
    for (size_t i = 0; i <= n; i++) {
        const struct ifm_run_view *run = run_with(views, n, original, row, i);
        bool moves = false;
        for (const struct ifm_finding *f = NULL;
             run != NULL && (f = ifm_derived_finding(run->derived, row->cell, f)) != NULL;) {
            if (strcmp(f->arm, row->arm) != 0)
                continue;
            moves |= f->kind == drifts;
            if (row->metric == IFM_M_STEP_NS && f->kind == IFM_FINDING_MODES && row->modal++ == 0)
                row->modes = ifm_derived_value(run->derived, row->cell, row->arm, IFM_M_MODES_COUNT);
        }
        row->drifting += moves;
    }
}

/* Sizes of a speed-up that lie apart are not known: no answer yet. Directions that do deny it. */
static enum ifm_repeatable quotable(const struct ifm_sessions_row *row)
{
    if (row->metric != IFM_M_SPEEDUP)
        return row->answer;
    if (row->contradicts)
        return IFM_REPEATABLE_NO;
    return row->answer == IFM_REPEATABLE_YES && row->word[0] != '\0' ? IFM_REPEATABLE_YES : IFM_REPEATABLE_UNKNOWN;
}

/* Outputs by the same seed that differ are no repetition, whatever the times say. */
static enum ifm_repeatable joined(enum ifm_repeatable all, const struct ifm_sessions_row *row, bool first)
{
    enum ifm_repeatable own = strcmp(row->outputs, "differ") == 0 ? IFM_REPEATABLE_NO : row->answer;
    if (first || own == all)
        return own;
    return own == IFM_REPEATABLE_NO || all == IFM_REPEATABLE_NO ? IFM_REPEATABLE_NO : IFM_REPEATABLE_UNKNOWN;
}

static void add(const struct ifm_run_view *views, size_t n, const struct ifm_run_view *original, double epsilon,
                struct ifm_arena *arena, struct ifm_sessions *out, struct ifm_sessions_row row)
{
    bool any_ratio = false, any_other = false;
    for (size_t i = 0; i < out->n; i++) {
        any_ratio |= out->rows[i].metric == IFM_M_SPEEDUP;
        any_other |= out->rows[i].metric != IFM_M_SPEEDUP;
    }
    const bool is_limit = row.metric == IFM_M_CEILING_READ || row.metric == IFM_M_SPEEDUP_AT_CEILING;
    row.outputs = is_limit ? "" : outputs(views, n, original, &row);
    measure(views, n, original, epsilon, &row);
    row.word = "";
    if (row.metric == IFM_M_SPEEDUP)
        decide(views, n, original, &row);
    if (row.metric == IFM_M_SPEEDUP || row.metric == IFM_M_STEP_NS)
        find_shape(views, n, original, &row);
    row.quotable = quotable(&row);
    IFM_ARENA_GROW(arena, out->rows, out->n, out->capacity);
    out->rows[out->n++] = row;
    if (is_limit) /* says why ratios moved; repeats less well than they do */
        return;
    out->answer = joined(out->answer, &row, out->n == 1);
    if (row.metric == IFM_M_SPEEDUP)
        out->ratios = joined(out->ratios, &row, !any_ratio);
    else
        out->others = joined(out->others, &row, !any_other);
}

static void join_quotable(struct ifm_sessions *out)
{
    const bool ratios = out->n > 0 && out->rows[0].metric == IFM_M_SPEEDUP;
    bool first = true;
    for (size_t i = 0; i < out->n; i++) {
        struct ifm_sessions_row row = out->rows[i];
        const bool asked =
            ratios ? row.metric == IFM_M_SPEEDUP : row.metric == IFM_M_STEP_NS || row.metric == IFM_M_ENERGY_PER_STEP_J;
        row.answer = asked ? row.quotable : IFM_REPEATABLE_YES;
        if (asked || strcmp(row.outputs, "differ") == 0) {
            out->quotable = joined(out->quotable, &row, first);
            first = false;
        }
    }
    out->quotable = out->scripted ? IFM_REPEATABLE_UNKNOWN : out->quotable;
}

/* It does not tell how much of a compressed arm's speed-up is the baseline's weakness: the ceiling moved, or the
 * interval is wide. Warnings of rule 3 about a whole cell say nothing else. */
static bool is_unclear(const struct ifm_run_view *run, const char *cell, const struct ifm_value *bound)
{
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(run->derived, cell, f)) != NULL;)
        if (f->severity == IFM_SEVERITY_WARNING && f->rule != NULL && strcmp(f->rule, "rule-03") == 0 &&
            ifm_is_empty(f->arm) && (f->kind != IFM_FINDING_WEAK_BASELINE || !ifm_is_ok(bound)))
            return true;
    return false;
}

static const struct ifm_sessions_row *moved_memory(const struct ifm_sessions *all, const char *cell)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->rows[i].metric == IFM_M_CEILING_READ && all->rows[i].answer == IFM_REPEATABLE_NO &&
            strcmp(all->rows[i].cell, cell) == 0)
            return &all->rows[i];
    return NULL;
}

/* What a ceiling leaves of a speed-up is derived of compressed arms only: their ratio moves with memory's speed. */
static void find_ceilings(const struct ifm_run_view *views, size_t n, const struct ifm_run_view *original,
                          const struct ifm_sessions *all, struct ifm_sessions_row *row)
{
    for (size_t i = 0; i <= n; i++) {
        const struct ifm_run_view *run = run_with(views, n, original, row, i);
        const struct ifm_value *bound =
            run == NULL ? NULL : ifm_derived_value(run->derived, row->cell, row->arm, IFM_M_SPEEDUP_AT_CEILING);
        if (bound == NULL)
            continue;
        if (!ifm_is_ok(bound) || strcmp(bound->text, "read") == 0) /* and not "flops" */
            row->memory = moved_memory(all, row->cell);
        if (is_unclear(run, row->cell, bound) && row->unclear++ == 0)
            row->first_unclear = i;
    }
}

/* The original counts where a number of it is among those of the runs. */
static double span_of(const struct ifm_run_view *views, size_t n, const struct ifm_run_view *original,
                      const struct ifm_sessions *all)
{
    bool counts = false;
    int64_t first = INT64_MAX, last = 0;
    for (size_t i = 0; i < all->n; i++)
        counts |= !isnan(all->rows[i].original);
    for (size_t i = 0; i < n + (original != NULL && counts); i++) {
        const struct ifm_events *events = i < n ? views[i].events : original->events;
        if (events == NULL || events->n == 0 || events->items[events->n - 1].t_ns <= events->items[0].t_ns)
            return NAN;
        const int64_t end = events->items[events->n - 1].t_ns;
        first = events->items[0].t_ns < first ? events->items[0].t_ns : first;
        last = end > last ? end : last;
    }
    return 1e-9 * (double)(last - first);
}

void ifm_sessions(const struct ifm_run_view *views, size_t n, const struct ifm_run_view *original, double epsilon,
                  struct ifm_arena *arena, struct ifm_sessions *out)
{
    static const enum ifm_metric_id metrics[] = {IFM_M_SPEEDUP, IFM_M_STEP_NS, IFM_M_ENERGY_PER_STEP_J,
                                                 IFM_M_SPEEDUP_AT_CEILING};
    const struct ifm_plan *plan = views[0].plan;
    *out = (struct ifm_sessions){.scripted = strcmp(plan->device, "fake") == 0, .n_runs = n + (original != NULL)};
    for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++)
        for (size_t c = 0; c < plan->n_cells; c++)
            for (size_t a = 0; a < plan->cells[c].n_arms; a++) {
                const struct ifm_arm *arm = &plan->cells[c].arms[a];
                struct ifm_sessions_row row = {
                    .cell = plan->cells[c].name, .arm = arm->name, .metric = metrics[m], .reason = ""};
                if (arm->role != IFM_ROLE_CEILING && value_of(&views[0], &row) != NULL)
                    add(views, n, original, epsilon, arena, out, row);
            }
    for (size_t c = 0; c < plan->n_cells; c++) {
        struct ifm_sessions_row row = {
            .cell = plan->cells[c].name, .arm = "", .metric = IFM_M_CEILING_READ, .reason = ""};
        if (value_of(&views[0], &row) != NULL)
            add(views, n, original, epsilon, arena, out, row);
    }
    for (size_t i = 0; i < out->n; i++)
        if (out->rows[i].metric == IFM_M_SPEEDUP)
            find_ceilings(views, n, original, out, &out->rows[i]);
    join_quotable(out);
    out->span_s = span_of(views, n, original, out);
}

const char *ifm_programs_unlike(const struct ifm_events *first, const struct ifm_events *second,
                                struct ifm_arena *arena)
{
    IFM_EACH(event, first, program, NULL, NULL) {
        const struct ifm_event_program *mine = IFM_FACTS(event, program);
        IFM_EACH(other, second, program, mine->cell, mine->arm) {
            const struct ifm_event_program *its = IFM_FACTS(other, program);
            if (strcmp(mine->what, its->what) == 0 && mine->sha256 != NULL && its->sha256 != NULL &&
                strcmp(mine->sha256, its->sha256) != 0)
                return ifm_arena_printf(arena, "%s of %s", mine->what, mine->arm);
        }
    }
    return NULL;
}

const char *ifm_sessions_unlike(const struct ifm_run_view *original, const struct ifm_run_view *session,
                                struct ifm_arena *arena)
{
    static const char machine[] = "environment";
    struct ifm_likeness likeness = {.arena = arena};
    ifm_likeness_runs(original, session, &likeness);
    for (size_t i = 0; i < likeness.n; i++)
        if (i < likeness.n_refusing || strncmp(likeness.items[i].field, machine, sizeof machine - 1) == 0)
            return likeness.items[i].field;
    return ifm_programs_unlike(original->events, session->events, arena);
}
