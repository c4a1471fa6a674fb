/* The brief document: what a terminal shows unless it is asked for more. Cells of one shape are one table, of time, one
 * rate, comparison and price; then a sentence a comparison, why a number of the tables is missing, and the word of
 * trust. What it leaves out is in report.md. Computes no number. */
#include "base/plain.h"
#include "derive/energy/power_run.h"
#include "document/build.h"
#include "document/quantity.h"
#include "document/trust.h"
#include <string.h>

enum {
    WIDTH = IFM_USUAL_WIDTH, /* what is said is the same at any width; the painter breaks its lines */
    INDENT = 2,              /* of the painter's lines */
    LINES = 12,              /* beside tables and empty lines, where sentences leave so many */
    SENTENCES = 6,           /* lines; of more comparisons only how many there are of each kind: the tables have them */
    COUNTED_CELLS = 3,       /* of a table, each with a table of its counters; of more the report alone has them */
    ABSENT_CELLS = 3,        /* cells that this machine cannot run, each with its reason */
};

static const char *see_more(const struct ifm_builder *builder)
{
    return builder->from->filed ? "the report" : "--verbose or the report";
}

/* ---- sentences ---- */

/* Lines that a sentence each takes: two where it speaks of a whole model too, as beside other cells none is spared. */
static size_t lines_of_sentences(const struct ifm_builder *builder, const struct ifm_cell *cells, size_t n_cells)
{
    size_t n = 0;
    for (size_t i = 0; i < n_cells; i++)
        for (size_t a = 0; a < cells[i].n_arms; a++) {
            const struct ifm_arm *baseline = ifm_cell_baseline(&cells[i]), *arm = &cells[i].arms[a];
            const bool model = n_cells > 1 && baseline != NULL && ifm_model_fewer_bytes(baseline, arm) > 0;
            n += ifm_is_compared(builder, &cells[i], arm) ? 1 + model : 0;
        }
    return n;
}

static const char *words_of(const struct ifm_builder *builder, const char *place, const struct ifm_line *line)
{
    const char *text = place;
    for (size_t i = 0; i < line->n; i++)
        text = ifm_arena_printf(builder->arena, "%s%s", text, line->spans[i].text);
    return text;
}

static size_t lines_of_item(const struct ifm_builder *builder, const struct ifm_item *item)
{
    if (item->label[0] != '\0')
        return ifm_lines_of(words_of(builder, "", &item->line), strlen(item->label) + 2, INDENT);
    return ifm_lines_of(words_of(builder, item->place, &item->line), INDENT, 2 * INDENT);
}

/* Of cells beside each other whose arms differ in nothing but time, the table says all; a price needs its sentence. */
static bool has_sentences(const struct ifm_builder *builder, const struct ifm_group *group)
{
    return group->n == 1 || ifm_group_has(builder, group, IFM_M_BYTES_RATIO, true);
}

/* In one line where that can be; the table above has what is left out. */
static void add_sentence(struct ifm_builder *builder, struct ifm_block *list, const struct ifm_cell *cell,
                         const struct ifm_arm *arm, bool names_cell)
{
    struct ifm_item *item = ifm_add_item(builder, list);
    const struct ifm_value *change = ifm_value_of(builder, cell, arm, IFM_M_CHANGE_PERCENT);
    const enum ifm_telling shortest = names_cell ? IFM_TELL_SHORT : IFM_TELL_BARE;
    item->place = names_cell ? ifm_document_place(ifm_cell_at(builder, cell), arm->name, builder->arena) : arm->name;
    item->tone = ifm_tone_of_word(ifm_word_shown(builder, cell, arm, change));
    for (enum ifm_telling telling = IFM_TELL_BELOW; telling <= shortest; telling++) {
        item->line = (struct ifm_line){.n = 0};
        ifm_say_outcome(builder, &item->line, cell, arm, telling);
        if (lines_of_item(builder, item) == 1)
            return;
    }
}

/* A speed-up that is refused is so in the table, with its reason below. */
static void add_sentences(struct ifm_builder *builder, const struct ifm_group *group, struct ifm_block *section)
{
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_OUTCOMES);
    for (size_t i = 0; i < group->n; i++)
        for (size_t a = 0; a < group->first[i].n_arms; a++)
            if (ifm_is_ok(ifm_value_of(builder, &group->first[i], &group->first[i].arms[a], IFM_M_SPEEDUP)))
                add_sentence(builder, list, &group->first[i], &group->first[i].arms[a], group->n > 1);
    const char *pays = group->n == 1 ? ifm_pays_words(builder, group->first) : "";
    if (pays[0] != '\0')
        ifm_add_sentence(builder, list, ifm_arena_printf(builder->arena, "pays %s", pays));
}

