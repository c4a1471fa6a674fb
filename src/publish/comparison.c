/* The rows of `compare`: one set of fields for arms of a run and for runs. */
#include "publish/comparison.h"

#include "base/text.h"
#include "document/quantity.h"
#include "publish/distrust.h"
#include <math.h>
#include <string.h>

/* The same fields of either kind of comparison; inside a run every change is one of time. */
#define COLUMNS(change_heading, speedup_heading)                                                                       \
    {"run", "run", true}, {"reference_run", NULL, true}, {"cell", "cell", true}, {"arm", "arm", true},                 \
        {"reference", "against", true}, {"metric", "of", true}, {"word", "result", true},                              \
        {"change_percent", change_heading, true}, {"change_low", NULL, false}, {"change_high", NULL, false},           \
        {"speedup", speedup_heading, false}, {"speedup_low", NULL, false}, {"speedup_high", NULL, false},              \
        {"level", NULL, false}, {"mde_percent", "can detect", false}, {"n", "n", false}, {"n_of", NULL, true},         \
        {"state", NULL, true}, {"reason", NULL, true}, {"remedy", NULL, true}, {"not_comparable", NULL, true},         \
        {"findings", NULL, true}, {"bytes_ratio", "moves", false}, {"loss_rms_rel", "output error", false},            \
        {"attention_kl_nats", "KL", false}, {"energy_change_percent", "energy", true},                                 \
        {"energy_change_low", NULL, false}, {"energy_change_high", NULL, false}, {"energy_per", NULL, true},           \
        {"cpu_change_percent", "CPU time", true}, {"cpu_change_low", NULL, false}, {"cpu_change_high", NULL, false},   \
        {"cpu_word", NULL, true}, {"reference_value", "reference", false}, {"reference_low", NULL, false},             \
        {"reference_high", NULL, false}, {"value", "this run", false}, {"value_low", NULL, false},                     \
        {"value_high", NULL, false}, {"unit", NULL, true},                                                             \
    {                                                                                                                  \
        "", "notes", true                                                                                              \
    }

static const struct ifm_listing_column columns[] = {COLUMNS("change in time", "speed-up")};
static const struct ifm_listing_column columns_of_runs[] = {COLUMNS("change", "ratio")};

struct ifm_listing ifm_comparison_begin(struct ifm_arena *arena)
{
    return ifm_listing_begin(columns, sizeof columns / sizeof columns[0], arena);
}

struct ifm_listing ifm_comparison_begin_runs(struct ifm_arena *arena)
{
    return ifm_listing_begin(columns_of_runs, sizeof columns_of_runs / sizeof columns_of_runs[0], arena);
}

static const char *with_sign(double number, int decimals, struct ifm_arena *arena)
{
    if (fabs(number) < 0.5 * pow(10, -decimals)) /* "7.2e-4" beside an interval of +-0.59 has digits of nothing */
        number = 0;
    const char *text = ifm_quantity_digits(number, decimals, arena);
    if (strspn(text, "-0.") == strlen(text)) /* "-0" is on neither side */
        return text + (text[0] == '-');
    return text[0] == '-' ? text : ifm_arena_printf(arena, "+%s", text);
}

/* Half of the interval, of the logarithm of the time; 0 where there is none. */
static double half_of(const struct ifm_value *change)
{
    if (!ifm_is_ok(change) || !change->has_interval)
        return 0;
    const double middle = log1p(change->number / 100);
    return fmax(log1p(change->high / 100) - middle, middle - log1p(change->low / 100));
}

/* Percent: beyond ten times the time nothing was going to be found, and digits say no more. */
#define DETECTABLE_MOST 1000

const char *ifm_comparison_detects(const struct ifm_value *change, const struct ifm_value *mde, struct ifm_arena *arena)
{
    const bool detects = ifm_is_ok(mde) && !(log1p(mde->number / 100) < half_of(change));
    const double least = detects ? mde->number : 100 * expm1(half_of(change));
    if (!ifm_is_ok(mde))
        return ifm_is_empty(mde->reason) ? "" : ifm_state_label(mde->state);
    if (least > DETECTABLE_MOST)
        return ">1000 %";
    return detects ? ifm_quantity_number(mde, arena) : ifm_arena_printf(arena, ">%.3g %%", least);
}

