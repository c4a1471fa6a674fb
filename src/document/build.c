/* The document's parts: blocks, words, fields and footnotes; and the order of its sections. */
#include "document/build.h"

#include "base/text.h"
#include "derive/energy/power_run.h"
#include "derive/picture/picture.h"
#include "document/quantity.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- blocks ---- */

struct ifm_block *ifm_add_block(struct ifm_builder *builder, struct ifm_block *parent, enum ifm_level level,
                                enum ifm_block_kind kind)
{
    struct ifm_block *block = IFM_ARENA_NEW(builder->arena, struct ifm_block);
    *block = (struct ifm_block){.kind = kind, .level = level, .id = "", .title = "", .subtitle = ""};
    if (parent->last == NULL)
        parent->first = block;
    else
        parent->last->next = block;
    parent->last = block;
    return block;
}

struct ifm_block *ifm_add_section(struct ifm_builder *builder, struct ifm_block *parent, enum ifm_level level,
                                  const char *id, const char *title)
{
    struct ifm_block *section = ifm_add_block(builder, parent, level, IFM_BLOCK_SECTION);
    section->id = id;
    section->title = title;
    section->folded = level == IFM_LEVEL_FOLDED;
    return section;
}

struct ifm_line *ifm_add_line(struct ifm_builder *builder, struct ifm_block *parent, enum ifm_level level,
                              enum ifm_purpose purpose, const char *text)
{
    struct ifm_block *block = ifm_add_block(builder, parent, level, IFM_BLOCK_LINE);
    block->purpose = purpose;
    if (text[0] != '\0')
        ifm_say(builder, &block->line, IFM_TONE_PLAIN, "%s", text);
    return &block->line;
}

struct ifm_block *ifm_add_list(struct ifm_builder *builder, struct ifm_block *parent, enum ifm_level level,
                               enum ifm_purpose purpose)
{
    struct ifm_block *list = ifm_add_block(builder, parent, level, IFM_BLOCK_LIST);
    list->purpose = purpose;
    return list;
}

struct ifm_item *ifm_add_item(struct ifm_builder *builder, struct ifm_block *list, enum ifm_level level)
{
    IFM_ARENA_GROW(builder->arena, list->items, list->n_items, list->items_capacity);
    struct ifm_item *item = &list->items[list->n_items++];
    *item = (struct ifm_item){.level = level, .label = "", .place = "", .rule = ""};
    return item;
}

void ifm_add_grid(struct ifm_builder *builder, struct ifm_block *parent, enum ifm_level level,
                  const struct ifm_grid *grid)
{
    if (grid->n_rows > 0)
        ifm_add_block(builder, parent, level, IFM_BLOCK_GRID)->grid = *grid;
}

/* ---- words ---- */

bool ifm_is_empty(const char *text)
{
    return text == NULL || text[0] == '\0';
}

static struct ifm_span *add_span(struct ifm_builder *builder, struct ifm_line *line, const char *text)
{
    IFM_ARENA_GROW(builder->arena, line->spans, line->n, line->capacity);
    struct ifm_span *span = &line->spans[line->n++];
    *span = (struct ifm_span){.text = text};
    return span;
}

void ifm_say(struct ifm_builder *builder, struct ifm_line *line, enum ifm_tone tone, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = ifm_arena_alloc(builder->arena, (size_t)(length < 0 ? 0 : length) + 1);
    vsnprintf(text, (size_t)(length < 0 ? 0 : length) + 1, format, again);
    va_end(again);
    va_end(args);
    add_span(builder, line, text)->tone = tone;
}

void ifm_say_link(struct ifm_builder *builder, struct ifm_line *line, const char *target, const char *text)
{
    add_span(builder, line, text)->target = target;
}

void ifm_say_code(struct ifm_builder *builder, struct ifm_line *line, const char *text)
{
    add_span(builder, line, text)->code = true;
}

const char *ifm_line_text(const struct ifm_line *line, struct ifm_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < line->n; i++)
        text = ifm_arena_printf(arena, "%s%s", text, line->spans[i].text);
    return text;
}

