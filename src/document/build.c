/* What builders share: blocks, words, fields and footnotes. */
#include "document/build.h"

#include "document/quantity.h"
#include <stdarg.h>
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

struct ifm_block *ifm_add_part(struct ifm_builder *builder, enum ifm_level level, const char *id, const char *title)
{
    return ifm_add_section(builder, &builder->document->root, level, id, title);
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

struct ifm_block *ifm_add_list(struct ifm_builder *builder, struct ifm_block *parent, enum ifm_purpose purpose)
{
    struct ifm_block *list = ifm_add_block(builder, parent, parent->level, IFM_BLOCK_LIST);
    list->purpose = purpose;
    return list;
}

struct ifm_item *ifm_add_item(struct ifm_builder *builder, struct ifm_block *list)
{
    IFM_ARENA_GROW(builder->arena, list->items, list->n_items, list->items_capacity);
    struct ifm_item *item = &list->items[list->n_items++];
    *item = (struct ifm_item){.level = list->level, .label = "", .place = "", .rule = ""};
    return item;
}

struct ifm_item *ifm_add_sentence(struct ifm_builder *builder, struct ifm_block *list, const char *text)
{
    struct ifm_item *item = ifm_add_item(builder, list);
    ifm_say(builder, &item->line, IFM_TONE_PLAIN, "%s", text);
    return item;
}

void ifm_add_grid(struct ifm_builder *builder, struct ifm_block *parent, const struct ifm_grid *grid)
{
    if (grid->n_rows > 0)
        ifm_add_block(builder, parent, parent->level, IFM_BLOCK_GRID)->grid = *grid;
}

/* ---- words ---- */

static struct ifm_span *add_span(struct ifm_builder *builder, struct ifm_line *line, const char *text)
{
    IFM_ARENA_GROW(builder->arena, line->spans, line->n, line->capacity);
    struct ifm_span *span = &line->spans[line->n++];
    *span = (struct ifm_span){.text = text};
    return span;
}

void ifm_say(struct ifm_builder *builder, struct ifm_line *line, enum ifm_tone tone, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_span(builder, line, ifm_arena_vprintf(builder->arena, format, args))->tone = tone;
    va_end(args);
}

void ifm_say_link(struct ifm_builder *builder, struct ifm_line *line, const char *target, const char *text)
{
    add_span(builder, line, text)->target = target;
}

void ifm_say_code(struct ifm_builder *builder, struct ifm_line *line, const char *text)
{
    add_span(builder, line, text)->code = true;
}

const char *ifm_with_remedy(const char *reason, const char *remedy, struct ifm_arena *arena)
{
    return ifm_is_empty(remedy) ? reason : ifm_arena_printf(arena, "%s. Remedy: %s", reason, remedy);
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
    if (builder->notes == NULL)
        builder->notes = ifm_names_create(builder->arena);
    unsigned number = (unsigned)ifm_names_add(builder->notes, text) + 1;
    if (number > document->n_notes) {
        IFM_ARENA_GROW(builder->arena, document->notes, document->n_notes, document->notes_capacity);
        document->notes[document->n_notes++] = (struct ifm_note){number, text, false, false};
    }
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
