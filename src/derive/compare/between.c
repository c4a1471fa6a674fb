/* Ratios between two runs, with intervals, words and standings. The only formulas over two run folders. */
#include "derive/compare/between.h"

#include "derive/internal.h"
#include "stats/foretell.h"
#include <math.h>
#include <string.h>

#define UNUSABLE 4.6 /* the logarithm of a hundred: an interval between its ends says nothing */

bool ifm_log_estimate_of(const struct ifm_value *value, struct ifm_log_estimate *out)
{
    double t;
    if (value->state != IFM_STATE_OK || !value->has_interval || value->n < 2 || !(value->low > 0) ||
        !(value->number >= value->low) || !(value->high >= value->number) ||
        ifm_stats_t_quantile(0.5 + value->level / 2, (double)value->n - 1, &t) != IFM_STAT_OK)
        return false;
    double half = fmax(log(value->high / value->number), log(value->number / value->low));
    *out = (struct ifm_log_estimate){.mean = log(value->number), .se = half / t, .df = (double)value->n - 1};
    return isfinite(out->mean) && isfinite(out->se);
}

bool ifm_log_estimate_of_energy(const struct ifm_value *value, struct ifm_log_estimate *out)
{
    double t, z;
    if (!ifm_log_estimate_of(value, out) || ifm_stats_t_quantile(0.5 + value->level / 2, out->df, &t) != IFM_STAT_OK ||
        ifm_stats_normal_quantile(0.5 + value->level / 2, &z) != IFM_STAT_OK)
        return false;
    out->normal = out->se * t / z;
    return true;
}

struct ifm_log_estimate ifm_log_difference(const struct ifm_log_estimate *other,
                                           const struct ifm_log_estimate *reference)
{
    double a = other->se * other->se, b = reference->se * reference->se;
    double below = a * a / other->df + b * b / reference->df;
    double df = below > 0 ? (a + b) * (a + b) / below : other->df + reference->df;
    return (struct ifm_log_estimate){.mean = other->mean - reference->mean,
                                     .se = sqrt(a + b),
                                     .df = df,
                                     .normal = hypot(other->normal, reference->normal)};
}

bool ifm_log_reach(const struct ifm_log_estimate *estimate, double p, double *out)
{
    double t, z = 0.0;
    if (ifm_stats_t_quantile(p, estimate->df, &t) != IFM_STAT_OK ||
        (estimate->normal > 0 && ifm_stats_normal_quantile(p, &z) != IFM_STAT_OK))
        return false;
    *out = fmax(t * estimate->se, z * estimate->normal);
    return true;
}

static bool interval_of(const struct ifm_log_estimate *estimate, double level, struct ifm_interval *out)
{
    double reach;
    if (!ifm_log_reach(estimate, 0.5 + level / 2, &reach))
        return false;
    *out = (struct ifm_interval){estimate->mean - reach, estimate->mean + reach};
    return true;
}

/* The same words as inside a run (compare.c): beyond the margin, or by the narrower interval inside it. */
static const char *word_of(const struct ifm_between_row *row, const struct ifm_interval *change,
                           const struct ifm_interval *equal, double edge)
{
    if (change->high < -edge)
        return row->energy ? "less" : ifm_is_share(row->metric) ? "nearer" : "faster";
    if (change->low > edge)
        return row->energy ? "more" : ifm_is_share(row->metric) ? "farther" : "slower";
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
    if (value->state == IFM_STATE_OK)
        return false;
    struct ifm_value held = *value;
    held.number = 0;
    held.has_interval = held.is_integer = false;
    held.text = "";
    held.reason =
        ifm_arena_printf(arena, "%s in %s: %s", ifm_share_told(row->metric, row->integer), where, value->reason);
    set_all(row, held);
    return true;
}

/* A ratio of interleaved arms may always be decided, a time only where nothing qualifies it. */
static bool is_decided(const struct ifm_between_row *row)
{
    return row->interleaved || row->not_comparable[0] == '\0';
}