const char *ifm_comparison_change(const struct ifm_value *value, struct ifm_arena *arena)
{
    if (value->state != IFM_STATE_OK)
        return ifm_state_label(value->state);
    /* Two digits of the half-width, as the interval has no more to say. */
    double half = value->has_interval ? (value->high - value->low) / 2 : fabs(value->number) / 100;
    int decimals = half > 0 ? 1 - (int)floor(log10(half)) : 2;
    decimals = decimals < 0 ? 0 : decimals > 4 ? 4 : decimals;
    if (!value->has_interval)
        return ifm_arena_printf(arena, "%s %%", with_sign(value->number, decimals, arena));
    bool usual = value->level == 0 || fabs(value->level - 0.95) < 1e-9;
    const char *level = usual ? "" : ifm_arena_printf(arena, " at %.3g %%", 100 * value->level);
    return ifm_arena_printf(arena, "%s %% [%s, %s]%s", with_sign(value->number, decimals, arena),
                            with_sign(value->low, decimals, arena), with_sign(value->high, decimals, arena), level);
}

const struct ifm_value *ifm_comparison_energy(const struct ifm_derived *derived, const char *cell, const char *arm,
                                              const char **of)
{
    static const struct {
        enum ifm_metric_id metric;
        const char *of;
    } changes[] = {{IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT, "token"}, {IFM_M_ENERGY_PER_STEP_CHANGE_PERCENT, "step"}};
    const struct ifm_value *found = NULL;
    *of = "";
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const struct ifm_value *change = ifm_derived_value(derived, cell, arm, changes[i].metric);
        if (change == NULL || (found != NULL && !ifm_is_ok(change)))
            continue;
        found = change;
        *of = changes[i].of;
        if (ifm_is_ok(change))
            break;
    }
    return found;
}

/* Whether a finding of its cell or of the whole run is about this row: its arm, its reference, or all of them. */
static bool is_about(const struct ifm_finding *finding, const struct ifm_comparison_row *row)
{
    return finding->arm[0] == '\0' || strcmp(finding->arm, row->arm) == 0 || strcmp(finding->arm, row->reference) == 0;
}

static const char *note_number(struct ifm_listing *listing, const char *list, const char *text)
{
    const char *number = ifm_arena_printf(listing->arena, "[%zu]", ifm_listing_note(listing, text));
    return strstr(list, number) != NULL ? list : ifm_arena_printf(listing->arena, "%s%s", list, number);
}

static const char *finding_text(const struct ifm_finding *finding, const char *place, struct ifm_arena *arena)
{
    return ifm_arena_printf(arena, "%s: %s%s%s%s%s%s", ifm_severity_label(finding->severity), place,
                            place[0] != '\0' ? ": " : "", finding->text, finding->rule[0] != '\0' ? " (" : "",
                            finding->rule, finding->rule[0] != '\0' ? ")" : "");
}

/* Does a table say it? Notes of a cell or a run are in its report, and those of arms of two runs too. Of two runs, what
 * took a word is told with the row that it took it from, for both at once. */
static bool is_shown(const struct ifm_comparison_row *row, const struct ifm_finding *finding)
{
    const bool between = row->derived[1] != NULL;
    if (finding->severity == IFM_SEVERITY_NOTE)
        return !between && finding->arm[0] != '\0';
    if (!finding->takes_word)
        return true;
    return !between && (strcmp(finding->arm, row->arm) != 0 ||
                        finding == ifm_derived_dispute(row->derived[0], row->cell, row->arm, IFM_M_CHANGE_PERCENT) ||
                        ifm_derived_dispute(row->derived[0], row->cell, row->arm, IFM_M_CHANGE_PERCENT) == NULL);
}

/* "warning: decode: ... [r2, r1]": what runs find alike but for figures stands once, as the first has it. */
static void remark_of_runs(struct ifm_listing *listing, const char *text, const char *label)
{
    for (size_t i = 0; i < listing->n_remarks; i++) {
        const char *remark = listing->remarks[i], *end = ifm_text_alike(remark, text);
        if (end == NULL || strncmp(end, " [", 2) != 0)
            continue;
        if (!ifm_text_lists(end + 2, strlen(end) - 3, label)) /* without " [" and "]" */
            listing->remarks[i] = ifm_arena_printf(listing->arena, "%.*s, %s]", (int)strlen(remark) - 1, remark, label);
        return;
    }
    ifm_listing_remark(listing, ifm_arena_printf(listing->arena, "%s [%s]", text, label));
}

