/* report.md: the whole report but its pictures and the list of every number, for pull requests, issues and wikis. */
#include "judge/review/checklist.h"
#include "model/lock_state.h"
#include "model/machine_facts.h"
#include "publish/compose.h"
#include "publish/view.h"
#include <string.h>
#include <time.h>

/* A field must not end its own row, nor start markup. */
static void add_escaped(const char *text, struct ifm_text *out)
{
    for (; *text != '\0'; text++) {
        if (strchr("|*_`<>\\", *text) != NULL)
            ifm_text_append(out, "\\", 1);
        ifm_text_append(out, *text == '\n' || *text == '\r' ? " " : text, 1);
    }
}

static void add_field(const struct ifm_field *field, struct ifm_text *out)
{
    if (field->tone == IFM_TONE_STRONG)
        ifm_text_add(out, "**");
    add_escaped(field->text, out);
    if (field->tone == IFM_TONE_STRONG)
        ifm_text_add(out, "**");
    if (field->note > 0)
        ifm_text_printf(out, "<sup>%u</sup>", field->note);
    if (field->interval[0] != '\0')
        ifm_text_add(out, " ");
    add_escaped(field->interval, out);
}

static void add_grid(const struct ifm_grid *grid, struct ifm_text *out)
{
    if (grid->n_rows == 0)
        return;
    for (size_t c = 0; c < grid->n_columns; c++)
        ifm_text_printf(out, "| %s ", grid->headings[c].text);
    ifm_text_add(out, "|\n");
    for (size_t c = 0; c < grid->n_columns; c++)
        ifm_text_add(out, grid->headings[c].left ? "|---" : "|---:");
    ifm_text_add(out, "|\n");
    for (size_t r = 0; r < grid->n_rows; r++) {
        for (size_t c = 0; c < grid->n_columns; c++) {
            ifm_text_add(out, "| ");
            add_field(&grid->fields[r * grid->n_columns + c], out);
            ifm_text_add(out, " ");
        }
        ifm_text_add(out, "|\n");
    }
    ifm_text_add(out, "\n");
}

static void add_sentences(const char *title, const struct ifm_view_line *items, size_t n, struct ifm_text *out)
{
    for (size_t i = 0; i < n; i++) {
        ifm_text_printf(out, "%s%s- ", i == 0 ? title : "", i == 0 ? ":\n\n" : "");
        add_escaped(items[i].place, out);
        ifm_text_add(out, ": ");
        add_escaped(items[i].text, out);
        ifm_text_add(out, i + 1 == n ? "\n\n" : "\n");
    }
}

static void add_energy(const struct ifm_view_cell *cell, struct ifm_text *out)
{
    if (cell->energy.n_rows == 0 && cell->n_energy_said == 0)
        return;
    ifm_text_add(out, "Energy:\n\n");
    add_grid(&cell->energy, out);
    for (size_t i = 0; i < cell->n_energy_said; i++) {
        add_escaped(cell->energy_said[i], out);
        ifm_text_add(out, "\n\n");
    }
}

static void add_cell(const struct ifm_view_cell *cell, struct ifm_text *out)
{
    ifm_text_add(out, "### ");
    add_escaped(cell->title, out);
    ifm_text_add(out, "\n\n");
    if (cell->unsupported[0] != '\0') {
        ifm_text_add(out, "Absent: ");
        add_escaped(cell->unsupported, out);
        ifm_text_add(out, "\n\n");
        return;
    }
    add_escaped(cell->conditions, out);
    ifm_text_add(out, "\n\n");
    add_grid(&cell->arms, out);
    add_sentences("Compression: bytes, loss, speed", cell->compressed, cell->n_compressed, out);
    add_grid(&cell->compression, out);
    add_energy(cell, out);
    for (size_t i = 0; i < cell->n_ceilings; i++) {
        const struct ifm_view_ceiling *ceiling = &cell->ceilings[i];
        ifm_text_printf(out, "- ceiling, %s: ", ceiling->kind);
        add_field(&ceiling->field, out);
        if (ceiling->source[0] != '\0') {
            ifm_text_add(out, " (");
            add_escaped(ceiling->source, out);
            ifm_text_add(out, ")");
        }
        ifm_text_add(out, "\n");
    }
    if (cell->n_ceilings > 0)
        ifm_text_add(out, "\n");
    add_grid(&cell->caches, out);
    if (cell->n_curve > 0)
        ifm_text_add(out, "| working set | time of a load |\n|---:|---:|\n");
    for (size_t i = 0; i < cell->n_curve; i++)
        ifm_text_printf(out, "| %s | %s |\n", cell->curve[i].size, cell->curve[i].time);
    if (cell->n_curve > 0)
        ifm_text_add(out, "\n");
}