static bool all_told(const struct ifm_builder *builder, const struct ifm_group *group)
{
    for (size_t i = 0; i < group->n; i++)
        for (size_t a = 0; a < group->first[i].n_arms; a++)
            if (ifm_is_compared(builder, &group->first[i], &group->first[i].arms[a]) &&
                !ifm_is_ok(ifm_value_of(builder, &group->first[i], &group->first[i].arms[a], IFM_M_SPEEDUP)))
                return false;
    return true;
}

/* ---- cells ---- */

/* Asked for, and nothing came: the reason of the first cell. */
static void add_energy_absent(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section)
{
    const struct ifm_publication *from = builder->from;
    const struct ifm_group alone = {cell, 1, ""};
    if (!ifm_power_is_planned(cell) || ifm_group_has(builder, &alone, IFM_M_ENERGY_PER_TOKEN_J, false) ||
        ifm_group_has(builder, &alone, IFM_M_ENERGY_PER_STEP_J, false))
        return;
    struct ifm_power_reason why = ifm_power_missing(from->plan, from->events, from->facts, cell, builder->arena);
    const char *text =
        ifm_arena_printf(builder->arena, "energy absent: %s", ifm_with_remedy(why.reason, why.remedy, builder->arena));
    ifm_add_line(builder, section, IFM_LEVEL_BRIEF, IFM_AS_ASIDE, ifm_cut(builder, text, WIDTH - 2));
}

/* `few`: so few comparisons in all that each can have its sentence. */
static void add_group(struct ifm_builder *builder, const struct ifm_group *group, bool few)
{
    const char *title = ifm_group_title(group);
    bool sentences = few && has_sentences(builder, group);
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_BRIEF, "", title);
    const char *scaled = ifm_group_scaled(builder, group);
    const size_t taken = ifm_plain_columns(title) + 2 + ifm_plain_columns(scaled),
                 room = taken < WIDTH ? WIDTH - taken : 0;
    section->subtitle =
        ifm_arena_printf(builder->arena, "%s%s", scaled, ifm_cell_conditions(builder, group->first, room));
    ifm_group_table(builder, group, sentences, false, section);
    ifm_add_commands(builder, group->first, IFM_LEVEL_BRIEF, section);
    add_energy_absent(builder, group->first, section);
    for (size_t i = 0; i < group->n && group->n <= COUNTED_CELLS; i++) {
        ifm_build_counters(builder, &group->first[i], IFM_LEVEL_BRIEF, section);
        ifm_build_trace(builder, &group->first[i], IFM_LEVEL_BRIEF, section);
    }
    if (sentences)
        add_sentences(builder, group, section);
    const char *left = group->n == 1 ? ifm_left_words(builder, group->first) : "";
    if (left[0] != '\0')
        ifm_add_line(builder, section, IFM_LEVEL_BRIEF, IFM_AS_ASIDE, left);
    ifm_add_cautions(builder, group->first, group->n, IFM_LEVEL_BRIEF, section);
    const char *model = ifm_model_words(builder, group->first, group->n, sentences && all_told(builder, group));
    if (model[0] != '\0')
        ifm_add_line(builder, section, IFM_LEVEL_BRIEF, IFM_AS_ASIDE, model);
}

static void add_absent(struct ifm_builder *builder, const struct ifm_cell *cell, size_t before)
{
    if (before > ABSENT_CELLS)
        return;
    bool last = before == ABSENT_CELLS;
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_BRIEF, "", last ? "more cells are absent" : cell->name);
    section->subtitle = last ? see_more(builder) : ifm_arena_printf(builder->arena, "absent: %s", cell->unsupported);
}

static void add_cells(struct ifm_builder *builder)
{
    const struct ifm_plan *plan = builder->from->plan;
    size_t absent = 0;
    const bool few = lines_of_sentences(builder, plan->cells, plan->n_cells) <= SENTENCES;
    for (size_t i = 0; i < plan->n_cells;) {
        if (!ifm_is_empty(plan->cells[i].unsupported)) {
            add_absent(builder, &plan->cells[i++], absent++);
            continue;
        }
        struct ifm_group group = ifm_group_at(builder, i);
        add_group(builder, &group, few);
        i += group.n;
    }
    if (!few) /* of all tables: the word of trust counts them all too */
        ifm_add_sentence(builder, ifm_add_list(builder, builder->document->root.last, IFM_AS_OUTCOMES),
                         ifm_counts_of_comparisons(builder, plan->cells, plan->n_cells));
}

