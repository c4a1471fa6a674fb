/* Gate lines: from verdict and comparison to rows and JUnit XML. */
#include "publish/junit.h"

#include "document/escape.h"
#include "document/quantity.h"
#include "publish/comparison.h"
#include "publish/distrust.h"
#include <math.h>
#include <string.h>

static struct ifm_gate_line *add_line(struct ifm_gate_lines *out, struct ifm_arena *arena)
{
    IFM_ARENA_GROW(arena, out->items, out->n, out->capacity);
    return &out->items[out->n++];
}

/* A percentage, with its interval and, where that is not 95 %, its level, as the gate's sentence has it. */
static const char *seen_of(const struct ifm_gate_result *result, const struct ifm_value *people,
                           struct ifm_arena *arena)
{
    const char *number, *range;
    if (!ifm_is_ok(people) || people->unit == NULL || strcmp(people->unit, "%") != 0)
        return NULL;
    ifm_judge_seen(result->gate, &result->observed, arena, &number, &range);
    const bool usual = range[0] == '\0' || people->level == 0 || fabs(people->level - 0.95) < 1e-9;
    return ifm_arena_printf(arena, "%s%s%s%s", number, range[0] == '\0' ? "" : " ", range,
                            usual ? "" : ifm_arena_printf(arena, " at %.4g %%", 100 * people->level));
}

static void add_gates(const struct ifm_run_view *run, const struct ifm_verdict *verdict, struct ifm_arena *arena,
                      struct ifm_gate_lines *out)
{
    for (size_t i = 0; i < verdict->n_gates; i++) {
        const struct ifm_gate_result *result = &verdict->gates[i];
        const enum ifm_metric_id metric = ifm_metric_of(result->gate->metric);
        const struct ifm_value *people = ifm_quantity_for_people(metric, &result->observed, arena);
        const struct ifm_undecided of = {run->derived, verdict, run->events, ifm_plan_cell(run->plan, result->cell),
                                         result->arm};
        *add_line(out, arena) = (struct ifm_gate_line){
            .name = ifm_judge_gate_name(result->gate),
            .cell = result->cell,
            .arm = result->arm,
            .metric = result->gate->metric,
            .outcome = result->outcome,
            .missing_capability = result->missing_capability,
            .further = result->further,
            .observed = result->observed,
            .seen = seen_of(result, people, arena),
            .threshold =
                ifm_arena_printf(arena, "%s %s%s", result->gate->op == IFM_GATE_AT_MOST ? "at most" : "at least",
                                 ifm_quantity_limit(result->gate, arena),
                                 ifm_judge_by_interval(result->gate, &result->observed) ? ", whole interval" : ""),
            .reason = ifm_arena_printf(arena, "%s%s", result->reason, ifm_judge_takes(&of, result, arena)),
            .caveat = ifm_judge_unseen_words(result, arena),
            .remedy = result->remedy,
        };
    }
}

void ifm_gate_lines_block(struct ifm_gate_lines *out, struct ifm_arena *arena, const char *name, const char *reason)
{
    *add_line(out, arena) = (struct ifm_gate_line){
        .name = name,
        .cell = "",
        .arm = "",
        .metric = "",
        .outcome = IFM_OUTCOME_BLOCKED,
        .observed = {.state = IFM_STATE_ABSENT, .reason = "", .remedy = "", .text = "", .unit = "", .n_of = ""},
        .threshold = "",
        .reason = reason,
    };
}

void ifm_gate_lines_run(const struct ifm_run_view *run, const struct ifm_verdict *verdict, struct ifm_arena *arena,
                        struct ifm_gate_lines *out)
{
    add_gates(run, verdict, arena, out);
    if (verdict->exit_code != IFM_OK && ifm_gate_lines_status(out) == IFM_OK)
        ifm_gate_lines_block(out, arena, "the run itself", verdict->reasons[0]);
}

/* ---- against a reference ---- */