static void add_finding(const struct ifm_view_finding *item, struct ifm_text *out)
{
    const struct ifm_finding *finding = item->first;
    ifm_text_printf(out, "- **%s** ", ifm_severity_label(finding->severity));
    add_escaped(item->place, out);
    ifm_text_add(out, item->place[0] == '\0' ? "" : ": ");
    add_escaped(finding->text, out);
    if (finding->rule != NULL && finding->rule[0] != '\0')
        ifm_text_printf(out, " (%s)", finding->rule);
    ifm_text_add(out, "\n");
}

/* What changes how a number is read stands open; notes are folded, where a page can fold. */
static void add_findings(const struct ifm_view *view, struct ifm_text *out)
{
    size_t open = 0;
    while (open < view->n_findings && view->findings[open].first->severity > IFM_SEVERITY_NOTE)
        open++;
    ifm_text_add(out, open > 0 ? "### Warnings\n\n" : "");
    for (size_t i = 0; i < open; i++)
        add_finding(&view->findings[i], out);
    ifm_text_add(out, open > 0 ? "\n" : "");
    size_t notes = view->n_findings - open;
    if (notes == 0)
        return;
    ifm_text_printf(out, "<details><summary>%zu note%s</summary>\n\n", notes, notes == 1 ? "" : "s");
    for (size_t i = open; i < view->n_findings; i++)
        add_finding(&view->findings[i], out);
    ifm_text_add(out, "\n</details>\n\n");
}

static void add_advice(const struct ifm_publication *publication, struct ifm_arena *arena, struct ifm_text *out)
{
    struct ifm_advice *advice;
    size_t n;
    ifm_advise(publication->plan, publication->derived, publication->events, arena, &advice, &n);
    for (size_t i = 0; i < n; i++) {
        ifm_text_add(out, i == 0 ? "### What would help\n\n- " : "- ");
        add_escaped(ifm_view_place(advice[i].cell, advice[i].arm, arena), out);
        ifm_text_add(out, ": ");
        add_escaped(advice[i].condition, out);
        ifm_text_add(out, ". Remedy: ");
        add_escaped(advice[i].text, out);
        ifm_text_add(out, i + 1 == n ? "\n\n" : "\n");
    }
}

static void add_checklist(const struct ifm_checklist *list, struct ifm_text *out)
{
    static const char *const words[] = {"✓ met", "✗ not met", "– absent"};
    ifm_text_printf(out, "<details><summary>%s: %zu of %zu points met</summary>\n\n", list->title, list->n_met,
                    list->n_items);
    ifm_text_add(out, "| point | | found | remedy |\n|---|---|---|---|\n");
    for (size_t i = 0; i < list->n_items; i++) {
        const struct ifm_check_item *item = &list->items[i];
        ifm_text_add(out, "| ");
        add_escaped(item->asks, out);
        ifm_text_printf(out, " | %s | ", words[item->state]);
        add_escaped(item->found, out);
        ifm_text_add(out, " | ");
        add_escaped(item->remedy, out);
        ifm_text_add(out, " |\n");
    }
    ifm_text_add(out, "\n</details>\n\n");
}

static enum ifm_status add_checklists(const struct ifm_publication *publication, struct ifm_arena *arena,
                                      struct ifm_text *out, struct ifm_error *error)
{
    struct ifm_checklist *lists;
    size_t n;
    IFM_TRY(ifm_checklists(publication->plan, publication->derived, publication->verdict, publication->events, arena,
                           &lists, &n, error));
    ifm_text_add(out, "### Checklists\n\nAnswered from the run; nobody ticked a point.\n\n");
    for (size_t i = 0; i < n; i++)
        add_checklist(&lists[i], out);
    return IFM_OK;
}

