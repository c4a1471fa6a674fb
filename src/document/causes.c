/* Findings of the page, by cause: one entry a rule with its gravest finding and the comparisons that it touches, the
 * other kinds of the same rule behind it. What concerns a ceiling's probe alone stands with its ceiling. */
#include "base/text.h"
#include "document/build.h"
#include "document/trust.h"
#include <string.h>

enum { CAUSES_SHOWN = 5, DECISIONS_NAMED = 2 };

/* ---- what a finding touches ---- */

/* A comparison of an arm with its baseline. */
struct rival {
    const struct ifm_cell *cell;
    const struct ifm_arm *arm;
};
struct rivals {
    struct rival *items;
    size_t n, capacity;
};

static struct rivals decisions_of(const struct ifm_builder *builder)
{
    const struct ifm_plan *plan = builder->from->plan;
    struct rivals all = {.n = 0};
    for (size_t i = 0; i < plan->n_cells; i++)
        for (size_t a = 0; a < plan->cells[i].n_arms; a++) {
            if (!ifm_is_compared(builder, &plan->cells[i], &plan->cells[i].arms[a]))
                continue;
            IFM_ARENA_GROW(builder->arena, all.items, all.n, all.capacity);
            all.items[all.n++] = (struct rival){&plan->cells[i], &plan->cells[i].arms[a]};
        }
    return all;
}

/* One of the whole run touches all, one of a cell or of a baseline those of the cell. */
static bool touches(const struct ifm_finding *finding, const struct rival *decision)
{
    if (ifm_is_empty(finding->cell))
        return true;
    if (strcmp(finding->cell, decision->cell->name) != 0)
        return false;
    const struct ifm_arm *arm = ifm_is_empty(finding->arm) ? NULL : ifm_cell_arm(decision->cell, finding->arm);
    return arm == NULL || arm->role == IFM_ROLE_BASELINE || arm == decision->arm;
}

static const char *decision_words(const struct ifm_builder *builder, const struct rival *decision)
{
    const struct ifm_arm *baseline = ifm_cell_baseline(decision->cell);
    return ifm_arena_printf(
        builder->arena, "%s against %s%s%s", decision->arm->name, baseline == NULL ? "the baseline" : baseline->name,
        builder->from->plan->n_cells > 1 ? " in " : "", builder->from->plan->n_cells > 1 ? decision->cell->name : "");
}

/* "int4 against f16 in decode and 2 more"; "no comparison". */
static const char *touched_words(const struct ifm_builder *builder, const struct rivals *all, const bool *touched)
{
    const char *text = "";
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (touched[i] && n++ < DECISIONS_NAMED)
            text = ifm_arena_printf(builder->arena, "%s%s%s", text, text[0] == '\0' ? "" : ", ",
                                    decision_words(builder, &all->items[i]));
    if (n == 0)
        return "no comparison";
    return n <= DECISIONS_NAMED ? text : ifm_arena_printf(builder->arena, "%s and %zu more", text, n - DECISIONS_NAMED);
}

/* ---- beside the word of trust ---- */

enum { CLAUSE = 30 }; /* bytes of the shortest clause that says something alone: "undecided" does not */

static const struct ifm_finding *finding_of(const struct ifm_builder *builder, const struct ifm_trust *trust)
{
    const struct ifm_derived *derived = builder->from->derived;
    for (size_t i = 0; trust->told[0] != '\0' && i < derived->n_findings; i++) {
        const struct ifm_finding *finding = &derived->findings[i];
        if (strcmp(finding->text, trust->told) == 0 &&
            strcmp(ifm_document_place(finding->cell, finding->arm, builder->arena), trust->place) == 0)
            return finding;
    }
    return NULL;
}

const char *ifm_cause_short(struct ifm_builder *builder, const struct ifm_trust *trust)
{
    const char *cause = trust->cause;
    if (finding_of(builder, trust) == NULL || trust->remedy[0] == '\0')
        return cause;
    for (const char *at = cause; *at != '\0'; at++)
        if (at - cause >= CLAUSE && (*at == ';' || *at == ':') && at[1] == ' ' && strstr(at, "--") == NULL &&
            !ifm_text_is_bracketed(cause, at))
            return ifm_arena_printf(builder->arena, "%.*s", (int)(at - cause), cause);
    return cause;
}

/* What the word of trust says whole is no finding beside it. */
static bool is_listed(struct ifm_builder *builder, const struct ifm_trust *trust, const struct ifm_told *told)
{
    if (ifm_finding_is_of_probe(builder->from->plan, told->first))
        return false;
    return told->n > 1 || told->n_alike > 0 || told->is_alike || finding_of(builder, trust) != told->first ||
           strcmp(ifm_cause_short(builder, trust), trust->cause) != 0;
}

