/* The summary as Markdown, for issues, pull requests and wikis. */
#include "publish/compose.h"
#include "publish/view.h"
#include <string.h>

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

static void add_findings(const struct ifm_view *view, struct ifm_text *out)
{
    for (size_t i = 0; i < view->n_findings; i++) {
        const struct ifm_finding *finding = view->findings[i].first;
        const char *place = view->findings[i].place;
        ifm_text_printf(out, "- **%s** ", ifm_severity_label(finding->severity));
        add_escaped(place, out);
        ifm_text_add(out, place[0] == '\0' ? "" : ": ");
        add_escaped(finding->text, out);
        if (finding->rule != NULL && finding->rule[0] != '\0')
            ifm_text_printf(out, " (%s)", finding->rule);
        ifm_text_add(out, "\n");
    }
    if (view->n_findings > 0)
        ifm_text_add(out, "\n");
}

void ifm_compose_markdown(const struct ifm_publication *publication, struct ifm_text *out)
{
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_view *view = ifm_view_build(publication, arena);
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
    for (size_t i = 0; i < view->n_cells; i++)
        add_cell(&view->cells[i], out);
    for (size_t i = 0; i < view->n_notes; i++) {
        ifm_text_printf(out, "%u. ", view->notes[i].number);
        add_escaped(view->notes[i].text, out);
        ifm_text_add(out, "\n");
    }
    if (view->n_notes > 0)
        ifm_text_add(out, "\n");
    add_sentences("What else changed", view->triage, view->n_triage, out);
    for (size_t i = 0; i < view->n_rca; i++) {
        ifm_text_printf(out, "%s%zu. ", i == 0 ? "Where to look for the cause:\n\n" : "", i + 1);
        add_escaped(view->rca[i], out);
        ifm_text_add(out, i + 1 == view->n_rca ? "\n\n" : "\n");
    }
    add_findings(view, out);
    ifm_text_printf(out, "Run `%s`.\n", publication->derived->run_id);
    ifm_arena_destroy(arena);
}