/* Behind a note of an arm in a comparison of two runs: which of them it is of; "" = of both. */
static const char *run_of(const struct ifm_comparison_row *row, const struct ifm_derived *derived,
                          const struct ifm_finding *finding, struct ifm_arena *arena)
{
    const struct ifm_derived *other = row->derived[derived == row->derived[0]];
    if (other == NULL)
        return "";
    for (const struct ifm_finding *f = NULL; (f = ifm_derived_finding(other, row->cell, f)) != NULL;)
        if (strcmp(f->arm, finding->arm) == 0 && strcmp(f->text, finding->text) == 0)
            return "";
    return ifm_arena_printf(arena, " [%s]", derived == row->derived[0] ? row->label : row->reference_label);
}

/* What is about an arm is a note of its row; what is about the cell or the run stands once below the table. A row
 * without a number has its reason, and no use for doubts about the number. */
static const char *findings_of(struct ifm_listing *listing, const struct ifm_comparison_row *row,
                               const struct ifm_derived *derived, const char *notes, json_t *texts)
{
    const struct ifm_finding *of_cell = NULL, *of_run = NULL, *finding;
    if (derived == NULL)
        return notes;
    of_cell = ifm_derived_finding(derived, row->cell, NULL);
    of_run = row->cell[0] == '\0' ? NULL : ifm_derived_finding(derived, "", NULL);
    while ((finding = of_cell == NULL || (of_run != NULL && of_run < of_cell) ? of_run : of_cell) !=
           NULL) { /* in the order of the list */
        if (finding == of_cell)
            of_cell = ifm_derived_finding(derived, row->cell, of_cell);
        else
            of_run = ifm_derived_finding(derived, "", of_run);
        if (!is_about(finding, row))
            continue;
        const char *text = finding_text(finding, finding->arm, listing->arena);
        bool own = strcmp(finding->arm, row->arm) == 0; /* the row says which arm: equal notes of arms are one */
        bool told = false;                              /* two runs share most of their findings */
        for (size_t t = 0; t < json_array_size(texts); t++)
            told |= strcmp(json_string_value(json_array_get(texts, t)), text) == 0;
        if (!told)
            json_array_append_new(texts, json_string(text));
        if (!is_shown(row, finding))
            continue;
        if (finding->arm[0] == '\0' && row->derived[1] != NULL)
            remark_of_runs(listing, finding_text(finding, finding->cell, listing->arena),
                           derived == row->derived[0] ? row->label : row->reference_label);
        else if (finding->arm[0] == '\0')
            ifm_listing_remark(listing, finding_text(finding, finding->cell, listing->arena));
        else if (row->change.state == IFM_STATE_OK)
            notes = note_number(listing, notes,
                                ifm_arena_printf(listing->arena, "%s%s",
                                                 own ? finding_text(finding, "", listing->arena) : text,
                                                 run_of(row, derived, finding, listing->arena)));
    }
    return notes;
}

static const char *add_findings(struct ifm_listing *listing, const struct ifm_comparison_row *row, const char *notes)
{
    json_t *texts = json_array();
    for (size_t i = 0; i < 2; i++)
        notes = findings_of(listing, row, row->derived[i], notes, texts);
    ifm_listing_set(listing, "findings", texts, NULL);
    return notes;
}

/* The change of a refused speed-up inside a run (rule 3) is measured, and no answer: "faster" would say the same. Nor
 * is one of a cell that nobody should use. */
static bool is_refused(const struct ifm_comparison_row *row)
{
    return row->not_used != NULL || (row->derived[1] == NULL && !row->energy && ifm_is_ok(&row->change) &&
                                     row->speedup.state == IFM_STATE_REFUSED);
}

static const char *word_shown(const struct ifm_comparison_row *row)
{
    if (row->change.state != IFM_STATE_OK || is_refused(row))
        return ifm_state_label(row->change.state != IFM_STATE_OK ? row->change.state : IFM_STATE_REFUSED);
    if (row->word[0] != '\0')
        return row->word;
    return row->not_comparable[0] != '\0' ? "not comparable" : "";
}

static const char *why_not(const struct ifm_value *value, struct ifm_arena *arena)
{
    const char *remedy = value->remedy == NULL ? "" : value->remedy;
    return ifm_arena_printf(arena, "%s%s%s", value->reason, remedy[0] != '\0' ? "; " : "", remedy);
}

static const struct ifm_value *value_of(const struct ifm_derived *derived, const char *cell, const char *arm,
                                        enum ifm_metric_id metric)
{
    return derived == NULL ? NULL : ifm_derived_value(derived, cell, arm, metric);
}