static void add_repeat(const struct ifm_publication *publication, struct ifm_text *out)
{
    const struct ifm_plan *plan = publication->plan;
    const char *machine = ifm_machine_measured(publication->events, plan->device);
    char date[32];
    ifm_events_date(publication->events, date);
    ifm_text_add(out, "### Repeat it\n\n```sh\ninferometer rerun DIR   # measure again with the same configuration\n"
                      "inferometer verify DIR  # recompute every number from the raw samples\n```\n\n");
    ifm_text_printf(out, "`DIR` is the run's folder. Run `%s`, configuration `%.12s`, seed %llu, device %s",
                    publication->derived->run_id, plan->config_hash, (unsigned long long)plan->seed, plan->device);
    ifm_text_add(out, machine[0] == '\0' ? "" : " (");
    add_escaped(machine, out);
    ifm_text_printf(out, "%s%s%s, inferometer " IFM_VERSION ".\n\n", machine[0] == '\0' ? "" : ")",
                    date[0] == '\0' ? "" : ", ", date);
}

static void add_limits(const struct ifm_publication *publication, struct ifm_text *out)
{
    const struct ifm_derived *derived = publication->derived;
    size_t absent = 0, refused = 0;
    for (size_t i = 0; i < derived->n_numbers; i++) {
        absent += derived->numbers[i].value.state == IFM_STATE_ABSENT;
        refused += derived->numbers[i].value.state == IFM_STATE_REFUSED;
    }
    ifm_text_add(out,
                 "### Limits\n\nThe numbers hold for this machine, this configuration and these minutes; arms of one "
                 "cell were interleaved and can be compared.");
    if (ifm_lock_state(publication->events) != IFM_LOCK_HELD)
        ifm_text_add(out, " Not every clock was locked, so that separate runs cannot.");
    if (absent + refused > 0)
        ifm_text_printf(out, " Absent numbers: %zu; refused: %zu; `report.csv` has each with its reason.", absent,
                        refused);
    ifm_text_add(out,
                 " An interval covers the variation that was seen, and a ceiling is the best of this program's own "
                 "probes.\n");
}

/* Verdict, why, and what to go back to. */
static void add_verdict(const struct ifm_view *view, struct ifm_text *out)
{
    ifm_text_printf(out, "## %s", view->label);
    for (size_t i = 0; i < view->n_reasons; i++) {
        ifm_text_add(out, i == 0 ? ": " : "\n- ");
        add_escaped(view->reasons[i], out);
        ifm_text_add(out, i == 0 ? "\n" : "");
    }
    ifm_text_add(out, view->n_reasons > 1 ? "\n\n" : "\n");
    if (view->rollback[0] != '\0') {
        add_escaped(view->rollback, out);
        ifm_text_add(out, "\n\n");
    }
    add_grid(&view->gates, out);
    add_sentences("Classes", view->classes, view->n_classes, out);
}

static void add_notes(const struct ifm_view *view, struct ifm_text *out)
{
    for (size_t i = 0; i < view->n_notes; i++) {
        ifm_text_printf(out, "%u. ", view->notes[i].number);
        add_escaped(view->notes[i].text, out);
        ifm_text_add(out, "\n");
    }
    ifm_text_add(out, view->n_notes > 0 ? "\n" : "");
}

enum ifm_status ifm_compose_markdown(const struct ifm_publication *publication, struct ifm_text *out,
                                     struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_view *view = ifm_view_build(publication, arena);
    add_verdict(view, out);
    for (size_t i = 0; i < view->n_cells; i++)
        add_cell(&view->cells[i], out);
    add_notes(view, out);
    add_sentences("What else changed", view->triage, view->n_triage, out);
    for (size_t i = 0; i < view->n_rca; i++) {
        ifm_text_printf(out, "%s%zu. ", i == 0 ? "Where to look for the cause:\n\n" : "", i + 1);
        add_escaped(view->rca[i], out);
        ifm_text_add(out, i + 1 == view->n_rca ? "\n\n" : "\n");
    }
    add_advice(publication, arena, out);
    add_findings(view, out);
    enum ifm_status status = add_checklists(publication, arena, out, error);
    if (status == IFM_OK) {
        add_repeat(publication, out);
        add_limits(publication, out);
    }
    ifm_arena_destroy(arena);
    return status;
}