/* The margin as a limit of what people read: more than it in time is less than its inverse in speed. */
static const char *limit_of(const struct ifm_between_row *row, struct ifm_arena *arena)
{
    const struct ifm_value in_time = {.number = 100 * row->margin};
    const double limit = ifm_comparison_for_people(row->metric, &in_time).number;
    return ifm_arena_printf(arena, "%s%.3g %%", limit < 0 ? "" : "+", limit);
}

static const char *open_reason(const struct ifm_between_row *row, const char *change, struct ifm_arena *arena)
{
    const char *lead = ifm_arena_printf(arena, "%s%s, on both sides of the limit of %s", change,
                                        row->energy ? " in energy per baseline" : "", limit_of(row, arena));
    const char *counted = row->energy ? "windows" : "blocks";
    if (row->few)
        return ifm_arena_printf(arena, "%s: " IFM_TOO_FEW_TO_FORETELL, lead);
    if (row->further == 0)
        return ifm_arena_printf(
            arena,
            "%s: the estimate is within its noise of it, so that no number of %s can be foretold; four times as many "
            "in each run about halve the interval",
            lead, counted);
    return ifm_arena_printf(arena, "%s: about %llu more %s in each run would probably decide", lead,
                            (unsigned long long)row->further, counted);
}

static void judge_row(const struct ifm_between_row *row, struct ifm_arena *arena, struct ifm_gate_line *line)
{
    const char *change = ifm_comparison_change(&line->observed, arena), *limit = limit_of(row, arena);
    line->outcome = IFM_OUTCOME_BLOCKED;
    if (row->change.state != IFM_STATE_OK) {
        line->reason = ifm_arena_printf(arena, "%s: %s", ifm_state_label(row->change.state), row->change.reason);
        line->remedy = row->change.remedy;
    } else if (!ifm_is_empty(row->speedup.text)) { /* shown all the same, and decides nothing */
        line->reason = row->speedup.text;
        line->remedy = row->speedup.remedy;
    } else if (row->standing == IFM_STANDING_REGRESSED) {
        line->outcome = IFM_OUTCOME_FAIL;
        line->reason =
            ifm_arena_printf(arena, "worse than the reference: %s, wholly beyond the limit of %s", change, limit);
    } else if (row->standing == IFM_STANDING_HOLDS) {
        line->outcome = IFM_OUTCOME_PASS;
        line->reason =
            ifm_arena_printf(arena, "not worse than the reference: %s, no end beyond the limit of %s", change, limit);
    } else {
        line->outcome = IFM_OUTCOME_INCONCLUSIVE;
        line->further = row->further;
        line->reason = open_reason(row, change, arena);
    }
}

static const char *percent_of(const struct ifm_value *loss, struct ifm_arena *arena)
{
    return ifm_quantity_number(ifm_quantity_for_people(IFM_M_LOSS_RMS_REL, loss, arena), arena);
}

/* A line of its own, so that a speed-up that holds is not taken for one that costs no more than it did. */
static void judge_loss(const struct ifm_between_row *row, const char *label, struct ifm_arena *arena,
                       struct ifm_gate_line *line)
{
    const struct ifm_metric_told told = ifm_metric_told(IFM_M_LOSS_RMS_REL);
    const char *before = percent_of(&row->reference_loss, arena);
    *line = (struct ifm_gate_line){
        .name = ifm_arena_printf(arena, "%s against %s", told.name, label),
        .cell = row->cell,
        .arm = row->arm,
        .metric = "loss_rms_rel",
        .observed = row->other_loss,
        .threshold = ifm_arena_printf(arena, "at most %s, and %.3g %% of it more", before, 100 * row->margin),
    };
    if (row->loss_standing == IFM_STANDING_UNDECIDED) {
        line->outcome = IFM_OUTCOME_BLOCKED;
        line->reason =
            ifm_arena_printf(arena, "%s: %s", ifm_state_label(row->other_loss.state), row->other_loss.reason);
        line->remedy = row->other_loss.remedy;
        return;
    }
    bool holds = row->loss_standing == IFM_STANDING_HOLDS;
    line->outcome = holds ? IFM_OUTCOME_PASS : IFM_OUTCOME_FAIL;
    line->reason = ifm_arena_printf(arena, "the output %s: %s against %s in the reference",
                                    holds ? "loses no more than it did" : "loses more than it did",
                                    percent_of(&row->other_loss, arena), before);
}