/* As the report's tables say it. */
static const char *shown_of(enum ifm_metric_id metric, const struct ifm_value *value, struct ifm_arena *arena)
{
    if (value->state != IFM_STATE_OK)
        return ifm_state_label(value->state);
    if (metric == IFM_M_BYTES_RATIO)
        return ifm_quantity_bytes_words(metric, value->number, arena);
    return ifm_quantity_number(ifm_quantity_for_people(metric, value, arena), arena);
}

static void set_number(struct ifm_listing *listing, const char *field, enum ifm_metric_id metric,
                       const struct ifm_value *value)
{
    ifm_listing_set_value(listing, field, value, value == NULL ? "" : shown_of(metric, value, listing->arena));
}

/* Rule 10: what a compressed arm pays stands beside its speed, and what the reference pays too where that is another
 * amount: a kernel that became faster by losing more did not become faster. */
static const char *add_price(struct ifm_listing *listing, const struct ifm_comparison_row *row, const char *notes)
{
    const struct ifm_value *loss = value_of(row->derived[0], row->cell, row->arm, IFM_M_LOSS_RMS_REL);
    bool within = row->derived[1] == NULL; /* across runs the bytes of an arm are held against its own baseline's */
    const struct ifm_value *other =
        value_of(row->derived[within ? 0 : 1], row->cell, row->reference, IFM_M_LOSS_RMS_REL);
    set_number(listing, "bytes_ratio", IFM_M_BYTES_RATIO,
               within ? value_of(row->derived[0], row->cell, row->arm, IFM_M_BYTES_RATIO) : NULL);
    set_number(listing, "loss_rms_rel", IFM_M_LOSS_RMS_REL, loss);
    set_number(listing, "attention_kl_nats", IFM_M_ATTENTION_KL_NATS,
               value_of(row->derived[0], row->cell, row->arm, IFM_M_ATTENTION_KL_NATS));
    bool same = other == NULL || (loss != NULL && loss->state == other->state && loss->number == other->number);
    if (same)
        return notes;
    return note_number(listing, notes,
                       ifm_arena_printf(listing->arena, "the output error of the reference is %s",
                                        shown_of(IFM_M_LOSS_RMS_REL, other, listing->arena)));
}

/* Inside a run, where the windows of both arms stood in the same blocks. */
static const char *add_energy(struct ifm_listing *listing, const struct ifm_comparison_row *row, const char *notes)
{
    const char *of;
    bool within = row->derived[0] != NULL && row->derived[1] == NULL;
    const struct ifm_value *change = within ? ifm_comparison_energy(row->derived[0], row->cell, row->arm, &of) : NULL;
    if (change == NULL)
        return notes;
    ifm_listing_set_value(listing, "energy_change_percent", change, ifm_comparison_change(change, listing->arena));
    ifm_listing_set_bounds(listing, "energy_change_low", "energy_change_high", change);
    ifm_listing_set(listing, "energy_per", json_string(of), NULL);
    return ifm_is_ok(change) ? notes : note_number(listing, notes, why_not(change, listing->arena));
}

/* Of programs, inside a run: their processor time beside the time, with its own word. */
static void add_cpu(struct ifm_listing *listing, const struct ifm_comparison_row *row)
{
    const bool within = row->derived[0] != NULL && row->derived[1] == NULL;
    const struct ifm_value *change =
        within ? value_of(row->derived[0], row->cell, row->arm, IFM_M_CHANGE_CPU_PERCENT) : NULL;
    if (!ifm_is_ok(change))
        return;
    ifm_listing_set_value(
        listing, "cpu_change_percent", change,
        ifm_arena_printf(listing->arena, "%s, %s", change->text, ifm_comparison_change(change, listing->arena)));
    ifm_listing_set_bounds(listing, "cpu_change_low", "cpu_change_high", change);
    ifm_listing_set(listing, "cpu_word", json_string(change->text), NULL);
}

/* A speed-up can be refused (rule 3) where the change is not: its reason is a note of its own. */
static const char *add_notes(struct ifm_listing *listing, const struct ifm_comparison_row *row)
{
    const char *notes = "";
    if (row->change.state != IFM_STATE_OK)
        notes = note_number(listing, notes, why_not(&row->change, listing->arena));
    else if (row->speedup.state != IFM_STATE_OK)
        notes = note_number(listing, notes, why_not(&row->speedup, listing->arena));
    else if (row->not_used != NULL)
        notes = note_number(listing, notes, row->not_used);
    else if (row->speedup.text != NULL && row->speedup.text[0] != '\0')
        notes = note_number(listing, notes, row->speedup.text);
    notes = add_energy(listing, row, add_price(listing, row, notes));
    if (row->not_comparable[0] != '\0')
        notes = note_number(listing, notes, row->not_comparable);
    return add_findings(listing, row, notes);
}