/* What of a number is on the scale of logarithms: a change of energy inside a run as a ratio. */
static struct ifm_value ratio_of(const struct ifm_between_row *row, const struct ifm_value *value)
{
    struct ifm_value ratio = *value;
    if (!row->energy || !row->interleaved)
        return ratio;
    ratio.number = 1.0 + value->number / 100.0;
    ratio.low = 1.0 + value->low / 100.0;
    ratio.high = 1.0 + value->high / 100.0;
    return ratio;
}

/* Of a speed-up and a share more is better: the loss is their ratio upside down. */
static double loss_of(const struct ifm_between_row *row, double difference)
{
    return row->interleaved && !row->energy ? -difference : difference;
}

/* A run of too few blocks has a number and no interval: then both numbers and their change are said without one. */
static bool has_few(struct ifm_between_row *row, struct ifm_arena *arena)
{
    bool here = row->reference.has_interval;
    const struct ifm_value *few = here ? &row->other : &row->reference;
    const struct ifm_value a = ratio_of(row, &row->reference), b = ratio_of(row, &row->other);
    if (few->has_interval || !(a.number > 0) || !(b.number > 0))
        return false;
    const char lead[] = "no interval: ", *why = few->text[0] != '\0' ? few->text : "it has none";
    why += strncmp(why, lead, sizeof lead - 1) == 0 ? sizeof lead - 1 : 0;
    const char *text = ifm_arena_printf(arena, "%s%s in %s: %s", lead, ifm_share_told(row->metric, row->integer),
                                        here ? "this run" : "the reference", why);
    const char *remedy = "more blocks: --repeats, or a longer --cap";
    double loss = loss_of(row, log(b.number / a.number));
    set_all(row, ifm_value_absent(text, remedy, few->n, few->n_of));
    row->change = ifm_value_real(100.0 * expm1(loss), few->n, few->n_of);
    row->speedup = ifm_value_real(exp(-loss), few->n, few->n_of);
    row->change.unit = "%";
    row->speedup.unit = "1";
    row->word = row->change.text = is_decided(row) ? "undecided" : "";
    row->speedup.text = text;
    row->speedup.remedy = remedy;
    return true;
}

/* What decides nothing inside a run decides nothing beside another; and more blocks do not narrow what is wide by
 * something else than noise. */
static bool is_disputed(struct ifm_between_row *row)
{
    const char *why = row->disputed[0] != '\0'                  ? row->disputed
                      : row->standing == IFM_STANDING_UNDECIDED ? row->widened
                                                                : "";
    if (why[0] == '\0')
        return false;
    row->word = row->change.text = is_decided(row) ? "undecided" : "";
    row->standing = IFM_STANDING_UNDECIDED;
    row->speedup.text = why;
    return true;
}

