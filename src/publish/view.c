/* The view: verdict, gates, footnotes and findings. Cells are in view_cell.c. */
#include "publish/quantity.h"
#include "publish/view_private.h"
#include <string.h>

static bool is_empty(const char *text)
{
    return text == NULL || text[0] == '\0';
}

unsigned ifm_view_add_note(struct ifm_view_builder *builder, const char *reason, const char *remedy)
{
    struct ifm_view *view = builder->view;
    if (is_empty(reason))
        return 0;
    const char *text = is_empty(remedy) ? reason : ifm_arena_printf(builder->arena, "%s. Remedy: %s", reason, remedy);
    for (size_t i = 0; i < view->n_notes; i++)
        if (strcmp(view->notes[i].text, text) == 0)
            return view->notes[i].number;
    IFM_ARENA_GROW(builder->arena, view->notes, view->n_notes, builder->note_capacity);
    unsigned number = (unsigned)view->n_notes + 1;
    view->notes[view->n_notes++] = (struct ifm_view_note){number, text};
    return number;
}

struct ifm_field ifm_view_field(struct ifm_view_builder *builder, const struct ifm_value *value)
{
    if (value == NULL)
        return ifm_view_text("", IFM_TONE_PLAIN);
    struct ifm_field field = ifm_view_text(ifm_state_label(value->state), IFM_TONE_DIM);
    field.note = ifm_view_add_note(builder, value->reason, value->remedy);
    if (value->state == IFM_STATE_REFUSED)
        field.tone = IFM_TONE_BAD;
    if (value->state == IFM_STATE_INACTIVE)
        field.tone = IFM_TONE_WARN;
    if (value->state == IFM_STATE_OK) {
        field.text = ifm_quantity_number(value, builder->arena);
        field.interval = ifm_quantity_of(value, builder->arena).interval;
        field.tone = IFM_TONE_PLAIN;
    }
    return field;
}

struct ifm_grid ifm_view_grid(struct ifm_arena *arena, size_t n_columns, size_t n_rows)
{
    struct ifm_grid grid = {.n_columns = n_columns, .n_rows = n_rows};
    grid.headings = IFM_ARENA_ARRAY(arena, struct ifm_heading, n_columns + 1);
    grid.fields = IFM_ARENA_ARRAY(arena, struct ifm_field, n_columns * n_rows + 1);
    for (size_t i = 0; i < n_columns * n_rows; i++)
        grid.fields[i] = ifm_view_text("", IFM_TONE_PLAIN);
    return grid;
}

const char *ifm_severity_label(enum ifm_severity severity)
{
    static const char *const labels[] = {"note", "warning", "invalid"};
    return labels[severity];
}

enum ifm_tone ifm_severity_tone(enum ifm_severity severity)
{
    static const enum ifm_tone tones[] = {IFM_TONE_DIM, IFM_TONE_WARN, IFM_TONE_BAD};
    return tones[severity];
}

bool ifm_view_is_clean(const char *rung)
{
    return strstr(rung, ": nothing was found") != NULL;
}

const char *ifm_view_place(const char *cell, const char *arm, struct ifm_arena *arena)
{
    if (is_empty(cell))
        return is_empty(arm) ? "" : arm;
    return is_empty(arm) ? cell : ifm_arena_printf(arena, "%s, %s", cell, arm);
}

struct outcome_look {
    const char *label, *word;
    enum ifm_tone tone;
};

static struct outcome_look look_of(enum ifm_outcome outcome)
{
    static const struct outcome_look looks[] = {
        {"PASS", "pass", IFM_TONE_GOOD},
        {"FAIL", "fail", IFM_TONE_BAD},
        {"BLOCKED", "blocked", IFM_TONE_WARN},
        {"MEASURED", "not gated", IFM_TONE_STRONG},
    };
    return looks[outcome];
}

