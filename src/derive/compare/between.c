/* Ratios between two runs, with intervals, words and standings. The only formulas over two run folders. */
#include "derive/compare/between.h"

#include "derive/internal.h"
#include "stats/foretell.h"
#include <math.h>
#include <string.h>

bool ifm_log_estimate_of(const struct ifm_value *value, struct ifm_log_estimate *out)
{
    double t;
    if (value->state != IFM_STATE_OK || !value->has_interval || value->n < 2 || !(value->low > 0) ||
        !(value->number >= value->low) || !(value->high >= value->number) ||
        ifm_stats_t_quantile(0.5 + value->level / 2, (double)value->n - 1, &t) != IFM_STAT_OK)
        return false;
    double half = fmax(log(value->high / value->number), log(value->number / value->low));
    *out = (struct ifm_log_estimate){log(value->number), half / t, (double)value->n - 1};
    return isfinite(out->mean) && isfinite(out->se);
}

struct ifm_log_estimate ifm_log_difference(const struct ifm_log_estimate *other,
                                           const struct ifm_log_estimate *reference)
{
    double a = other->se * other->se, b = reference->se * reference->se;
    double below = a * a / other->df + b * b / reference->df;
    double df = below > 0 ? (a + b) * (a + b) / below : other->df + reference->df;
    return (struct ifm_log_estimate){other->mean - reference->mean, sqrt(a + b), df};
}

static bool interval_of(const struct ifm_log_estimate *estimate, double level, struct ifm_interval *out)
{
    double t;
    if (ifm_stats_t_quantile(0.5 + level / 2, estimate->df, &t) != IFM_STAT_OK)
        return false;
    *out = (struct ifm_interval){estimate->mean - t * estimate->se, estimate->mean + t * estimate->se};
    return true;
}

/* The same words as inside a run (compare.c): beyond the margin, or by the narrower interval inside it. */
static const char *word_of(const struct ifm_interval *change, const struct ifm_interval *equal, double edge)
{
    if (change->high < -edge)
        return "faster";
    if (change->low > edge)
        return "slower";
    return equal->low > -edge && equal->high < edge ? "equivalent" : "undecided";
}

static void set_all(struct ifm_between_row *row, struct ifm_value value)
{
    row->change = row->speedup = row->mde = value;
    row->change.unit = row->mde.unit = "%";
    row->speedup.unit = "1";
}

/* A number that is not there, or that its own run refused, in the words of that run. */
static bool is_withheld(struct ifm_between_row *row, const struct ifm_value *value, const char *where,
                        struct ifm_arena *arena)
{
    if (value->state == IFM_STATE_OK && value->has_interval)
        return false;
    bool few = value->state == IFM_STATE_OK;
    const char *why = few ? (value->text[0] != '\0' ? value->text : "it has no interval") : value->reason;
    struct ifm_value held = *value;
    held.state = few ? IFM_STATE_ABSENT : value->state;
    held.number = 0;
    held.has_interval = held.is_integer = false;
    held.text = "";
    held.reason = ifm_arena_printf(arena, "%s in %s: %s", ifm_metrics[row->metric].id, where, why);
    held.remedy = few ? "measure more blocks (measure.blocks_min)" : value->remedy;
    set_all(row, held);
    return true;
}

/* A ratio of interleaved arms may always be decided, a time only where nothing qualifies it. */
static bool is_decided(const struct ifm_between_row *row)
{
    return row->interleaved || row->not_comparable[0] == '\0';
}

