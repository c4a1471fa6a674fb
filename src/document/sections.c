/* The document: its sections in their order, and what figures are drawn from. */
#include "document/document.h"

#include "derive/energy/power_run.h"
#include "derive/picture/picture.h"
#include "document/build.h"

/* A link into a closed fold opens it: browsers do so by themselves. */
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
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_PAGE, "definitions", "Glossary");
    section->folded = true;
    struct ifm_line *line = ifm_add_line(builder, section, IFM_LEVEL_PAGE, IFM_AS_ASIDE, "Source and limits of each: ");
    ifm_say_code(builder, line, "inferometer explain METRIC");
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

/* A letter of an id; all others become "-". */
static char plain(char c)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    return letter || c == '\0' ? c : '-';
}

/* The cells' names, with their numbers where two names have the same letters. */
static const char *const *ids_of(const struct ifm_plan *plan, struct ifm_arena *arena)
{
    const char **ids = IFM_ARENA_ARRAY(arena, const char *, plan->n_cells + 1);
    size_t *times = IFM_ARENA_ARRAY(arena, size_t, plan->n_cells + 1);
    struct ifm_names *names = ifm_names_create(arena);
    for (size_t i = 0; i < plan->n_cells; i++) {
        char *id = ifm_arena_strdup(arena, plan->cells[i].name);
        for (char *c = id; *c != '\0'; c++)
            *c = plain(*c);
        ids[i] = id;
        times[ifm_names_add(names, id)]++;
    }
    for (size_t i = 0; i < plan->n_cells; i++)
        if (times[ifm_names_find(names, ids[i])] > 1)
            ids[i] = ifm_arena_printf(arena, "%s-%u", ids[i], plan->cells[i].index);
    return ids;
}

static struct ifm_document *document_of(const struct ifm_publication *publication, struct ifm_arena *arena)
{
    struct ifm_document *document = IFM_ARENA_NEW(arena, struct ifm_document);
    document->arena = arena;
    document->plan = publication->plan;
    document->derived = publication->derived;
    document->cell_ids = ids_of(publication->plan, arena);
    document->width = publication->width > 0 ? publication->width : IFM_USUAL_WIDTH;
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
    if (most == IFM_LEVEL_BRIEF) {
        ifm_build_brief(&builder);
        return IFM_OK;
    }
    ifm_build_lead(&builder);
    if (most >= IFM_LEVEL_FOLDED)
        ifm_end_answer(&builder, builder.document->root.first);
    ifm_build_gates(&builder);
    ifm_build_contents(&builder);
    if (most == IFM_LEVEL_PAGE && publication->plan->n_cells <= IFM_FEW_CELLS)
        ifm_build_results(&builder);
    else if (most == IFM_LEVEL_PAGE)
        ifm_add_words(&builder, builder.document->root.last);
    for (size_t i = 0; i < publication->plan->n_cells; i++)
        ifm_build_cell(&builder, &publication->plan->cells[i]);
    ifm_build_review(&builder);
    if (most == IFM_LEVEL_PAGE)
        ifm_build_causes(&builder);
    else
        ifm_build_findings(&builder);
    ifm_build_advice(&builder);
    ifm_build_checklists(&builder);
    ifm_build_repeat(&builder);
    ifm_build_limits(&builder);
    if (most == IFM_LEVEL_PAGE) {
        ifm_build_numbers(&builder);
        ifm_build_environment(&builder);
        ifm_build_configuration(&builder);
        build_definitions(&builder);
    }
    return IFM_OK;
}

struct ifm_document *ifm_document_advice(const struct ifm_publication *publication, struct ifm_arena *arena)
{
    struct ifm_builder builder = {.from = publication, .arena = arena};
    builder.document = document_of(publication, arena);
    ifm_build_advice(&builder);
    return builder.document;
}