const char *ifm_with_remedy(const char *reason, const char *remedy, struct ifm_arena *arena)
{
    return ifm_is_empty(remedy) ? reason : ifm_arena_printf(arena, "%s. Remedy: %s", reason, remedy);
}

const char *ifm_severity_label(enum ifm_severity severity)
{
    static const char *const labels[] = {"note", "warning", "invalid"};
    return labels[severity];
}

const char *ifm_document_place(const char *cell, const char *arm, struct ifm_arena *arena)
{
    if (ifm_is_empty(cell))
        return ifm_is_empty(arm) ? "" : arm;
    return ifm_is_empty(arm) ? cell : ifm_arena_printf(arena, "%s, %s", cell, arm);
}

enum ifm_tone ifm_tone_of_word(const char *word)
{
    if (strcmp(word, "faster") == 0)
        return IFM_TONE_GOOD;
    if (strcmp(word, "slower") == 0)
        return IFM_TONE_BAD;
    return strcmp(word, "undecided") == 0 ? IFM_TONE_WARN : IFM_TONE_PLAIN;
}

/* ---- numbers ---- */

const struct ifm_value *ifm_value_of(const struct ifm_builder *builder, const struct ifm_cell *cell,
                                     const struct ifm_arm *arm, enum ifm_metric_id metric)
{
    return ifm_derived_value(builder->from->derived, cell->name, arm == NULL ? "" : arm->name, metric);
}

const struct ifm_arm *ifm_baseline_of(const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (cell->arms[a].role == IFM_ROLE_BASELINE)
            return &cell->arms[a];
    return NULL;
}

/* A cell whose arms are all ceilings is a cell about ceilings: there they are rows. */
static bool has_subject(const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (cell->arms[a].role != IFM_ROLE_CEILING)
            return true;
    return false;
}

bool ifm_document_is_row(const struct ifm_derived *derived, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    bool probe = ifm_derived_value(derived, cell->name, arm->name, IFM_M_LOAD_NS) != NULL;
    return !probe && (arm->role != IFM_ROLE_CEILING || !has_subject(cell));
}

bool ifm_is_row(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    return ifm_document_is_row(builder->from->derived, cell, arm);
}

struct ifm_grid ifm_grid_make(struct ifm_arena *arena, size_t n_columns, size_t n_rows)
{
    struct ifm_grid grid = {.n_columns = n_columns, .n_rows = n_rows};
    grid.headings = IFM_ARENA_ARRAY(arena, struct ifm_heading, n_columns + 1);
    grid.fields = IFM_ARENA_ARRAY(arena, struct ifm_field, n_columns * n_rows + 1);
    for (size_t i = 0; i < n_columns; i++)
        grid.headings[i] = (struct ifm_heading){"", IFM_M_NONE, false, 0};
    for (size_t i = 0; i < n_columns * n_rows; i++)
        grid.fields[i] = ifm_field_text("", IFM_TONE_PLAIN);
    return grid;
}

unsigned ifm_add_note(struct ifm_builder *builder, const char *reason, const char *remedy)
{
    struct ifm_document *document = builder->document;
    if (ifm_is_empty(reason))
        return 0;
    const char *text = ifm_with_remedy(reason, remedy, builder->arena);
    for (size_t i = 0; i < document->n_notes; i++)
        if (strcmp(document->notes[i].text, text) == 0)
            return document->notes[i].number;
    IFM_ARENA_GROW(builder->arena, document->notes, document->n_notes, document->notes_capacity);
    unsigned number = (unsigned)document->n_notes + 1;
    document->notes[document->n_notes++] = (struct ifm_note){number, text};
    return number;
}

struct ifm_field ifm_field_value(struct ifm_builder *builder, const struct ifm_value *value)
{
    static const enum ifm_tone tones[] = {IFM_TONE_PLAIN, IFM_TONE_DIM, IFM_TONE_BAD, IFM_TONE_WARN}; /* by state */
    if (value == NULL)
        return ifm_field_text("", IFM_TONE_PLAIN);
    struct ifm_field field = ifm_field_text(ifm_state_label(value->state), tones[value->state]);
    field.note = ifm_add_note(builder, value->reason, value->remedy);
    if (value->state == IFM_STATE_OK) {
        field.text = ifm_quantity_number(value, builder->arena);
        field.interval = ifm_quantity_of(value, builder->arena).interval;
    }
    return field;
}

