/* Gate lines: from verdict and comparison to rows and JUnit XML. */
#include "publish/junit.h"

#include "document/escape.h"
#include "document/quantity.h"
#include "publish/comparison.h"
#include <string.h>

static struct ifm_gate_line *add_line(struct ifm_gate_lines *out, struct ifm_arena *arena)
{
    IFM_ARENA_GROW(arena, out->items, out->n, out->capacity);
    return &out->items[out->n++];
}

void ifm_gate_lines_verdict(const struct ifm_verdict *verdict, struct ifm_arena *arena, struct ifm_gate_lines *out)
{
    for (size_t i = 0; i < verdict->n_gates; i++) {
        const struct ifm_gate_result *result = &verdict->gates[i];
        const char *unit = result->observed.unit == NULL ? "" : result->observed.unit;
        *add_line(out, arena) = (struct ifm_gate_line){
            .name = result->gate->name,
            .cell = result->cell,
            .arm = result->arm,
            .metric = result->gate->metric,
            .outcome = result->outcome,
            .missing_capability = result->missing_capability,
            .observed = result->observed,
            .threshold =
                ifm_arena_printf(arena, "%s %s%s", result->gate->op == IFM_GATE_AT_MOST ? "at most" : "at least",
                                 ifm_quantity_bare(result->gate->threshold, unit, arena),
                                 result->gate->interval ? ", whole interval" : ""),
            .reason = result->reason,
        };
    }
}

/* ---- against a reference ---- */

static const char *undecided_reason(const struct ifm_between_row *row, const char *change, struct ifm_arena *arena)
{
    const char *lead = ifm_arena_printf(
        arena, "undecided: %s in time per baseline or ceiling, and the interval holds the margin of +%.3g %%", change,
        100 * row->margin);
    if (row->blocks_needed == 0)
        return ifm_arena_printf(arena, "%s; no sensible number of blocks would decide it: widen measure.margin", lead);
    return ifm_arena_printf(arena, "%s; about %lld blocks in each run would decide it, if the difference stays", lead,
                            (long long)row->blocks_needed);
}

static void judge_row(const struct ifm_between_row *row, struct ifm_arena *arena, struct ifm_gate_line *line)
{
    const char *change = ifm_comparison_change(&row->change, arena);
    if (row->change.state != IFM_STATE_OK) {
        line->outcome = IFM_OUTCOME_BLOCKED;
        line->reason = ifm_arena_printf(arena, "%s: %s", ifm_state_label(row->change.state), row->change.reason);
    } else if (row->standing == IFM_STANDING_REGRESSED) {
        line->outcome = IFM_OUTCOME_FAIL;
        line->reason = ifm_arena_printf(arena, "worse than the reference: %s, wholly beyond the margin of +%.3g %%",
                                        change, 100 * row->margin);
    } else if (row->standing == IFM_STANDING_HOLDS) {
        line->outcome = IFM_OUTCOME_PASS;
        line->reason = ifm_arena_printf(arena, "not worse than the reference: %s, no end beyond the margin of +%.3g %%",
                                        change, 100 * row->margin);
    } else {
        line->outcome = IFM_OUTCOME_BLOCKED;
        line->reason = undecided_reason(row, change, arena);
    }
}

/* A line of its own, so that a speed-up that holds is not taken for one that costs no more than it did. */
static void judge_loss(const struct ifm_between_row *row, const char *label, struct ifm_arena *arena,
                       struct ifm_gate_line *line)
{
    const char *before = ifm_quantity_short(row->reference_loss.number, arena);
    *line = (struct ifm_gate_line){
        .name = ifm_arena_printf(arena, "loss_rms_rel against %s", label),
        .cell = row->cell,
        .arm = row->arm,
        .metric = "loss_rms_rel",
        .observed = row->other_loss,
        .threshold = ifm_arena_printf(arena, "at most %s +%.3g %%", before, 100 * row->margin),
    };
    if (row->loss_standing == IFM_STANDING_UNDECIDED) {
        line->outcome = IFM_OUTCOME_BLOCKED;
        line->reason =
            ifm_arena_printf(arena, "%s: %s", ifm_state_label(row->other_loss.state), row->other_loss.reason);
        return;
    }
    bool holds = row->loss_standing == IFM_STANDING_HOLDS;
    line->outcome = holds ? IFM_OUTCOME_PASS : IFM_OUTCOME_FAIL;
    line->reason = ifm_arena_printf(arena, "the output %s: %s against %s in the reference",
                                    holds ? "loses no more than it did" : "loses more than it did",
                                    ifm_quantity_short(row->other_loss.number, arena), before);
}