static void add_note(struct ifm_gate_lines *out, const struct ifm_between_row *row, const char *reason,
                     struct ifm_arena *arena)
{
    IFM_ARENA_GROW(arena, out->notes, out->n_notes, out->notes_capacity);
    out->notes[out->n_notes++] = ifm_arena_printf(
        arena, "not judged: %s%s%s%s%s: %s", row->cell, row->arm[0] != '\0' ? ", " : "", row->arm,
        row->missing ? "" : ", ", row->missing ? "" : ifm_share_told(row->metric, row->integer), reason);
}

void ifm_gate_lines_between(const struct ifm_between *between, const char *label, struct ifm_arena *arena,
                            struct ifm_gate_lines *out)
{
    for (size_t i = 0; i < between->n; i++) {
        const struct ifm_between_row *row = &between->rows[i];
        if (row->missing)
            add_note(out, row, row->change.reason, arena);
        if (!row->interleaved)
            continue; /* a time of another run, perhaps of another host, proves nothing */
        if (row->reference.state != IFM_STATE_OK) {
            add_note(out, row, ifm_arena_printf(arena, "in the reference: %s", row->reference.reason), arena);
            continue;
        }
        const bool more_is_better = ifm_metrics[row->metric].better == IFM_BETTER_HIGHER;
        struct ifm_gate_line *line = add_line(out, arena);
        *line = (struct ifm_gate_line){
            .name = ifm_arena_printf(arena, "%s against %s", ifm_share_told(row->metric, row->integer), label),
            .cell = row->cell,
            .arm = row->arm,
            .metric = ifm_metrics[row->metric].id,
            .observed = ifm_comparison_for_people(row->metric, &row->change),
            .threshold =
                ifm_arena_printf(arena, "%s %s", more_is_better ? "at least" : "at most", limit_of(row, arena)),
        };
        judge_row(row, arena, line);
        if (row->lossy)
            judge_loss(row, label, arena, add_line(out, arena));
    }
}

void ifm_gate_lines_distrust(struct ifm_gate_lines *lines, const struct ifm_comparison_runs *runs,
                             struct ifm_arena *arena)
{
    for (size_t i = 0; i < lines->n; i++) {
        struct ifm_gate_line *line = &lines->items[i];
        const struct ifm_distrust distrust = ifm_distrust_of_arm(runs, line->cell, line->arm);
        if (distrust.why == NULL || line->outcome == IFM_OUTCOME_BLOCKED)
            continue;
        line->outcome = IFM_OUTCOME_BLOCKED;
        line->further = 0;
        line->reason = ifm_arena_printf(arena, "%s is not to be used: %s", distrust.label, distrust.why);
        line->remedy = ifm_arena_printf(arena, "`inferometer report %s` says what to do", distrust.label);
    }
}

enum ifm_outcome ifm_gate_lines_outcome(const struct ifm_gate_lines *lines)
{
    bool seen[IFM_OUTCOME_NOT_GATED + 1] = {false};
    for (size_t i = 0; i < lines->n; i++)
        seen[lines->items[i].outcome] = true;
    return seen[IFM_OUTCOME_FAIL]           ? IFM_OUTCOME_FAIL
           : seen[IFM_OUTCOME_BLOCKED]      ? IFM_OUTCOME_BLOCKED
           : seen[IFM_OUTCOME_INCONCLUSIVE] ? IFM_OUTCOME_INCONCLUSIVE
                                            : IFM_OUTCOME_PASS;
}