/* ---- the whole ---- */

/* Not folded away: a link into a closed fold leads nowhere without script in some browsers. */
static void build_definitions(struct ifm_builder *builder)
{
    const struct ifm_derived *derived = builder->from->derived;
    const struct ifm_metric **used = IFM_ARENA_ARRAY(builder->arena, const struct ifm_metric *, IFM_M_COUNT);
    bool is_used[IFM_M_COUNT] = {false};
    size_t n = 0;
    for (size_t i = 0; i < derived->n_numbers; i++)
        is_used[derived->numbers[i].metric] = true;
    for (int m = IFM_M_NONE + 1; m < IFM_M_COUNT; m++)
        if (is_used[m])
            used[n++] = &ifm_metrics[m];
    if (n == 0)
        return;
    struct ifm_block *section =
        ifm_add_section(builder, &builder->document->root, IFM_LEVEL_PAGE, "definitions", "What the numbers mean");
    struct ifm_block *glossary = ifm_add_block(builder, section, IFM_LEVEL_PAGE, IFM_BLOCK_GLOSSARY);
    glossary->metrics = used;
    glossary->n_metrics = n;
}

/* Of the page alone: what figures are drawn from. */
static enum ifm_status gather(struct ifm_builder *builder, struct ifm_error *error)
{
    const struct ifm_publication *from = builder->from;
    struct ifm_document *document = builder->document;
    struct ifm_picture *pictures = NULL;
    struct ifm_power_shown *powers;
    if (from->facts != NULL)
        IFM_TRY(ifm_derive_pictures(from->facts, from->derived, builder->arena, &pictures, error));
    IFM_TRY(ifm_derive_power_run(from->facts, builder->arena, &powers, &document->n_powers, error));
    document->powers = powers;
    document->pictures = pictures;
    document->n_pictures = pictures != NULL ? from->plan->n_cells : 0;
    return IFM_OK;
}

static struct ifm_document *document_of(const struct ifm_publication *publication, struct ifm_arena *arena)
{
    struct ifm_document *document = IFM_ARENA_NEW(arena, struct ifm_document);
    document->arena = arena;
    document->plan = publication->plan;
    document->derived = publication->derived;
    document->title = "";
    document->root = (struct ifm_block){.id = "", .title = "", .subtitle = ""};
    return document;
}

enum ifm_status ifm_document_build(const struct ifm_publication *publication, enum ifm_level most,
                                   struct ifm_arena *arena, struct ifm_document **out, struct ifm_error *error)
{
    struct ifm_builder builder = {.from = publication, .arena = arena, .most = most};
    *out = builder.document = document_of(publication, arena);
    if (most == IFM_LEVEL_PAGE)
        IFM_TRY(gather(&builder, error));
    ifm_build_lead(&builder);
    ifm_build_gates(&builder);
    ifm_build_contents(&builder);
    for (size_t i = 0; i < publication->plan->n_cells; i++)
        ifm_build_cell(&builder, &publication->plan->cells[i]);
    ifm_build_review(&builder);
    ifm_build_findings(&builder);
    ifm_build_advice(&builder);
    IFM_TRY(ifm_build_checklists(&builder, error));
    ifm_build_repeat(&builder);
    ifm_build_limits(&builder);
    if (most == IFM_LEVEL_PAGE) {
        ifm_build_numbers(&builder);
        ifm_build_environment(&builder);
        ifm_build_configuration(&builder);
        build_definitions(&builder);
    }
    ifm_end_lead(&builder); /* it counts what stands below */
    return IFM_OK;
}

struct ifm_document *ifm_document_advice(const struct ifm_publication *publication, struct ifm_arena *arena)
{
    struct ifm_builder builder = {.from = publication, .arena = arena};
    builder.document = document_of(publication, arena);
    ifm_build_advice(&builder);
    return builder.document;
}
