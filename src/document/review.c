/* What stands behind the cells: footnotes, what else changed, causes, advice, and the specification's checklists. */
#include "base/text.h"
#include "document/build.h"

#include "judge/review/checklist.h"
#include <string.h>

enum { TRIAGE_SHOWN = 3 };

static void add_notes(struct ifm_builder *builder)
{
    const struct ifm_document *document = builder->document;
    if (document->n_notes == 0)
        return;
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_ALWAYS, "notes", "Notes");
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_NOTES);
    list->id = "note";
    for (size_t i = 0; i < document->n_notes; i++)
        ifm_add_sentence(builder, list, document->notes[i].text)->number = document->notes[i].number;
}

/* Where something is to be decided, what else changed belongs beside it; a first look can do without. */
static void add_triage(struct ifm_builder *builder)
{
    const struct ifm_verdict *verdict = builder->from->verdict;
    enum ifm_level level = verdict->n_gates > 0 ? IFM_LEVEL_ALWAYS : IFM_LEVEL_VERBOSE;
    if (verdict->n_triage == 0)
        return;
    struct ifm_block *section = ifm_add_part(builder, level, "changed", "What else changed");
    section->purpose = IFM_AS_NEWS;
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_FINDINGS);
    for (size_t i = 0; i < verdict->n_triage; i++) {
        struct ifm_item *item = ifm_add_sentence(builder, list, verdict->triage[i].text);
        item->place = ifm_document_place(verdict->triage[i].cell, verdict->triage[i].arm, builder->arena);
        item->folded = i >= TRIAGE_SHOWN && builder->most == IFM_LEVEL_PAGE;
    }
}

/* The gravest finding of a rung, of `n`; NULL = none. */
static const struct ifm_finding *gravest_of(const struct ifm_builder *builder, const char *rung, size_t *n)
{
    const struct ifm_derived *derived = builder->from->derived;
    const struct ifm_finding *gravest = NULL;
    *n = 0;
    for (size_t i = 0; i < derived->n_findings; i++) {
        const struct ifm_finding *finding = &derived->findings[i];
        if (strcmp(ifm_judge_rung(finding), rung) != 0)
            continue;
        ++*n;
        if (gravest == NULL ||
            ifm_finding_weight(builder->from->plan, finding) > ifm_finding_weight(builder->from->plan, gravest))
            gravest = finding;
    }
    return gravest;
}

/* A rung of the ladder in a line: the first clause of its gravest finding, as all of them stand below. */
static void add_rung(struct ifm_builder *builder, struct ifm_block *list, const char *rung)
{
    size_t n;
    const struct ifm_finding *finding = gravest_of(builder, rung, &n);
    if (finding == NULL)
        return;
    const char *place = ifm_document_place(finding->cell, finding->arm, builder->arena),
               *remedy = strstr(finding->text, IFM_REMEDY), *rest = ifm_text_clause_end(finding->text, "; ");
    size_t length = remedy == NULL ? strlen(finding->text) : (size_t)(remedy - finding->text);
    length = rest != NULL && (size_t)(rest - finding->text) < length ? (size_t)(rest - finding->text) : length;
    struct ifm_item *item = ifm_add_item(builder, list);
    item->number = list->n_items;
    item->place = rung;
    ifm_say(builder, &item->line, IFM_TONE_PLAIN, "%s%s%.*s", place, place[0] == '\0' ? "" : ": ", (int)length,
            finding->text);
    if (n > 1)
        ifm_say(builder, &item->line, IFM_TONE_PLAIN, "; %zu more among the findings", n - 1);
}

/* What was measured beside the change accounts for it: nobody need look elsewhere. */
static bool is_explained(const struct ifm_verdict *verdict)
{
    bool all = verdict->n_triage > 0;
    for (size_t i = 0; i < verdict->n_triage; i++)
        all &= verdict->triage[i].explained;
    return all;
}