/* All values of a row, one of a family of `family`, from the logarithm of the time ratio, other over reference. */
static void set_values(struct ifm_between_row *row, const struct ifm_log_estimate *loss, size_t family)
{
    struct ifm_interval change, equal;
    double bound, power, edge = log1p(row->margin), level = 1.0 - (1.0 - IFM_LEVEL) / (double)family;
    int64_t blocks = row->reference.n < row->other.n ? row->reference.n : row->other.n;
    const char *of = row->energy ? "windows" : "blocks";
    if (!interval_of(loss, level, &change) || !interval_of(loss, 1.0 - 2.0 * (1.0 - level), &equal) ||
        !ifm_log_reach(loss, 0.5 + 0.5 * level, &bound) || !ifm_log_reach(loss, 0.8, &power)) {
        set_all(row, ifm_value_absent("no quantile of t for these blocks", "", blocks, of));
        return;
    }
    if (change.high - change.low > UNUSABLE) {
        set_all(row,
                ifm_value_absent("the interval would span more than a hundredfold: too few rounds or blocks show how "
                                 "much it varies",
                                 "measure longer", blocks, of));
        return;
    }
    row->change = ifm_value_of_change(loss->mean, change, level, (size_t)blocks, of);
    row->speedup = ifm_value_real(exp(-loss->mean), blocks, of);
    ifm_value_bracket(&row->speedup, exp(-change.high), exp(-change.low), level);
    row->mde = ifm_value_real(100.0 * expm1(edge + bound + power), blocks, of);
    row->change.unit = row->mde.unit = "%";
    row->speedup.unit = "1";
    row->word = is_decided(row) ? word_of(row, &change, &equal, edge) : "";
    row->change.text = row->word;
    row->standing = change.low > edge     ? IFM_STANDING_REGRESSED
                    : change.high <= edge ? IFM_STANDING_HOLDS
                                          : IFM_STANDING_UNDECIDED;
    if (is_disputed(row) || row->standing != IFM_STANDING_UNDECIDED || blocks < 2 || row->few)
        return;
    const double caution = fmax(fmax(row->reference.caution, row->other.caution), 1);
    const uint64_t all =
        ifm_stats_foretell(fabs(edge - loss->mean), fmax(caution * loss->se, loss->normal), (uint64_t)blocks, level);
    row->further = ifm_stats_foretell_more(all, (uint64_t)blocks, row->each);
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

static bool has_estimates(const struct ifm_between_row *row, struct ifm_log_estimate *reference,
                          struct ifm_log_estimate *other)
{
    bool (*const estimate)(const struct ifm_value *, struct ifm_log_estimate *) =
        row->energy ? ifm_log_estimate_of_energy : ifm_log_estimate_of;
    const struct ifm_value a = ratio_of(row, &row->reference), b = ratio_of(row, &row->other);
    return estimate(&a, reference) && estimate(&b, other);
}

struct pairing {
    const struct ifm_run_view *reference, *other;
    const struct ifm_likeness *runs; /* what holds for every arm */
    const struct ifm_between_wish *wish;
    struct ifm_arena *arena;
    struct ifm_between *out;
};

static const char *remedy_of(const struct ifm_between_row *row, const struct ifm_like_pair *pair, const char *varies,
                             struct ifm_arena *arena)
{
    const struct ifm_likeness *likeness = &row->likeness;
    const char *settings = ifm_likeness_varies(likeness, pair, varies, arena);
    if (likeness->n_refusing == 1 && strcmp(likeness->items[0].field, "device") == 0)
        return "--across-devices compares how near each comes to its own ceilings";
    if (settings[0] != '\0')
        return ifm_arena_printf(arena, "measure both with the same settings, or say what is compared: --varies %s",
                                settings);
    return "measure both alike: --varies lets settings differ, and nothing else";
}

/* What forbids to hold the two numbers of a row against each other; `unlike` is of energy. */
static bool is_forbidden(const struct pairing *p, const struct ifm_like_pair *pair, struct ifm_between_row *row,
                         const struct ifm_value *unlike)
{
    struct ifm_arena *arena = p->arena;
    const char *refusal = ifm_likeness_refusal(&row->likeness, arena);
    const char *fields = ifm_likeness_fields(&row->likeness, arena);
    if (refusal[0] != '\0') {
        struct ifm_value refused = ifm_value_refused(arena, "rule-12", refusal);
        refused.remedy = remedy_of(row, pair, p->wish->varies, arena);
        set_all(row, refused);
        return true;
    }
    if (unlike != NULL && unlike->state != IFM_STATE_OK) {
        set_all(row, *unlike);
        return true;
    }
    if (fields[0] != '\0')
        row->not_comparable = ifm_arena_printf(arena, "not comparable: %s", fields);
    row->beside = true;
    return false;
}

/* What keeps the two numbers of a row apart; false when they give an estimate. */
static bool is_refused(struct ifm_between_row *row, const struct spreads *spreads, struct ifm_log_estimate *loss,
                       struct ifm_arena *arena)
{
    struct ifm_log_estimate reference, other;
    if (is_withheld(row, &row->reference, "the reference", arena) || is_withheld(row, &row->other, "this run", arena) ||
        has_few(row, arena))
        return true;
    if (!has_estimates(row, &reference, &other)) {
        set_all(row, ifm_value_absent("an interval that reaches zero has no logarithm",
                                      row->energy ? "measure more windows" : "measure more blocks", row->other.n,
                                      row->other.n_of));
        return true;
    }
    *loss = ifm_log_difference(&other, &reference);
    loss->mean = loss_of(row, loss->mean);
    if (!add_spread(loss, spreads->reference) || !add_spread(loss, spreads->other)) {
        set_all(row,
                ifm_value_absent("a run has one round of ceilings, which does not show how much the ceiling varies",
                                 "measure longer", row->other.n, "blocks"));
        return true;
    }
    if (loss->se > 0)
        return false;
    set_all(row, ifm_value_absent("neither run shows any spread, so no interval can be given", "", row->other.n,
                                  row->other.n_of));
    return true;
}

/* The energy of a step by its tokens is the same comparison twice. */
static bool is_said_before(const struct ifm_between_row *row)
{
    return row->metric == IFM_M_ENERGY_PER_TOKEN_J || row->metric == IFM_M_ENERGY_PER_TOTAL_TOKEN_J;
}

/* How many rows are decided together with this one. */
static size_t family_of(const struct ifm_between *between, const struct ifm_between_row *row)
{
    size_t n = 0;
    for (size_t i = 0; is_decided(row) && i < between->n; i++) {
        const struct ifm_between_row *other = &between->rows[i];
        n += other->interleaved == row->interleaved && other->has_estimate && is_decided(other) &&
             !is_said_before(other);
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

static struct ifm_between_row *add_row(struct pairing *p, const char *cell, const char *arm, enum ifm_metric_id metric)
{
    IFM_ARENA_GROW(p->arena, p->out->rows, p->out->n, p->out->capacity);
    struct ifm_between_row *row = &p->out->rows[p->out->n++];
    *row = (struct ifm_between_row){.cell = cell,
                                    .arm = arm,
                                    .metric = metric,
                                    .baseline = "",
                                    .word = "",
                                    .not_comparable = "",
                                    .disputed = "",
                                    .widened = ""};
    return row;
}

/* What a finding says up to its remedy, without "undecided: ", which the row says; `brief`: its first clause. */
static const char *bare(const struct ifm_finding *finding, bool brief, struct ifm_arena *arena)
{
    static const char lead[] = "undecided: ";
    const char *text = finding->text + (strncmp(finding->text, lead, sizeof lead - 1) == 0 ? sizeof lead - 1 : 0);
    const char *end = brief ? strstr(text, "; ") : NULL;
    end = end == NULL ? strstr(text, IFM_REMEDY) : end;
    return end == NULL ? text : ifm_arena_printf(arena, "%.*s", (int)(end - text), text);
}

/* "in the reference: ...; in this run: ... Remedy: ..."; "" where neither has a finding. What both need is said once.
 */
static const char *found_in(const struct pairing *p, const struct ifm_finding *reference,
                            const struct ifm_finding *other)
{
    if (reference == NULL && other == NULL)
        return "";
    const char *remedy = other == NULL ? NULL : strstr(other->text, IFM_REMEDY);
    remedy = remedy != NULL ? remedy : reference == NULL ? NULL : strstr(reference->text, IFM_REMEDY);
    const char *first = reference == NULL ? "" : bare(reference, other != NULL, p->arena);
    const char *second = other == NULL ? "" : bare(other, false, p->arena);
    if (strcmp(first, second) == 0)
        return ifm_arena_printf(p->arena, "in both runs: %s%s", second, remedy == NULL ? "" : remedy);
    return ifm_arena_printf(p->arena, "%s%s%s%s%s%s", reference != NULL ? "in the reference: " : "", first,
                            reference != NULL && other != NULL ? "; " : "", other != NULL ? "in this run: " : "",
                            second, remedy == NULL ? "" : remedy);
}

/* The findings of both runs on the arm that keep its row from deciding. */
static void add_disputes(const struct pairing *p, struct ifm_between_row *row)
{
    const struct ifm_derived *reference = p->reference->derived, *other = p->other->derived;
    row->disputed = found_in(p, ifm_derived_dispute(reference, row->cell, row->arm, row->metric),
                             ifm_derived_dispute(other, row->cell, row->arm, row->metric));
    if (row->disputed[0] == '\0')
        row->disputed = ifm_derived_load_on(reference, other, row->cell, row->arm, row->metric, p->arena);
    row->widened = found_in(p, ifm_derived_widened(reference, row->cell, row->arm, row->metric),
                            ifm_derived_widened(other, row->cell, row->arm, row->metric));
    row->each = fmax(ifm_derived_blocks_each(reference, row->cell, row->arm),
                     ifm_derived_blocks_each(other, row->cell, row->arm));
    row->few = !row->energy && (!ifm_derived_foretells(reference, row->cell, row->arm) ||
                                !ifm_derived_foretells(other, row->cell, row->arm));
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
    struct ifm_likeness likeness = {.arena = p->arena, .across = p->wish->across};
    likeness.capacity = p->runs->n + 8;
    likeness.items = IFM_ARENA_ARRAY(p->arena, struct ifm_difference, likeness.capacity);
    if (p->runs->n > 0)
        memcpy(likeness.items, p->runs->items, p->runs->n * sizeof *likeness.items);
    likeness.n = p->runs->n;
    likeness.n_refusing = p->runs->n_refusing;
    ifm_likeness_arms(p->reference, p->other, pair, p->wish->varies, &likeness);
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
        ifm_likeness_arms(p->reference, p->other, &partner, p->wish->varies, likeness);
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
    row->across = p->wish->across;
    row->integer = pair->reference_arm->integer;
    row->likeness = likeness_of(p, pair);
    if (metric == IFM_M_SPEEDUP) {
        const struct ifm_arm *here = ifm_cell_baseline(pair->reference_cell),
                             *there = ifm_cell_baseline(pair->other_cell);
        row->baseline = there == NULL ? "" : there->name;
        add_partner(p, pair, here == NULL ? "" : here->name, row->baseline, "baseline", &row->likeness);
        pair_loss(p, pair, row);
    } else if (row->interleaved && !row->across && !pair->other_cell->ceilings_apart &&
               reference->state == IFM_STATE_OK && other->state == IFM_STATE_OK) {
        add_partner(p, pair, reference->text, other->text, "ceiling arm", &row->likeness);
    }
    add_disputes(p, row);
    const struct spreads spreads = spreads_of(p, cell, arm, metric);
    row->has_estimate = !is_forbidden(p, pair, row, NULL) && !is_refused(row, &spreads, &row->loss, p->arena);
}

/* ---- energy ---- */

static bool is_in_one(const struct pairing *p, const struct ifm_like_pair *pair, enum ifm_metric_id metric, bool ok)
{
    const char *cell = pair->reference_cell->name, *arm = pair->reference_arm->name;
    const struct ifm_value *reference = ifm_derived_value(p->reference->derived, cell, arm, metric);
    const struct ifm_value *other = ifm_derived_value(p->other->derived, cell, arm, metric);
    return ok ? ifm_is_ok(reference) || ifm_is_ok(other) : reference != NULL || other != NULL;
}

static void pair_joules(struct pairing *p, const struct ifm_like_pair *pair, enum ifm_metric_id metric,
                        bool interleaved)
{
    static const struct spreads none = {NULL, NULL};
    const char *cell = pair->reference_cell->name, *arm = pair->reference_arm->name;
    const struct ifm_value *reference = ifm_derived_value(p->reference->derived, cell, arm, metric);
    const struct ifm_value *other = ifm_derived_value(p->other->derived, cell, arm, metric);
    const struct ifm_value lacking = ifm_value_absent("it was not derived", "measure with --energy", 0, "windows");
    struct ifm_between_row *row = add_row(p, cell, arm, metric);
    row->reference = reference != NULL ? *reference : lacking;
    row->other = other != NULL ? *other : lacking;
    row->margin = pair->other_cell->measure.margin;
    row->interleaved = interleaved;
    row->energy = true;
    row->likeness = likeness_of(p, pair);
    if (interleaved) {
        const struct ifm_arm *here = ifm_cell_baseline(pair->reference_cell),
                             *there = ifm_cell_baseline(pair->other_cell);
        row->baseline = there == NULL ? "" : there->name;
        add_partner(p, pair, here == NULL ? "" : here->name, row->baseline, "baseline", &row->likeness);
    }
    add_disputes(p, row);
    const struct ifm_value unlike = ifm_likeness_energy(p->reference, p->other, pair, interleaved, p->arena);
    row->has_estimate = !is_forbidden(p, pair, row, &unlike) && !is_refused(row, &none, &row->loss, p->arena);
}

/* Where one of the runs has an energy pass: a step, a token where there is one, and the change against the baseline, of
 * whose two numbers the one that compare shows inside a run. */
static void pair_energy(struct pairing *p, const struct ifm_like_pair *pair)
{
    static const enum ifm_metric_id of_token[] = {IFM_M_ENERGY_PER_TOKEN_J, IFM_M_ENERGY_PER_TOTAL_TOKEN_J};
    const enum ifm_metric_id token = IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT, step = IFM_M_ENERGY_PER_STEP_CHANGE_PERCENT;
    const char *cell = pair->reference_cell->name, *arm = pair->reference_arm->name;
    if (!ifm_has_energy_pass(p->reference, cell, arm) && !ifm_has_energy_pass(p->other, cell, arm))
        return;
    pair_joules(p, pair, IFM_M_ENERGY_PER_STEP_J, false);
    for (size_t i = 0; i < sizeof of_token / sizeof *of_token; i++)
        if (is_in_one(p, pair, of_token[i], true)) {
            pair_joules(p, pair, of_token[i], false);
            break;
        }
    if (is_in_one(p, pair, token, true) || (is_in_one(p, pair, token, false) && !is_in_one(p, pair, step, false)))
        pair_joules(p, pair, token, true);
    else if (is_in_one(p, pair, step, false))
        pair_joules(p, pair, step, true);
}

static void pair_arm(struct pairing *p, const struct ifm_cell *here, const struct ifm_cell *there,
                     const struct ifm_arm *arm)
{
    static const enum ifm_metric_id metrics[] = {IFM_M_STEP_NS, IFM_M_SPEEDUP, IFM_M_CEILING_READ_PERCENT,
                                                 IFM_M_CEILING_FLOPS_PERCENT};
    enum { SHARES = 2 }; /* where those begin that a device's own ceiling divides */
    struct ifm_like_pair pair = {here, there, arm, ifm_cell_arm(there, arm->name)};
    if (pair.other_arm == NULL) {
        add_absent(p, here->name, arm->name, "this run has no such arm in this cell");
        return;
    }
    for (size_t m = p->wish->across ? SHARES : 0; m < sizeof metrics / sizeof metrics[0]; m++)
        pair_metric(p, &pair, metrics[m]);
    if (!p->wish->across)
        pair_energy(p, &pair);
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

void ifm_between(const struct ifm_run_view *reference, const struct ifm_run_view *other,
                 const struct ifm_between_wish *wish, struct ifm_arena *arena, struct ifm_between *out)
{
    struct ifm_likeness runs = {.arena = arena, .across = wish->across};
    const char *cell = wish->cell;
    ifm_likeness_runs(reference, other, &runs);
    struct pairing p = {reference, other, &runs, wish, arena, out};
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