/* All values of a row, one of a family of `family`, from the logarithm of the time ratio, other over reference. */
static void set_values(struct ifm_between_row *row, const struct ifm_log_estimate *loss, size_t family)
{
    struct ifm_interval change, equal;
    double bound, t80, edge = log1p(row->margin), level = 1.0 - (1.0 - IFM_LEVEL) / (double)family;
    int64_t blocks = row->reference.n < row->other.n ? row->reference.n : row->other.n;
    if (!interval_of(loss, level, &change) || !interval_of(loss, 1.0 - 2.0 * (1.0 - level), &equal) ||
        ifm_stats_t_quantile(0.5 + 0.5 * level, loss->df, &bound) != IFM_STAT_OK ||
        ifm_stats_t_quantile(0.8, loss->df, &t80) != IFM_STAT_OK) {
        set_all(row, ifm_value_absent("no quantile of t for these blocks", "", blocks, "blocks"));
        return;
    }
    row->change = ifm_value_of_change(loss->mean, change, level, (size_t)blocks, "blocks");
    row->speedup = ifm_value_real(exp(-loss->mean), blocks, "blocks");
    ifm_value_bracket(&row->speedup, exp(-change.high), exp(-change.low), level);
    row->mde = ifm_value_real(100.0 * expm1(edge + (bound + t80) * loss->se), blocks, "blocks");
    row->change.unit = row->mde.unit = "%";
    row->speedup.unit = "1";
    row->word = is_decided(row) ? word_of(&change, &equal, edge) : "";
    row->change.text = row->word;
    row->standing = change.low > edge     ? IFM_STANDING_REGRESSED
                    : change.high <= edge ? IFM_STANDING_HOLDS
                                          : IFM_STANDING_UNDECIDED;
    if (row->standing != IFM_STANDING_UNDECIDED || blocks < 2)
        return;
    uint64_t all = ifm_stats_foretell(fabs(edge - loss->mean), loss->se, (uint64_t)blocks, level);
    row->further = all == 0 ? 0 : all > (uint64_t)blocks ? all - (uint64_t)blocks : 1;
}

/* A ceiling with rounds of its own does not move with the arm: what it differs by from round to round, the shares of
 * two runs may differ by. */
struct spreads {
    const struct ifm_value *reference, *other; /* NULL: the ceiling was measured in the arm's own blocks */
};

static bool add_spread(struct ifm_log_estimate *loss, const struct ifm_value *spread)
{
    if (spread == NULL)
        return true;
    if (spread->state != IFM_STATE_OK || spread->n < 2)
        return false;
    double a = loss->se * loss->se, b = spread->number * spread->number * 1e-4;
    double below = a * a / loss->df + b * b / ((double)spread->n - 1);
    loss->se = sqrt(a + b);
    loss->df = below > 0 ? (a + b) * (a + b) / below : loss->df;
    return true;
}

/* What keeps the two numbers of a row apart; false when they give an estimate. */
static bool is_refused(struct ifm_between_row *row, const struct spreads *spreads, struct ifm_log_estimate *loss,
                       struct ifm_arena *arena)
{
    const char *refusal = ifm_likeness_refusal(&row->likeness, arena);
    const char *fields = ifm_likeness_fields(&row->likeness, arena);
    if (refusal[0] != '\0') {
        struct ifm_value refused = ifm_value_refused(arena, "rule-12", refusal);
        refused.remedy = "measure both with the same settings; --varies PATH names the one setting under comparison";
        set_all(row, refused);
        return true;
    }
    if (fields[0] != '\0')
        row->not_comparable = ifm_arena_printf(arena, "not comparable: %s", fields);
    struct ifm_log_estimate reference, other;
    if (is_withheld(row, &row->reference, "the reference", arena) || is_withheld(row, &row->other, "this run", arena))
        return true;
    if (!ifm_log_estimate_of(&row->reference, &reference) || !ifm_log_estimate_of(&row->other, &other)) {
        set_all(row, ifm_value_absent("an interval that reaches zero has no logarithm", "measure more blocks",
                                      row->other.n, "blocks"));
        return true;
    }
    *loss = ifm_log_difference(&other, &reference);
    if (row->interleaved) /* more is better: the loss is the ratio upside down */
        loss->mean = -loss->mean;
    if (!add_spread(loss, spreads->reference) || !add_spread(loss, spreads->other)) {
        set_all(row,
                ifm_value_absent("a run has one round of ceilings, which does not show how much the ceiling varies",
                                 "measure longer", row->other.n, "blocks"));
        return true;
    }
    if (loss->se > 0)
        return false;
    set_all(row,
            ifm_value_absent("neither run shows any spread, so no interval can be given", "", row->other.n, "blocks"));
    return true;
}

/* How many rows are decided together with this one. */
static size_t family_of(const struct ifm_between *between, const struct ifm_between_row *row)
{
    size_t n = 0;
    for (size_t i = 0; is_decided(row) && i < between->n; i++) {
        const struct ifm_between_row *other = &between->rows[i];
        n += other->interleaved == row->interleaved && other->has_estimate && is_decided(other);
    }
    return n > 0 ? n : 1;
}

/* Once every row has its estimate: their number makes the level. */
static void decide_rows(struct ifm_between *between)
{
    for (size_t i = 0; i < between->n; i++) {
        struct ifm_between_row *row = &between->rows[i];
        if (row->has_estimate)
            set_values(row, &row->loss, family_of(between, row));
    }
}

/* ---- which numbers ---- */