static void add_causes(struct ifm_builder *builder)
{
    const struct ifm_verdict *verdict = builder->from->verdict;
    enum ifm_tone tone = builder->document->root.first->tone;
    if (verdict->n_rca == 0 || is_explained(verdict) || (tone != IFM_TONE_BAD && tone != IFM_TONE_WARN))
        return;
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_ALWAYS, "causes", "Where to look for the cause");
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_NOTES);
    for (size_t i = 0; i < verdict->n_rca; i++)
        add_rung(builder, list,
                 ifm_arena_printf(builder->arena, "%.*s", (int)strcspn(verdict->rca[i], ":"), verdict->rca[i]));
}

void ifm_build_review(struct ifm_builder *builder)
{
    add_notes(builder);
    add_triage(builder);
    add_causes(builder);
}

/* The first of a kind stands for the others where room is short. */
void ifm_build_advice(struct ifm_builder *builder)
{
    const struct ifm_publication *from = builder->from;
    struct ifm_advice *advice;
    size_t n, first = 0;
    ifm_advise(from->plan, from->derived, from->events, builder->arena, &advice, &n);
    if (n == 0)
        return;
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_ALWAYS, "advice", "What would help");
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_FINDINGS);
    for (size_t i = 0; i < n; i++) {
        bool again = i > 0 && strcmp(advice[i].kind, advice[i - 1].kind) == 0;
        struct ifm_item *item = ifm_add_item(builder, list);
        item->folded = again && builder->most == IFM_LEVEL_PAGE;
        item->level = again ? IFM_LEVEL_VERBOSE : IFM_LEVEL_ALWAYS;
        first = again ? first : i;
        list->items[first].n_alike += again;
        item->place = ifm_document_place(advice[i].cell, advice[i].arm, builder->arena);
        ifm_say(builder, &item->line, IFM_TONE_PLAIN, "%s. Remedy: %s", advice[i].condition, advice[i].text);
    }
}

/* ---- checklists ---- */

static void add_checklist(struct ifm_builder *builder, struct ifm_block *section, const struct ifm_checklist *list)
{
    static const struct {
        const char *word;
        enum ifm_tone tone;
    } looks[] = {{"met", IFM_TONE_GOOD}, {"not met", IFM_TONE_BAD}, {"absent", IFM_TONE_WARN}};
    static const struct ifm_heading headings[] = {
        {"asks for", IFM_M_NONE, true, 0}, {"answer", IFM_M_NONE, true, 0}, {"found", IFM_M_NONE, true, 0}};
    struct ifm_block *fold =
        ifm_add_section(builder, section, IFM_LEVEL_FOLDED, ifm_arena_printf(builder->arena, "checklist-%s", list->id),
                        ifm_arena_printf(builder->arena, "%s (%s): %zu of %zu met", list->title, list->arms,
                                         list->n_met, list->n_items));
    struct ifm_grid grid = ifm_grid_make(builder->arena, 3, list->n_items);
    memcpy(grid.headings, headings, sizeof headings);
    grid.look = IFM_GRID_CHECKS;
    grid.caption = list->title;
    for (size_t i = 0; i < list->n_items; i++) {
        const struct ifm_check_item *item = &list->items[i];
        *ifm_grid_at(&grid, i, 0) = ifm_field_text(item->asks, IFM_TONE_PLAIN);
        *ifm_grid_at(&grid, i, 1) = ifm_field_text(looks[item->state].word, looks[item->state].tone);
        *ifm_grid_at(&grid, i, 2) =
            ifm_field_text(ifm_with_remedy(item->found, item->remedy, builder->arena), IFM_TONE_PLAIN);
    }
    ifm_add_grid(builder, fold, &grid);
}

void ifm_build_checklists(struct ifm_builder *builder)
{
    const struct ifm_publication *from = builder->from;
    struct ifm_checklist *lists;
    size_t n;
    ifm_checklists(from->plan, from->derived, from->verdict, from->events, builder->arena, &lists, &n);
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_ALWAYS, "checklists", "Checklists");
    ifm_add_line(builder, section, IFM_LEVEL_VERBOSE, IFM_AS_ASIDE,
                 "The specification asks; the run answers. Absent is never counted as met.");
    for (size_t i = 0; i < n; i++)
        add_checklist(builder, section, &lists[i]);
}