/* Those that the section lists: of a kind all or none. */
static size_t gather_listed(struct ifm_builder *builder, const struct ifm_trust *trust, struct ifm_told **out)
{
    const size_t n = ifm_gather_findings(builder, out);
    size_t *places = IFM_ARENA_ARRAY(builder->arena, size_t, n + 1), listed = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_listed(builder, trust, &(*out)[i]))
            continue;
        places[i] = listed;
        (*out)[listed] = (*out)[i];
        (*out)[listed].alike_to = places[(*out)[i].alike_to];
        listed++;
    }
    return listed;
}

bool ifm_has_causes(struct ifm_builder *builder, const struct ifm_trust *trust)
{
    struct ifm_told *told;
    return gather_listed(builder, trust, &told) > 0;
}

/* ---- causes ---- */

struct cause_group {
    const char *rule;
    const struct ifm_told *gravest;
    int weight;
    size_t n; /* kinds of findings */
    bool *touched;
};
struct cause_list {
    struct cause_group *items;
    size_t n;
    struct ifm_names *rules;
};

static const char *rule_of(const struct ifm_told *told)
{
    return told->first->rule == NULL ? "" : told->first->rule;
}

static void join(const struct ifm_builder *builder, struct cause_list *causes, const struct rivals *all,
                 const struct ifm_told *told)
{
    if (told->is_alike)
        return;
    struct cause_group *cause = &causes->items[ifm_names_add(causes->rules, rule_of(told))];
    int weight = ifm_finding_weight(builder->from->plan, told->first);
    if (cause->n++ == 0) {
        causes->n++;
        cause->touched = IFM_ARENA_ARRAY(builder->arena, bool, all->n + 1);
    }
    if (cause->gravest == NULL || weight > cause->weight) {
        cause->gravest = told;
        cause->weight = weight;
    }
    cause->rule = rule_of(told);
}

/* Every finding of a cause counts for what it touches, not only the first of those that say the same. */
static void mark_touched(const struct ifm_builder *builder, const struct cause_list *causes, const struct rivals *all)
{
    const struct ifm_derived *derived = builder->from->derived;
    for (size_t i = 0; i < derived->n_findings; i++) {
        const struct ifm_finding *finding = &derived->findings[i];
        size_t at = ifm_names_find(causes->rules, finding->rule == NULL ? "" : finding->rule);
        if (at >= causes->n || ifm_finding_is_of_probe(builder->from->plan, finding))
            continue;
        for (size_t k = 0; k < all->n; k++)
            causes->items[at].touched[k] |= touches(finding, &all->items[k]);
    }
}

static void sort(struct cause_list *causes)
{
    for (size_t i = 1; i < causes->n; i++)
        for (size_t k = i; k > 0 && causes->items[k].weight > causes->items[k - 1].weight; k--) {
            struct cause_group swapped = causes->items[k];
            causes->items[k] = causes->items[k - 1];
            causes->items[k - 1] = swapped;
        }
}

/* ---- the section ---- */

/* What a rule's findings are about. */
static const char *subject_of(const char *rule)
{
    static const char *const subjects[][2] = {
        {"rule-01", "numbers that are missing"},
        {"rule-02", "blocks that the machine disturbed"},
        {"rule-03", "ceilings, and arms far from them"},
        {"rule-04", "parts of the record that disagree"},
        {"rule-05", "energy"},
        {"rule-06", "tokens"},
        {"rule-07", "load, drift and steadiness"},
        {"rule-08", "locks and clocks"},
        {"rule-10", "the output"},
        {"rule-11", "features that did not run"},
        {"rule-12", "outputs and settings that must be equal"},
    };
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (strcmp(rule, subjects[i][0]) == 0)
            return subjects[i][1];
    return rule[0] == '\0' ? "other remarks" : rule;
}

static bool ends_sentence(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && text[length - 1] == '.';
}

static void add_told(struct ifm_builder *builder, struct ifm_block *list, const struct ifm_told *told)
{
    ifm_add_finding(builder, list, IFM_LEVEL_PAGE, told);
}

static bool touches_all(const struct cause_group *cause, const struct rivals *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (!cause->touched[i])
            return false;
    return true;
}