enum ifm_status ifm_gate_lines_status(const struct ifm_gate_lines *lines)
{
    enum ifm_outcome worst = ifm_gate_lines_outcome(lines);
    if (worst == IFM_OUTCOME_FAIL || worst == IFM_OUTCOME_PASS)
        return worst == IFM_OUTCOME_FAIL ? IFM_REJECTED : IFM_OK;
    for (size_t i = 0; i < lines->n; i++) {
        const struct ifm_gate_line *line = &lines->items[i];
        if (line->outcome != IFM_OUTCOME_PASS && !line->missing_capability)
            return IFM_INVALID;
    }
    return IFM_MISSING;
}

/* ---- rows ---- */

static const struct ifm_listing_column columns[] = {
    {"gate", "gate", true},       {"cell", "cell", true},      {"arm", "arm", true},   {"metric", NULL, true},
    {"outcome", "outcome", true}, {"value", "observed", true}, {"low", NULL, false},   {"high", NULL, false},
    {"level", NULL, false},       {"unit", NULL, true},        {"n", "n", false},      {"threshold", "threshold", true},
    {"further", NULL, false},     {"reason", NULL, true},      {"remedy", NULL, true}, {"", "notes", true},
};

static const char *observed_text(const char *metric, const struct ifm_value *value, struct ifm_arena *arena)
{
    if (value->state != IFM_STATE_OK)
        return ifm_state_label(value->state);
    const struct ifm_value *people = ifm_quantity_for_people(ifm_metric_of(metric), value, arena);
    if (people != value)
        return ifm_quantity_full(people, arena);
    bool signed_percent = value->unit != NULL && strcmp(value->unit, "%") == 0;
    return signed_percent ? ifm_comparison_change(value, arena) : ifm_quantity_full(value, arena);
}

/* The reason without the number that stands in the row: "wholly above 3 %"; "worse than the reference, wholly ...". */
static const char *beside_row(const char *reason, const char *observed, struct ifm_arena *arena)
{
    const char *at = observed[0] == '\0' ? NULL : strstr(reason, observed);
    if (at == NULL || at == reason || at[-1] != ' ')
        return reason;
    const size_t before = (size_t)(at - reason);
    const bool leads = before > 2 && strncmp(at - 2, ": ", 2) == 0;
    at += strlen(observed);
    if (strncmp(at, " (", 2) == 0 && strstr(at, "), ") != NULL) /* the change as a speed */
        at = strstr(at, "), ") + 1;
    if (strncmp(at, ", ", 2) != 0)
        return reason;
    return leads ? ifm_arena_printf(arena, "%.*s%s", (int)before - 2, reason, at) : at + 2;
}

struct ifm_listing ifm_gate_lines_listing(const struct ifm_gate_lines *lines, struct ifm_arena *arena)
{
    struct ifm_listing listing = ifm_listing_begin(columns, sizeof columns / sizeof columns[0], arena);
    for (size_t i = 0; i < lines->n; i++) {
        const struct ifm_gate_line *line = &lines->items[i];
        const struct ifm_value *value = &line->observed;
        const char *remedy = line->remedy == NULL ? "" : line->remedy;
        const char *seen = line->seen != NULL ? line->seen : observed_text(line->metric, value, arena);
        ifm_listing_row(&listing);
        ifm_listing_set_text(&listing, "gate", line->name);
        ifm_listing_set_text(&listing, "cell", line->cell);
        ifm_listing_set_text(&listing, "arm", line->arm);
        ifm_listing_set_text(&listing, "metric", line->metric);
        ifm_listing_set_text(&listing, "outcome", ifm_outcome_name(line->outcome));
        ifm_listing_set_value(&listing, "value", value, seen);
        ifm_listing_set_bounds(&listing, "low", "high", value);
        ifm_listing_set_level(&listing, value);
        ifm_listing_set_text(&listing, "unit", value->unit);
        ifm_listing_set_text(&listing, "threshold", line->threshold);
        if (line->further > 0)
            ifm_listing_set(&listing, "further", json_integer((json_int_t)line->further), NULL);
        ifm_listing_set_text(&listing, "reason", line->reason);
        ifm_listing_set_text(&listing, "remedy", remedy);
        if (line->outcome != IFM_OUTCOME_PASS) /* of a gate that passes, the numbers say all */
            ifm_listing_show_note(&listing, ifm_with_remedy(beside_row(line->reason, seen, arena), remedy, arena));
        if (!ifm_is_empty(line->caveat))
            ifm_listing_remark(&listing, line->caveat);
    }
    for (size_t i = 0; i < lines->n_notes; i++)
        ifm_listing_remark(&listing, lines->notes[i]);
    return listing;
}

