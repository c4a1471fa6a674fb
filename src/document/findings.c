/* Findings: what is doubtful, each kind once, worst first. */
#include "document/build.h"
#include <string.h>

enum { FINDINGS_SHOWN = 5, FEW_NOTES = 5 };

/* ---- one of each ---- */

/* Behind the figure at `text`, its exponent and its unit of time: "8e+06", "1.43 ms"; `text` itself where none is. */
static const char *past_figure(const char *text)
{
    static const char *const units[] = {" ns", " µs", " ms", " s"};
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

/* Behind a list of figures, which is one as well: "817, 5232, 5565, ..." */
static const char *past_figures(const char *text)
{
    const char *after = past_figure(text);
    while (after != text && after[-1] == ',' && *after == ' ' && past_figure(after + 1) != after + 1)
        after = past_figure(after + 1);
    return after;
}

/* What two findings that differ in nothing but their figures have in common: "drifts by 1.5 % over" and "drifts by
 * 8e+06 % over". `key` holds it. */
static const char *words_of(const struct ifm_plan *plan, const struct ifm_told *told, struct ifm_text *key)
{
    static const char figure[] = "\x01";
    key->size = 0;
    ifm_text_printf(key, "%d %d\n%s\n", (int)told->severity, ifm_finding_is_of_probe(plan, told->first),
                    told->first->rule);
    for (const char *at = told->first->text; *at != '\0';) {
        const char *after = past_figures(at);
        ifm_text_append(key, after != at ? figure : at, 1);
        at = after != at ? after : at + 1;
    }
    return key->data;
}

static enum ifm_severity severity_of(const struct ifm_publication *from, const struct ifm_finding *finding)
{
    const bool warns = finding->severity == IFM_SEVERITY_WARNING;
    return warns && ifm_gravity_of(from, finding) == IFM_TOUCHES_NOTHING ? IFM_SEVERITY_NOTE : finding->severity;
}

/* Of a journal of thousands of cells, so that nothing here may compare each finding with each. */
static size_t gather_each(const struct ifm_publication *from, struct ifm_arena *scratch, struct ifm_told *told)
{
    const struct ifm_derived *derived = from->derived;
    struct ifm_names *numbers = ifm_names_create(scratch);
    struct ifm_text key = {0};
    for (int severity = IFM_SEVERITY_INVALID; severity >= IFM_SEVERITY_NOTE; severity--)
        for (size_t i = 0; i < derived->n_findings; i++) {
            const struct ifm_finding *finding = &derived->findings[i];
            if ((int)severity_of(from, finding) != severity)
                continue;
            key.size = 0;
            ifm_text_printf(&key, "%d\n%s\n%s", severity, finding->rule, finding->text);
            struct ifm_told *one = &told[ifm_names_add(numbers, key.data)];
            one->first = one->n == 0 ? finding : one->first;
            one->severity = (enum ifm_severity)severity;
            one->place = "";
            one->n++;
        }
    ifm_text_free(&key);
    return ifm_names_count(numbers);
}

/* The first of those that are alike counts the others. */
static void join_alike(const struct ifm_plan *plan, struct ifm_told *told, size_t n, struct ifm_arena *scratch)
{
    struct ifm_names *numbers = ifm_names_create(scratch);
    size_t *firsts = IFM_ARENA_ARRAY(scratch, size_t, n + 1);
    struct ifm_text key = {0};
    for (size_t i = 0; i < n; i++) {
        const size_t known = ifm_names_count(numbers), number = ifm_names_add(numbers, words_of(plan, &told[i], &key));
        firsts[number] = number == known ? i : firsts[number];
        told[i].alike_to = firsts[number];
        told[i].is_alike = firsts[number] != i;
        told[firsts[number]].n_alike += told[i].is_alike;
    }
    ifm_text_free(&key);
}

size_t ifm_gather_findings(struct ifm_builder *builder, struct ifm_told **out)
{
    struct ifm_told *told = IFM_ARENA_ARRAY(builder->arena, struct ifm_told, builder->from->derived->n_findings + 1);
    struct ifm_arena *scratch = ifm_arena_create();
    size_t n = gather_each(builder->from, scratch, told);
    join_alike(builder->from->plan, told, n, scratch);
    ifm_arena_destroy(scratch);
    for (size_t i = 0; i < n; i++) {
        told[i].place = ifm_document_place(told[i].first->cell, told[i].first->arm, builder->arena);
        if (told[i].n > 1 && told[i].place[0] != '\0')
            told[i].place = ifm_arena_printf(builder->arena, "%s and %zu more", told[i].place, told[i].n - 1);
    }
    *out = told;
    return n;
}

size_t ifm_count_warnings(const struct ifm_publication *from)
{
    struct ifm_arena *scratch = ifm_arena_create();
    struct ifm_told *told = IFM_ARENA_ARRAY(scratch, struct ifm_told, from->derived->n_findings + 1);
    const size_t n = gather_each(from, scratch, told);
    size_t kinds = 0;
    join_alike(from->plan, told, n, scratch);
    for (size_t i = 0; i < n; i++)
        kinds += told[i].severity != IFM_SEVERITY_NOTE && !told[i].is_alike;
    ifm_arena_destroy(scratch);
    return kinds;
}

/* ---- which of them first ---- */

bool ifm_finding_is_of_probe(const struct ifm_plan *plan, const struct ifm_finding *finding)
{
    const struct ifm_cell *cell = ifm_is_empty(finding->arm) ? NULL : ifm_plan_cell(plan, finding->cell);
    const struct ifm_arm *arm = cell == NULL ? NULL : ifm_cell_arm(cell, finding->arm);
    return arm != NULL && arm->role == IFM_ROLE_CEILING;
}

/* What a sceptic asks first: is the output right, is a number refused, was a decision disturbed, was the machine quiet.
 * What concerns a ceiling's probe alone comes last. */
int ifm_finding_weight(const struct ifm_plan *plan, const struct ifm_finding *finding)
{
    static const char *const rules[] = {"rule-07", "rule-02", "rule-08", "rule-03", "rule-04",
                                        "rule-01", "rule-10", "rule-11", "rule-12"};
    int weight = 0;
    for (int i = 0; i < (int)(sizeof rules / sizeof rules[0]); i++)
        if (finding->rule != NULL && strcmp(finding->rule, rules[i]) == 0)
            weight = i + 1;
    if (finding->cell[0] == '\0')
        weight += 3; /* the whole run */
    else if (finding->arm[0] != '\0')
        weight += 1; /* of two that weigh the same, the one about an arm */
    return 100 * (int)finding->severity + weight - (ifm_finding_is_of_probe(plan, finding) ? 50 : 0);
}

/* The kinds, the gravest first; of those that weigh the same the one that was found first. */
static size_t sort_kinds(const struct ifm_builder *builder, const struct ifm_told *told, size_t n, size_t *kinds)
{
    const struct ifm_plan *plan = builder->from->plan;
    size_t n_kinds = 0;
    for (size_t i = 0; i < n; i++) {
        if (told[i].is_alike)
            continue;
        size_t at = n_kinds++;
        const int weight = ifm_finding_weight(plan, told[i].first);
        for (; at > 0 && told[kinds[at - 1]].severity == told[i].severity &&
               ifm_finding_weight(plan, told[kinds[at - 1]].first) < weight;
             at--)
            kinds[at] = kinds[at - 1];
        kinds[at] = i;
    }
    return n_kinds;
}

/* ---- the section ---- */

void ifm_add_finding(struct ifm_builder *builder, struct ifm_block *list, enum ifm_level level,
                     const struct ifm_told *told)
{
    static const enum ifm_tone tones[] = {IFM_TONE_DIM, IFM_TONE_WARN, IFM_TONE_BAD};
    const struct ifm_finding *finding = told->first;
    struct ifm_item *item = ifm_add_sentence(builder, list, finding->text);
    item->level = level;
    item->label = ifm_severity_label(told->severity);
    item->tone = tones[told->severity];
    item->place = told->place;
    item->n_alike = told->n_alike;
    item->rule = ifm_is_empty(finding->rule) ? "" : finding->rule;
    item->fits = told->severity != IFM_SEVERITY_NOTE; /* its figures may stand at its end */
}

void ifm_add_alike(struct ifm_builder *builder, struct ifm_block *list, enum ifm_level level,
                   const struct ifm_told *told, size_t n, size_t first)
{
    for (size_t i = first + 1; told[first].n_alike > 0 && i < n; i++) {
        if (!told[i].is_alike || told[i].alike_to != first)
            continue;
        ifm_add_finding(builder, list, level, &told[i]);
        list->items[list->n_items - 1].again = true;
        list->items[list->n_items - 1].rule = "";
    }
}

/* Every kind of warning; notes where these are few. Many notes are folded, so that what follows is not pages away. */
void ifm_build_findings(struct ifm_builder *builder)
{
    struct ifm_told *told;
    const size_t n = ifm_gather_findings(builder, &told);
    size_t *kinds = IFM_ARENA_ARRAY(builder->arena, size_t, n + 1), notes = 0;
    if (n == 0)
        return;
    const size_t n_kinds = sort_kinds(builder, told, n, kinds);
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_ALWAYS, "findings", "Findings");
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_FINDINGS);
    for (size_t i = 0; i < n; i++)
        notes += told[i].severity == IFM_SEVERITY_NOTE;
    for (size_t i = 0; i < n_kinds; i++) {
        const struct ifm_told *kind = &told[kinds[i]];
        const bool note = kind->severity == IFM_SEVERITY_NOTE;
        const size_t before = list->n_items;
        ifm_add_finding(builder, list, note && i >= FINDINGS_SHOWN ? IFM_LEVEL_VERBOSE : IFM_LEVEL_ALWAYS, kind);
        ifm_add_alike(builder, list, IFM_LEVEL_VERBOSE, told, n, kinds[i]);
        for (size_t k = before; k < list->n_items; k++)
            list->items[k].folded = note && notes > FEW_NOTES;
    }
}