struct pairing {
    const struct ifm_run_view *reference, *other;
    const struct ifm_likeness *runs; /* what holds for every arm */
    const char *varies;
    struct ifm_arena *arena;
    struct ifm_between *out;
};

static struct ifm_between_row *add_row(struct pairing *p, const char *cell, const char *arm, enum ifm_metric_id metric)
{
    IFM_ARENA_GROW(p->arena, p->out->rows, p->out->n, p->out->capacity);
    struct ifm_between_row *row = &p->out->rows[p->out->n++];
    *row = (struct ifm_between_row){
        .cell = cell, .arm = arm, .metric = metric, .baseline = "", .word = "", .not_comparable = ""};
    return row;
}

static void add_absent(struct pairing *p, const char *cell, const char *arm, const char *reason)
{
    struct ifm_between_row *row = add_row(p, cell, arm, IFM_M_STEP_NS);
    row->missing = true;
    set_all(row, ifm_value_absent(reason, "name cells and arms alike in both runs", 0, ""));
}

/* The runs' own list is shared; an arm adds to a copy of it. */
static struct ifm_likeness likeness_of(struct pairing *p, const struct ifm_like_pair *pair)
{
    struct ifm_likeness likeness = {.arena = p->arena};
    likeness.capacity = p->runs->n + 8;
    likeness.items = IFM_ARENA_ARRAY(p->arena, struct ifm_difference, likeness.capacity);
    if (p->runs->n > 0)
        memcpy(likeness.items, p->runs->items, p->runs->n * sizeof *likeness.items);
    likeness.n = p->runs->n;
    likeness.n_refusing = p->runs->n_refusing;
    ifm_likeness_arms(p->reference, p->other, pair, p->varies, &likeness);
    return likeness;
}

/* The arm beside which a ratio was measured: it must be alike too. Without it in one run the ratio is another. Not so
 * a ceiling apart: a limit of the machine is the same whichever probe reached it. */
static void add_partner(struct pairing *p, const struct ifm_like_pair *pair, const char *here, const char *there,
                        const char *what, struct ifm_likeness *likeness)
{
    struct ifm_like_pair partner = {pair->reference_cell, pair->other_cell, ifm_cell_arm(pair->reference_cell, here),
                                    ifm_cell_arm(pair->other_cell, there)};
    bool same = strcmp(here, there) == 0 && partner.reference_arm != NULL && partner.other_arm != NULL;
    if (same) {
        ifm_likeness_arms(p->reference, p->other, &partner, p->varies, likeness);
        return;
    }
    IFM_ARENA_GROW(p->arena, likeness->items, likeness->n, likeness->capacity);
    memmove(likeness->items + 1, likeness->items, likeness->n++ * sizeof *likeness->items);
    likeness->items[0] = (struct ifm_difference){what, here, there};
    likeness->n_refusing++;
}

/* A kernel that became faster by losing more did not become faster (rule 10). */
static void pair_loss(const struct pairing *p, const struct ifm_like_pair *pair, struct ifm_between_row *row)
{
    const char *cell = pair->reference_cell->name, *arm = pair->reference_arm->name;
    const struct ifm_value *reference = ifm_derived_value(p->reference->derived, cell, arm, IFM_M_LOSS_RMS_REL);
    const struct ifm_value *other = ifm_derived_value(p->other->derived, cell, arm, IFM_M_LOSS_RMS_REL);
    if (!ifm_is_ok(reference) || row->likeness.n_refusing > 0)
        return;
    row->lossy = true;
    row->reference_loss = *reference;
    row->other_loss = ifm_value_absent("no check of this run recorded the loss of the arm", "", 0, "values");
    row->other_loss.unit = reference->unit;
    if (other != NULL)
        row->other_loss = *other;
    if (row->other_loss.state == IFM_STATE_OK)
        row->loss_standing = row->other_loss.number > reference->number * (1.0 + row->margin) ? IFM_STANDING_REGRESSED
                                                                                              : IFM_STANDING_HOLDS;
}

static struct spreads spreads_of(const struct pairing *p, const char *cell, const char *arm, enum ifm_metric_id metric)
{
    const enum ifm_metric_id of = metric == IFM_M_CEILING_READ_PERCENT    ? IFM_M_CEILING_READ_SPREAD_PERCENT
                                  : metric == IFM_M_CEILING_FLOPS_PERCENT ? IFM_M_CEILING_FLOPS_SPREAD_PERCENT
                                                                          : IFM_M_NONE;
    if (of == IFM_M_NONE)
        return (struct spreads){NULL, NULL};
    return (struct spreads){ifm_derived_value(p->reference->derived, cell, arm, of),
                            ifm_derived_value(p->other->derived, cell, arm, of)};
}