/* ---- JUnit ---- */

static void add_case(const struct ifm_gate_line *line, struct ifm_text *out)
{
    const bool whole = ifm_is_empty(line->caveat);
    const char *stop = whole ? "" : "; ", *caveat = whole ? "" : line->caveat;
    const char *cell = line->cell[0] != '\0' ? line->cell : "run", *slash = line->arm[0] != '\0' ? " / " : "";
    bool skipped = line->outcome == IFM_OUTCOME_BLOCKED && line->missing_capability;
    bool unanswered = line->outcome == IFM_OUTCOME_BLOCKED || line->outcome == IFM_OUTCOME_INCONCLUSIVE;
    ifm_escape_print(ifm_escape_xml, out, "    <testcase classname=\"%s\" name=\"%s%s%s\">\n", cell, line->name, slash,
                     line->arm);
    if (line->outcome != IFM_OUTCOME_FAIL && !unanswered)
        ifm_escape_print(ifm_escape_xml, out, "      <system-out>%s%s%s</system-out>\n", line->reason, stop, caveat);
    else if (skipped)
        ifm_escape_print(ifm_escape_xml, out, "      <skipped message=\"%s\"/>\n", line->reason);
    else
        ifm_escape_print(ifm_escape_xml, out, "      <%s message=\"%s%s%s\" type=\"%s\"/>\n",
                         line->outcome == IFM_OUTCOME_FAIL ? "failure" : "error", line->reason, stop, caveat,
                         ifm_outcome_name(line->outcome));
    ifm_text_add(out, "    </testcase>\n");
}

void ifm_gate_lines_junit(const struct ifm_gate_lines *lines, const char *run_id, struct ifm_text *out)
{
    size_t failed = 0, errors = 0, skipped = 0;
    for (size_t i = 0; i < lines->n; i++) {
        const struct ifm_gate_line *line = &lines->items[i];
        failed += line->outcome == IFM_OUTCOME_FAIL;
        skipped += line->outcome == IFM_OUTCOME_BLOCKED && line->missing_capability;
        errors += line->outcome == IFM_OUTCOME_INCONCLUSIVE ||
                  (line->outcome == IFM_OUTCOME_BLOCKED && !line->missing_capability);
    }
    ifm_text_printf(out,
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<testsuites>\n"
                    "  <testsuite name=\"inferometer gate\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
                    "skipped=\"%zu\">\n",
                    lines->n, failed, errors, skipped);
    ifm_escape_print(ifm_escape_xml, out, "    <properties>\n      <property name=\"run_id\" value=\"%s\"/>\n", run_id);
    if (lines->trust != NULL)
        ifm_escape_print(ifm_escape_xml, out, "      <property name=\"trust\" value=\"%s\"/>\n", lines->trust);
    ifm_text_add(out, "    </properties>\n");
    for (size_t i = 0; i < lines->n; i++)
        add_case(&lines->items[i], out);
    ifm_text_add(out, "  </testsuite>\n</testsuites>\n");
}