/* Between runs, the two numbers that are compared. */
static void add_values(struct ifm_listing *listing, const struct ifm_comparison_row *row)
{
    static const char *const fields[2][3] = {{"value", "value_low", "value_high"},
                                             {"reference_value", "reference_low", "reference_high"}};
    for (size_t i = 0; i < 2; i++) {
        const struct ifm_value *value = row->values[i];
        if (!ifm_is_ok(value))
            continue;
        ifm_listing_set_value(listing, fields[i][0], value, ifm_quantity_number(value, listing->arena));
        ifm_listing_set_bounds(listing, fields[i][1], fields[i][2], value);
    }
    if (row->values[0] != NULL)
        ifm_listing_set_text(listing, "unit", ifm_metrics[row->metric].unit);
}

static void add_speedup(struct ifm_listing *listing, const struct ifm_comparison_row *row)
{
    const struct ifm_value *speedup = &row->speedup;
    if (row->energy || row->across)
        return;
    ifm_listing_set_value(listing, "speedup", speedup,
                          ifm_is_ok(speedup) ? ifm_quantity_full(speedup, listing->arena) : "");
    ifm_listing_set_bounds(listing, "speedup_low", "speedup_high", speedup);
}

/* Between runs of one device, a share of a ceiling that cannot be compared. */
static bool is_lost_share(const struct ifm_comparison_row *row)
{
    return row->derived[1] != NULL && !row->across && row->change.state == IFM_STATE_ABSENT &&
           ifm_is_share(row->metric);
}

struct ifm_value ifm_comparison_for_people(enum ifm_metric_id metric, const struct ifm_value *of_time)
{
    struct ifm_value change = *of_time;
    if (ifm_is_ok(&change) && ifm_metrics[metric].better == IFM_BETTER_HIGHER) {
        change.number = 100 * (1 / (1 + of_time->number / 100) - 1);
        change.low = 100 * (1 / (1 + of_time->high / 100) - 1);
        change.high = 100 * (1 / (1 + of_time->low / 100) - 1);
    }
    return change;
}

static const char *change_shown(const struct ifm_comparison_row *row, bool between, struct ifm_arena *arena)
{
    const struct ifm_value change = between ? ifm_comparison_for_people(row->metric, &row->change) : row->change;
    return ifm_is_ok(&change) ? ifm_comparison_change(&change, arena) : "";
}

void ifm_comparison_add(struct ifm_listing *listing, const struct ifm_comparison_row *row)
{
    struct ifm_arena *arena = listing->arena;
    const struct ifm_value *change = &row->change, *speedup = &row->speedup, *mde = &row->mde;
    const struct ifm_value *worse = change->state != IFM_STATE_OK ? change : speedup;
    const char *metric = ifm_metrics[row->metric].id, *told = ifm_share_told(row->metric, row->integer);
    bool between = row->reference_label[0] != '\0';
    ifm_listing_row(listing);
    ifm_listing_set(listing, "run", json_string(row->run), row->label);
    ifm_listing_set_text(listing, "reference_run", row->reference_run);
    ifm_listing_set_text(listing, "cell", row->cell);
    ifm_listing_set_text(listing, "arm", row->arm);
    ifm_listing_set(listing, "reference", json_string(row->reference), between ? row->reference_label : row->reference);
    ifm_listing_set(listing, "metric", json_string(metric), between ? told : "");
    ifm_listing_set(listing, "word", json_string(is_refused(row) ? "" : row->word), word_shown(row));
    ifm_listing_set_value(listing, "change_percent", change, change_shown(row, between, arena));
    ifm_listing_set_bounds(listing, "change_low", "change_high", change);
    ifm_listing_set_level(listing, change);
    add_speedup(listing, row);
    ifm_listing_set_value(listing, "mde_percent", mde,
                          between || !ifm_is_ok(change) ? "" : ifm_comparison_detects(change, mde, arena));
    const int64_t all = between || row->energy || row->derived[0] == NULL
                            ? 0
                            : ifm_derived_all_blocks(row->derived[0], row->cell, row->arm);
    if (all > change->n && change->n > 0)
        ifm_listing_show(listing, "n", ifm_arena_printf(arena, "%lld of %lld", (long long)change->n, (long long)all));
    ifm_listing_set_text(listing, "n_of", change->n_of);
    const bool unused = worse->state == IFM_STATE_OK && row->not_used != NULL;
    ifm_listing_set_text(listing, "state", ifm_state_label(unused ? IFM_STATE_REFUSED : worse->state));
    bool kept = between && worse->state == IFM_STATE_OK && !ifm_is_empty(speedup->text); /* from a word */
    ifm_listing_set_text(listing, "reason", unused ? row->not_used : kept ? speedup->text : worse->reason);
    ifm_listing_set_text(listing, "remedy", worse->remedy);
    ifm_listing_set_text(listing, "not_comparable", row->not_comparable);
    add_cpu(listing, row);
    add_values(listing, row);
    if (is_lost_share(row)) { /* many rows of one reason */
        ifm_listing_hide(listing);
        ifm_listing_remark(listing, ifm_arena_printf(arena, "shares of ceilings absent: %s", why_not(change, arena)));
        add_findings(listing, row, "");
        return;
    }
    ifm_listing_show(listing, "notes", add_notes(listing, row));
}