/* The others of its kind, and the other kinds each with its own. */
static void add_others(struct ifm_builder *builder, struct ifm_block *section, const struct cause_group *cause,
                       const struct ifm_told *told, size_t n_told)
{
    struct ifm_block *fold = ifm_add_section(
        builder, section, IFM_LEVEL_PAGE,
        ifm_arena_printf(builder->arena, "finding-%s", cause->rule[0] == '\0' ? "other" : cause->rule), "");
    struct ifm_block *others = ifm_add_list(builder, fold, IFM_AS_FINDINGS);
    fold->folded = true;
    ifm_add_alike(builder, others, IFM_LEVEL_PAGE, told, n_told, cause->gravest->alike_to);
    for (size_t i = 0; i < n_told; i++) {
        if (told[i].is_alike || &told[i] == cause->gravest || strcmp(rule_of(&told[i]), cause->rule) != 0)
            continue;
        add_told(builder, others, &told[i]);
        others->items[others->n_items - 1].rule = "";
        ifm_add_alike(builder, others, IFM_LEVEL_PAGE, told, n_told, i);
    }
    const size_t more = cause->n - 1, alike = others->n_items - more;
    fold->title = ifm_arena_printf(builder->arena, more == 0 ? "%zu like it: %s" : "%zu more: %s",
                                   more == 0 ? alike : more, subject_of(cause->rule));
}

static void add_cause(struct ifm_builder *builder, struct ifm_block *section, const struct cause_group *cause,
                      const struct rivals *all, const struct ifm_told *told, size_t n_told)
{
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_FINDINGS);
    add_told(builder, list, cause->gravest);
    struct ifm_item *item = &list->items[0];
    if (all->n > 0 && !touches_all(cause, all)) { /* that it touches every comparison tells none apart */
        ifm_say(builder, &item->line, IFM_TONE_PLAIN, ends_sentence(cause->gravest->first->text) ? " " : ". ");
        ifm_say(builder, &item->line, IFM_TONE_STRONG, cause->n > 1 ? "With those below it touches" : "Touches");
        ifm_say(builder, &item->line, IFM_TONE_PLAIN, " %s.", touched_words(builder, all, cause->touched));
    }
    if (cause->n > 1 || cause->gravest->n_alike > 0)
        add_others(builder, section, cause, told, n_told);
}

void ifm_build_causes(struct ifm_builder *builder)
{
    struct ifm_told *told;
    const struct ifm_trust trust = ifm_trust_of(builder->from, builder->arena);
    const size_t n = gather_listed(builder, &trust, &told);
    struct rivals all = decisions_of(builder);
    struct cause_list causes = {IFM_ARENA_ARRAY(builder->arena, struct cause_group, n + 1), 0,
                                ifm_names_create(builder->arena)};
    for (size_t i = 0; i < n; i++)
        join(builder, &causes, &all, &told[i]);
    if (causes.n == 0)
        return;
    mark_touched(builder, &causes, &all);
    sort(&causes);
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_PAGE, "findings", "Findings, by cause"),
                     *place = section;
    for (size_t i = 0; i < causes.n; i++) {
        if (i == CAUSES_SHOWN) {
            place = ifm_add_section(builder, section, IFM_LEVEL_PAGE, "finding-more",
                                    ifm_arena_printf(builder->arena, "%zu more causes", causes.n - CAUSES_SHOWN));
            place->folded = true;
        }
        add_cause(builder, place, &causes.items[i], &all, told, n);
    }
}

void ifm_add_probe_findings(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section)
{
    const struct ifm_derived *derived = builder->from->derived;
    struct ifm_block *fold = NULL, *list = NULL;
    for (size_t i = 0; i < derived->n_findings; i++) {
        const struct ifm_finding *finding = &derived->findings[i];
        if (strcmp(finding->cell == NULL ? "" : finding->cell, cell->name) != 0 ||
            !ifm_finding_is_of_probe(builder->from->plan, finding))
            continue;
        if (list == NULL) {
            fold = ifm_add_section(builder, section, IFM_LEVEL_PAGE,
                                   ifm_arena_printf(builder->arena, "%s-probes", section->id), "");
            fold->folded = true;
            list = ifm_add_list(builder, fold, IFM_AS_FINDINGS);
        }
        struct ifm_told told = {
            .first = finding, .severity = IFM_SEVERITY_NOTE, .place = finding->arm, .n = 1}; /* touches no comparison */
        add_told(builder, list, &told);
    }
    if (fold != NULL)
        fold->title = ifm_arena_printf(builder->arena, "%zu finding%s about probes of ceilings", list->n_items,
                                       list->n_items == 1 ? "" : "s");
}