static void pair_metric(struct pairing *p, const struct ifm_like_pair *pair, enum ifm_metric_id metric)
{
    const char *cell = pair->reference_cell->name, *arm = pair->reference_arm->name;
    const struct ifm_value *reference = ifm_derived_value(p->reference->derived, cell, arm, metric);
    const struct ifm_value *other = ifm_derived_value(p->other->derived, cell, arm, metric);
    if (reference == NULL || other == NULL)
        return;
    struct ifm_between_row *row = add_row(p, cell, arm, metric);
    row->reference = *reference;
    row->other = *other;
    row->margin = pair->other_cell->measure.margin;
    row->interleaved = metric != IFM_M_STEP_NS;
    row->likeness = likeness_of(p, pair);
    if (metric == IFM_M_SPEEDUP) {
        const struct ifm_arm *here = ifm_cell_baseline(pair->reference_cell),
                             *there = ifm_cell_baseline(pair->other_cell);
        row->baseline = there == NULL ? "" : there->name;
        add_partner(p, pair, here == NULL ? "" : here->name, row->baseline, "baseline", &row->likeness);
        pair_loss(p, pair, row);
    } else if (row->interleaved && !pair->other_cell->ceilings_apart && reference->state == IFM_STATE_OK &&
               other->state == IFM_STATE_OK) {
        add_partner(p, pair, reference->text, other->text, "ceiling arm", &row->likeness);
    }
    const struct spreads spreads = spreads_of(p, cell, arm, metric);
    row->has_estimate = !is_refused(row, &spreads, &row->loss, p->arena);
}

static void pair_arm(struct pairing *p, const struct ifm_cell *here, const struct ifm_cell *there,
                     const struct ifm_arm *arm)
{
    static const enum ifm_metric_id metrics[] = {IFM_M_STEP_NS, IFM_M_SPEEDUP, IFM_M_CEILING_READ_PERCENT,
                                                 IFM_M_CEILING_FLOPS_PERCENT};
    struct ifm_like_pair pair = {here, there, arm, ifm_cell_arm(there, arm->name)};
    if (pair.other_arm == NULL) {
        add_absent(p, here->name, arm->name, "this run has no such arm in this cell");
        return;
    }
    for (size_t m = 0; m < sizeof metrics / sizeof metrics[0]; m++)
        pair_metric(p, &pair, metrics[m]);
}

static bool is_shown(const struct ifm_arm *arm)
{
    return arm->role != IFM_ROLE_CEILING; /* a limit of the machine, not a subject */
}

static void pair_cell(struct pairing *p, const struct ifm_cell *here)
{
    const struct ifm_cell *there = ifm_plan_cell(p->other->plan, here->name);
    if (there == NULL) {
        add_absent(p, here->name, "", "this run has no such cell");
        return;
    }
    for (size_t a = 0; a < here->n_arms; a++)
        if (is_shown(&here->arms[a]))
            pair_arm(p, here, there, &here->arms[a]);
    for (size_t a = 0; a < there->n_arms; a++)
        if (is_shown(&there->arms[a]) && ifm_cell_arm(here, there->arms[a].name) == NULL)
            add_absent(p, here->name, there->arms[a].name, "the reference has no such arm in this cell");
}

void ifm_between(const struct ifm_run_view *reference, const struct ifm_run_view *other, const char *cell,
                 const char *varies, struct ifm_arena *arena, struct ifm_between *out)
{
    struct ifm_likeness runs = {.arena = arena};
    ifm_likeness_runs(reference, other, &runs);
    struct pairing p = {reference, other, &runs, varies, arena, out};
    *out = (struct ifm_between){0};
    const struct ifm_plan *here = reference->plan, *there = other->plan;
    for (size_t c = 0; c < here->n_cells; c++)
        if (cell == NULL || strcmp(cell, here->cells[c].name) == 0)
            pair_cell(&p, &here->cells[c]);
    for (size_t c = 0; c < there->n_cells; c++)
        if ((cell == NULL || strcmp(cell, there->cells[c].name) == 0) &&
            ifm_plan_cell(here, there->cells[c].name) == NULL)
            add_absent(&p, there->cells[c].name, "", "the reference has no such cell");
    decide_rows(out);
}