static void build_gates(struct ifm_view_builder *builder)
{
    static const char *const headings[] = {"gate", "where", "wanted", "observed", "outcome"};
    const struct ifm_verdict *verdict = builder->publication->verdict;
    struct ifm_arena *arena = builder->arena;
    struct ifm_grid grid = ifm_view_grid(arena, 5, verdict->n_gates);
    for (size_t c = 0; c < 5; c++)
        grid.headings[c] = (struct ifm_heading){headings[c], IFM_M_NONE, true, 0};
    for (size_t i = 0; i < verdict->n_gates; i++) {
        const struct ifm_gate_result *result = &verdict->gates[i];
        const struct ifm_gate *gate = result->gate;
        struct outcome_look look = look_of(result->outcome);
        const char *bound = gate->op == IFM_GATE_AT_MOST ? "at most" : "at least";
        const char *threshold = ifm_quantity_bare(gate->threshold, result->observed.unit, arena);
        *ifm_view_at(&grid, i, 0) = ifm_view_text(is_empty(gate->name) ? gate->metric : gate->name, IFM_TONE_PLAIN);
        *ifm_view_at(&grid, i, 1) = ifm_view_text(ifm_view_place(result->cell, result->arm, arena), IFM_TONE_PLAIN);
        *ifm_view_at(&grid, i, 2) = ifm_view_text(
            ifm_arena_printf(arena, "%s %s%s", bound, threshold, gate->interval ? ", interval" : ""), IFM_TONE_PLAIN);
        *ifm_view_at(&grid, i, 3) = ifm_view_field(builder, &result->observed);
        *ifm_view_at(&grid, i, 4) = ifm_view_text(look.word, look.tone); /* the verdict's reasons say why */
    }
    builder->view->gates = grid;
}

/* One line an arm: "speed-up: Excellent; memory efficiency: Good". */
static void build_classes(struct ifm_view_builder *builder)
{
    const struct ifm_verdict *verdict = builder->publication->verdict;
    struct ifm_view *view = builder->view;
    struct ifm_arena *arena = builder->arena;
    view->classes = IFM_ARENA_ARRAY(arena, struct ifm_view_line, verdict->n_classes + 1);
    for (size_t i = 0; i < verdict->n_classes; i++) {
        const struct ifm_class_label *label = &verdict->classes[i];
        const char *place = ifm_view_place(label->cell, label->arm, arena);
        size_t at = 0;
        while (at < view->n_classes && strcmp(view->classes[at].place, place) != 0)
            at++;
        struct ifm_view_line *line = &view->classes[at];
        if (at == view->n_classes) {
            *line = (struct ifm_view_line){place, ""};
            view->n_classes++;
        }
        line->text = ifm_arena_printf(arena, "%s%s%s: %s", line->text, line->text[0] == '\0' ? "" : "; ", label->title,
                                      label->label);
    }
}

static void build_triage(struct ifm_view_builder *builder)
{
    const struct ifm_verdict *verdict = builder->publication->verdict;
    struct ifm_view *view = builder->view;
    view->triage = IFM_ARENA_ARRAY(builder->arena, struct ifm_view_line, verdict->n_triage + 1);
    for (size_t i = 0; i < verdict->n_triage; i++) {
        const struct ifm_triage_line *line = &verdict->triage[i];
        view->triage[view->n_triage++] =
            (struct ifm_view_line){ifm_view_place(line->cell, line->arm, builder->arena), line->text};
    }
}

static bool same_finding(const struct ifm_finding *a, const struct ifm_finding *b)
{
    return a->severity == b->severity && strcmp(a->text, b->text) == 0 && strcmp(a->rule, b->rule) == 0;
}

/* Behind the figure at `text`, its exponent and its unit of time: "8e+06", "1.43 ms"; `text` itself where none is. */
static const char *past_figure(const char *text)
{
    static const char *const units[] = {" ns", " us", " ms", " s"};
    size_t length = strspn(text, "0123456789.,+-");
    if (length == 0)
        return text;
    text += length;
    if (*text == 'e' && strspn(text + 1, "+-0123456789") > 0)
        text += 1 + strspn(text + 1, "+-0123456789");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t size = strlen(units[i]);
        if (strncmp(text, units[i], size) == 0 && strchr(" ,;:)", text[size]) != NULL)
            return text + size;
    }
    return text;
}