/* ---- below the tables ---- */

/* As the painter has it, a bar a point. */
static size_t lines_of_curve(const struct ifm_builder *builder, const struct ifm_block *curve)
{
    const struct ifm_point *first = &curve->points[0], *last = &curve->points[curve->n_points - 1];
    char *bars = ifm_arena_strdup(builder->arena, ifm_arena_printf(builder->arena, "%*s", (int)curve->n_points, ""));
    memset(bars, '#', curve->n_points);
    return ifm_lines_of(ifm_arena_printf(builder->arena, "%s: %s (%s) %s %s (%s)", curve->title, first->size,
                                         first->text, bars, last->size, last->text),
                        INDENT, 2 * INDENT);
}

/* Lines that stand beside the tables so far. */
static size_t lines_so_far(const struct ifm_builder *builder, const struct ifm_block *block)
{
    size_t n = 0;
    if (block->level > IFM_LEVEL_ALWAYS)
        return 0;
    if (block->kind == IFM_BLOCK_SECTION && (block->title[0] != '\0' || block->subtitle[0] != '\0'))
        n = block->purpose == IFM_AS_VERDICT
                ? 0
                : ifm_lines_of(ifm_arena_printf(builder->arena, "%s  %s", block->title, block->subtitle), 0, INDENT);
    if (block->kind == IFM_BLOCK_LINE)
        n += ifm_lines_of(words_of(builder, "", &block->line), INDENT, INDENT);
    if (block->kind == IFM_BLOCK_CURVE && block->n_points > 0)
        n += lines_of_curve(builder, block);
    for (size_t i = 0; i < block->n_items; i++)
        n += block->items[i].level > IFM_LEVEL_ALWAYS ? 0 : lines_of_item(builder, &block->items[i]);
    for (const struct ifm_block *inner = block->first; inner != NULL; inner = inner->next)
        n += lines_so_far(builder, inner);
    return n;
}

/* Below the last table. Returns how many are left out; `warnings`: that they say. */
static size_t add_notes(struct ifm_builder *builder, const struct ifm_trust *trust, struct ifm_block *section,
                        size_t *warnings)
{
    enum { BELOW = 2, LEAST = 2 }; /* how much more there is and the report's path; a note */
    const size_t taken = lines_so_far(builder, &builder->document->root) + BELOW;
    return ifm_add_footnotes(builder, trust, section, LINES > taken + LEAST ? LINES - taken : LEAST, warnings);
}

static void add_labelled(struct ifm_builder *builder, struct ifm_block *list, const char *label, enum ifm_tone tone,
                         const char *text)
{
    if (text[0] == '\0')
        return;
    struct ifm_item *item = ifm_add_sentence(builder, list, text);
    item->fits = true;
    item->label = label;
    item->tone = tone;
}

/* Its cause, what to do next (trust_line.c). Returns the list, to which is added how much more there is. */
static struct ifm_block *add_trust(struct ifm_builder *builder, struct ifm_trust trust)
{
    static const enum ifm_tone tones[] = {IFM_TONE_GOOD, IFM_TONE_WARN, IFM_TONE_WARN,
                                          IFM_TONE_WARN, IFM_TONE_WARN, IFM_TONE_BAD};
    static const char nothing[] = "nothing was measured: ";
    if (ifm_nothing_measured(builder)[0] != '\0' && strncmp(trust.cause, nothing, sizeof nothing - 1) == 0)
        trust.cause = "nothing was measured";
    const struct ifm_trust_lines lines = ifm_trust_lines(builder, &trust);
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_BRIEF, "", "");
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_FINDINGS);
    add_labelled(builder, list, ifm_trust_label(trust.word), tones[trust.word], lines.cause);
    add_labelled(builder, list, "next", IFM_TONE_STRONG, lines.next);
    add_labelled(builder, list, "again", IFM_TONE_STRONG, lines.again);
    return list;
}

static const char *counted(const struct ifm_builder *builder, size_t n, const char *what)
{
    return n == 0 ? "" : ifm_arena_printf(builder->arena, "%zu %s%s", n, what, n == 1 ? "" : "s");
}

/* "4 warnings, 2 footnotes: inferometer report DIR --verbose" */
static void add_more(struct ifm_builder *builder, struct ifm_block *list, size_t warnings, size_t notes)
{
    const char *where =
        builder->from->filed ? "the report" : ifm_with_folder(builder, "inferometer report DIR --verbose");
    if (warnings + notes > 0)
        add_labelled(builder, list, "rest", IFM_TONE_PLAIN,
                     ifm_arena_printf(builder->arena, "%s%s%s: %s", counted(builder, warnings, "warning"),
                                      warnings > 0 && notes > 0 ? ", " : "", counted(builder, notes, "footnote"),
                                      where));
}