static void add_note(struct ifm_gate_lines *out, const struct ifm_between_row *row, const char *reason,
                     struct ifm_arena *arena)
{
    IFM_ARENA_GROW(arena, out->notes, out->n_notes, out->notes_capacity);
    out->notes[out->n_notes++] =
        ifm_arena_printf(arena, "not judged: %s%s%s%s%s: %s", row->cell, row->arm[0] != '\0' ? ", " : "", row->arm,
                         row->missing ? "" : ", ", row->missing ? "" : ifm_metrics[row->metric].id, reason);
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
        struct ifm_gate_line *line = add_line(out, arena);
        *line = (struct ifm_gate_line){
            .name = ifm_arena_printf(arena, "%s against %s", ifm_metrics[row->metric].id, label),
            .cell = row->cell,
            .arm = row->arm,
            .metric = ifm_metrics[row->metric].id,
            .observed = row->change,
            .threshold = ifm_arena_printf(arena, "at most +%.3g %%", 100 * row->margin),
        };
        judge_row(row, arena, line);
        if (row->lossy)
            judge_loss(row, label, arena, add_line(out, arena));
    }
}

enum ifm_status ifm_gate_lines_status(const struct ifm_gate_lines *lines)
{
    enum ifm_status status = IFM_OK;
    for (size_t i = 0; i < lines->n; i++) {
        const struct ifm_gate_line *line = &lines->items[i];
        if (line->outcome == IFM_OUTCOME_FAIL)
            return IFM_REJECTED;
        if (line->outcome == IFM_OUTCOME_BLOCKED && status != IFM_INVALID)
            status = line->missing_capability ? IFM_MISSING : IFM_INVALID;
    }
    return status;
}

/* ---- rows ---- */

static const struct ifm_listing_column columns[] = {
    {"gate", "gate", true},       {"cell", "cell", true},      {"arm", "arm", true}, {"metric", NULL, true},
    {"outcome", "outcome", true}, {"value", "observed", true}, {"low", NULL, false}, {"high", NULL, false},
    {"level", NULL, false},       {"unit", NULL, true},        {"n", "n", false},    {"threshold", "threshold", true},
    {"reason", NULL, true},       {"remedy", NULL, true},      {"", "notes", true},
};

static const char *observed_text(const struct ifm_value *value, struct ifm_arena *arena)
{
    if (value->state != IFM_STATE_OK)
        return ifm_state_label(value->state);
    bool signed_percent = value->unit != NULL && strcmp(value->unit, "%") == 0;
    return signed_percent ? ifm_comparison_change(value, arena) : ifm_quantity_full(value, arena);
}

static const char *note_of(struct ifm_listing *listing, const char *reason, const char *remedy)
{
    const char *text = remedy[0] == '\0' ? reason : ifm_arena_printf(listing->arena, "%s. Remedy: %s", reason, remedy);
    return ifm_arena_printf(listing->arena, "[%zu]", ifm_listing_note(listing, text));
}