/* Do two texts differ in nothing but their figures? "drifts by 1.5 % over" and "drifts by 8e+06 % over". */
static bool same_words(const char *a, const char *b)
{
    for (;;) {
        const char *after_a = past_figure(a), *after_b = past_figure(b);
        if (after_a != a && after_b != b) {
            a = after_a;
            b = after_b;
        } else if (*a != *b) {
            return false;
        } else if (*a == '\0') {
            return true;
        } else {
            a++;
            b++;
        }
    }
}

static bool are_alike(const struct ifm_finding *a, const struct ifm_finding *b)
{
    return a->severity == b->severity && strcmp(a->rule, b->rule) == 0 && same_words(a->text, b->text);
}

static void mark_alike(struct ifm_view *view)
{
    for (size_t i = 0; i < view->n_findings; i++)
        for (size_t k = i + 1; !view->findings[i].is_alike && k < view->n_findings; k++)
            if (are_alike(view->findings[i].first, view->findings[k].first)) {
                view->findings[i].n_alike++;
                view->findings[k].is_alike = true;
            }
}

static void add_finding(struct ifm_view *view, const struct ifm_finding *finding)
{
    for (size_t i = 0; i < view->n_findings; i++)
        if (same_finding(view->findings[i].first, finding)) {
            view->findings[i].n++;
            return;
        }
    view->findings[view->n_findings++] = (struct ifm_view_finding){.first = finding, .place = "", .n = 1};
}

static void build_findings(struct ifm_view_builder *builder)
{
    const struct ifm_derived *derived = builder->publication->derived;
    struct ifm_view *view = builder->view;
    view->findings = IFM_ARENA_ARRAY(builder->arena, struct ifm_view_finding, derived->n_findings + 1);
    for (int severity = IFM_SEVERITY_INVALID; severity >= IFM_SEVERITY_NOTE; severity--)
        for (size_t i = 0; i < derived->n_findings; i++)
            if ((int)derived->findings[i].severity == severity)
                add_finding(view, &derived->findings[i]);
    for (size_t i = 0; i < view->n_findings; i++) {
        struct ifm_view_finding *finding = &view->findings[i];
        finding->place = ifm_view_place(finding->first->cell, finding->first->arm, builder->arena);
        if (finding->n > 1 && !is_empty(finding->place))
            finding->place = ifm_arena_printf(builder->arena, "%s and %zu more", finding->place, finding->n - 1);
    }
    mark_alike(view);
    bool doubtful = view->n_findings > 0 && view->findings[0].first->severity == IFM_SEVERITY_INVALID;
    if (doubtful && view->tone == IFM_TONE_STRONG)
        view->tone = IFM_TONE_WARN;
}

const struct ifm_view *ifm_view_build(const struct ifm_publication *publication, struct ifm_arena *arena)
{
    struct ifm_view *view = IFM_ARENA_NEW(arena, struct ifm_view);
    struct ifm_view_builder builder = {.publication = publication, .arena = arena, .view = view};
    struct outcome_look look = look_of(publication->verdict->outcome);
    /* Without gates nothing is accepted or rejected, but a record that nobody should use is not just "measured". */
    if (publication->verdict->outcome == IFM_OUTCOME_NOT_GATED && publication->verdict->exit_code != IFM_OK)
        look = (struct outcome_look){"INVALID", "invalid", IFM_TONE_BAD};
    view->derived = publication->derived;
    view->label = look.label;
    view->tone = look.tone;
    view->reasons = (const char *const *)publication->verdict->reasons;
    view->n_reasons = publication->verdict->n_reasons;
    view->rollback = publication->verdict->rollback
                         ? ifm_arena_printf(arena, "Roll back to %s.", publication->verdict->rollback_to)
                         : "";
    bool failed = look.tone == IFM_TONE_BAD || look.tone == IFM_TONE_WARN;
    view->rca = (const char *const *)publication->verdict->rca;
    view->n_rca = failed ? publication->verdict->n_rca : 0;
    build_gates(&builder);
    build_classes(&builder);
    build_triage(&builder);
    view->n_cells = publication->plan->n_cells;
    view->cells = IFM_ARENA_ARRAY(arena, struct ifm_view_cell, view->n_cells + 1);
    for (size_t i = 0; i < view->n_cells; i++)
        ifm_view_build_cell(&builder, &publication->plan->cells[i], &view->cells[i]);
    build_findings(&builder);
    return view;
}