/* ---- the verdict ---- */

/* Do the lines of trust say how many more blocks decide the gate, or that nobody can say? Their last clauses may be
 * left out there. */
static bool foretells(const struct ifm_builder *builder, const struct ifm_gate_result *result,
                      const struct ifm_trust *trust)
{
    const struct ifm_trust_lines lines = ifm_trust_lines(builder, trust);
    const char *number = result->further == 0
                             ? "foretold"
                             : ifm_arena_printf(builder->arena, "about %llu more", (unsigned long long)result->further);
    return strstr(lines.cause, number) != NULL || strstr(lines.next, number) != NULL ||
           strstr(lines.cause, IFM_TOO_FEW_TO_FORETELL) != NULL;
}

/* The reason of a gate on a comparison, up to what the word of trust says of that comparison. */
static const char *reason_beside_trust(const struct ifm_builder *builder, const struct ifm_gate_result *result,
                                       const struct ifm_trust *trust)
{
    static const char undecided[] = "undecided: ";
    const char *told = trust->told, *reason = result->reason;
    const bool taken = strncmp(told, undecided, sizeof undecided - 1) == 0;
    const char *at = taken ? strstr(reason, told + sizeof undecided - 1) : NULL;
    if (at != NULL) /* with what it is, and not how much: that stands there */
        return ifm_arena_printf(builder->arena, "%.*s", (int)((size_t)(at - reason) + ifm_first_clause(at)), reason);
    const enum ifm_metric_id metric = ifm_metric_of(result->gate->metric);
    const bool of_it = result->further > 0 || (told[0] != '\0' && strcmp(result->arm, trust->arm) == 0);
    const bool foretold = of_it && result->outcome == IFM_OUTCOME_INCONCLUSIVE &&
                          (metric == IFM_M_CHANGE_PERCENT || metric == IFM_M_SPEEDUP) &&
                          foretells(builder, result, trust);
    at = foretold ? strstr(reason, ": ") : NULL;
    return at == NULL ? reason : ifm_arena_printf(builder->arena, "%.*s", (int)(at - reason), reason);
}

/* What the verdict's reasons say of gates stands once: what the word of trust says of the comparison, is said there. */
static void shorten_reasons(struct ifm_builder *builder, struct ifm_block *block, const struct ifm_trust *trust)
{
    const struct ifm_verdict *verdict = builder->from->verdict;
    for (size_t k = 0; block->purpose == IFM_AS_REASONS && k < block->n_items; k++)
        for (size_t g = 0; block->items[k].line.n > 0 && g < verdict->n_gates; g++) {
            const struct ifm_gate_result *result = &verdict->gates[g];
            struct ifm_span *span = &block->items[k].line.spans[0];
            const char *at = ifm_is_empty(result->reason) ? NULL : strstr(span->text, result->reason);
            if (at == NULL)
                continue;
            const char *kept = reason_beside_trust(builder, result, trust);
            span->text = ifm_arena_printf(builder->arena, "%.*s%s%s", (int)(at - span->text), span->text, kept,
                                          kept == result->reason ? at + strlen(result->reason) : "");
            break;
        }
    for (struct ifm_block *inner = block->first; inner != NULL; inner = inner->next)
        shorten_reasons(builder, inner, trust);
}

/* Of one gate the verdict's reason says all that a table would; whoever reads a file looks for it. */
static bool needs_gate_table(const struct ifm_builder *builder)
{
    const struct ifm_verdict *verdict = builder->from->verdict;
    return verdict->n_gates > 1 || (verdict->n_gates == 1 && builder->from->filed);
}

void ifm_build_brief(struct ifm_builder *builder)
{
    const struct ifm_trust trust = ifm_trust_of(builder->from, builder->arena);
    ifm_build_lead(builder);
    shorten_reasons(builder, &builder->document->root, &trust);
    if (needs_gate_table(builder))
        ifm_build_gate_table(builder);
    add_cells(builder);
    struct ifm_block *last = builder->document->root.last; /* notes stand below it, in the room that trust leaves */
    struct ifm_block *list = add_trust(builder, trust);
    size_t warnings = 0;
    const size_t left_out = add_notes(builder, &trust, last, &warnings);
    add_more(builder, list, trust.warnings > warnings ? trust.warnings - warnings : 0, left_out);
}