struct ifm_listing ifm_gate_lines_listing(const struct ifm_gate_lines *lines, struct ifm_arena *arena)
{
    struct ifm_listing listing = ifm_listing_begin(columns, sizeof columns / sizeof columns[0], arena);
    for (size_t i = 0; i < lines->n; i++) {
        const struct ifm_gate_line *line = &lines->items[i];
        const struct ifm_value *value = &line->observed;
        const char *unit = value->unit == NULL ? "" : value->unit, *outcome = ifm_outcome_name(line->outcome);
        ifm_listing_row(&listing);
        ifm_listing_set(&listing, "gate", json_string(line->name), line->name);
        ifm_listing_set(&listing, "cell", json_string(line->cell), line->cell);
        ifm_listing_set(&listing, "arm", json_string(line->arm), line->arm);
        ifm_listing_set(&listing, "metric", json_string(line->metric), NULL);
        ifm_listing_set(&listing, "outcome", json_string(outcome), outcome);
        ifm_listing_set(&listing, "value", ifm_listing_real(value), observed_text(value, arena));
        ifm_listing_set(&listing, "low", ifm_listing_bound(value, value->low), NULL);
        ifm_listing_set(&listing, "high", ifm_listing_bound(value, value->high), NULL);
        ifm_listing_set(&listing, "level", ifm_listing_bound(value, value->level), NULL);
        ifm_listing_set(&listing, "unit", json_string(unit), NULL);
        if (value->n > 0)
            ifm_listing_set(&listing, "n", json_integer(value->n),
                            ifm_arena_printf(arena, "%lld", (long long)value->n));
        ifm_listing_set(&listing, "threshold", json_string(line->threshold), line->threshold);
        const char *remedy = value->state == IFM_STATE_OK || value->remedy == NULL ? "" : value->remedy;
        ifm_listing_set(&listing, "reason", json_string(line->reason), NULL);
        ifm_listing_set(&listing, "remedy", json_string(remedy), NULL);
        if (line->outcome != IFM_OUTCOME_PASS) /* of a gate that passes, the numbers say all */
            ifm_listing_show(&listing, "notes", note_of(&listing, line->reason, remedy));
    }
    for (size_t i = 0; i < lines->n_notes; i++)
        ifm_listing_remark(&listing, lines->notes[i]);
    return listing;
}

/* ---- JUnit ---- */

static void add_attribute(const char *name, const char *value, struct ifm_text *out)
{
    ifm_text_printf(out, " %s=\"", name);
    ifm_escape_xml(value, out);
    ifm_text_add(out, "\"");
}

static void add_case(const struct ifm_gate_line *line, struct ifm_text *out)
{
    static const char *const elements[] = {NULL, "failure", "error", "skipped"};
    const char *element = elements[line->outcome == IFM_OUTCOME_FAIL      ? 1
                                   : line->outcome != IFM_OUTCOME_BLOCKED ? 0
                                   : line->missing_capability             ? 3
                                                                          : 2];
    struct ifm_text place = {0};
    ifm_text_printf(&place, "%s%s%s", line->name, line->arm[0] != '\0' ? " / " : "", line->arm);
    ifm_text_add(out, "    <testcase");
    add_attribute("classname", line->cell[0] != '\0' ? line->cell : "run", out);
    add_attribute("name", place.data, out);
    ifm_text_free(&place);
    if (element == NULL) {
        ifm_text_add(out, ">\n      <system-out>");
        ifm_escape_xml(line->reason, out);
        ifm_text_add(out, "</system-out>\n    </testcase>\n");
        return;
    }
    ifm_text_printf(out, ">\n      <%s", element);
    add_attribute("message", line->reason, out);
    if (line->outcome == IFM_OUTCOME_FAIL || !line->missing_capability)
        add_attribute("type", ifm_outcome_name(line->outcome), out);
    ifm_text_add(out, "/>\n    </testcase>\n");
}

void ifm_gate_lines_junit(const struct ifm_gate_lines *lines, const char *run_id, struct ifm_text *out)
{
    size_t failed = 0, errors = 0, skipped = 0;
    for (size_t i = 0; i < lines->n; i++) {
        const struct ifm_gate_line *line = &lines->items[i];
        failed += line->outcome == IFM_OUTCOME_FAIL;
        skipped += line->outcome == IFM_OUTCOME_BLOCKED && line->missing_capability;
        errors += line->outcome == IFM_OUTCOME_BLOCKED && !line->missing_capability;
    }
    ifm_text_printf(out,
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<testsuites>\n"
                    "  <testsuite name=\"inferometer gate\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
                    "skipped=\"%zu\">\n    <properties>\n      <property name=\"run_id\"",
                    lines->n, failed, errors, skipped);
    add_attribute("value", run_id, out);
    ifm_text_add(out, "/>\n    </properties>\n");
    for (size_t i = 0; i < lines->n; i++)
        add_case(&lines->items[i], out);
    ifm_text_add(out, "  </testsuite>\n</testsuites>\n");
}