size_t ifm_comparison_add_run(struct ifm_listing *listing, const struct ifm_plan *plan,
                              const struct ifm_derived *derived, const struct ifm_verdict *verdict, const char *cell,
                              const char *reference)
{
    size_t n = 0;
    for (size_t c = 0; c < plan->n_cells; c++) {
        const struct ifm_cell *here = &plan->cells[c];
        const struct ifm_arm *baseline = ifm_cell_baseline(here);
        const char *against = reference != NULL ? reference : baseline != NULL ? baseline->name : "";
        for (size_t a = 0; a < here->n_arms && (cell == NULL || strcmp(cell, here->name) == 0); a++) {
            const char *arm = here->arms[a].name;
            const struct ifm_value *change = value_of(derived, here->name, arm, IFM_M_CHANGE_PERCENT);
            const struct ifm_value *speedup = value_of(derived, here->name, arm, IFM_M_SPEEDUP);
            const struct ifm_value *mde = value_of(derived, here->name, arm, IFM_M_MDE_PERCENT);
            if (change == NULL || speedup == NULL || mde == NULL)
                continue;
            const bool gated = verdict != NULL && reference == NULL;
            ifm_comparison_add(listing,
                               &(struct ifm_comparison_row){.run = derived->run_id,
                                                            .reference_run = derived->run_id,
                                                            .cell = here->name,
                                                            .arm = arm,
                                                            .reference = against,
                                                            .metric = IFM_M_STEP_NS,
                                                            .change = *change,
                                                            .speedup = *speedup,
                                                            .mde = *mde,
                                                            .word = gated ? ifm_judge_word(verdict, here, arm, change)
                                                                    : ifm_is_ok(change) ? change->text
                                                                                        : "",
                                                            .not_comparable = "",
                                                            .derived = {derived},
                                                            .label = "",
                                                            .reference_label = ""});
            n++;
        }
    }
    return n;
}

void ifm_comparison_add_between(struct ifm_listing *listing, const struct ifm_comparison_runs *runs,
                                const struct ifm_between *between)
{
    for (size_t i = 0; i < between->n; i++) {
        const struct ifm_between_row *row = &between->rows[i];
        const struct ifm_distrust distrust = ifm_distrust_of(runs, row->cell);
        ifm_comparison_add(
            listing, &(struct ifm_comparison_row){
                         .run = runs->other->plan->run_id,
                         .reference_run = runs->reference->plan->run_id,
                         .cell = row->cell,
                         .arm = row->arm,
                         .reference = row->arm,
                         .metric = row->metric,
                         .change = row->change,
                         .speedup = row->speedup,
                         .mde = row->mde,
                         .word = row->word,
                         /* a ratio inside each run survives what differs between them */
                         .not_comparable = row->interleaved ? "" : row->not_comparable,
                         .not_used = distrust.why == NULL || row->change.state != IFM_STATE_OK
                                         ? NULL
                                         : ifm_arena_printf(listing->arena, "%s: %s", distrust.label, distrust.why),
                         .derived = {runs->other->derived, runs->reference->derived},
                         .label = runs->other_label,
                         .reference_label = runs->reference_label,
                         .values = {row->beside ? &row->other : NULL, row->beside ? &row->reference : NULL},
                         .energy = row->energy,
                         .across = row->across,
                         .integer = row->integer});
    }
}
