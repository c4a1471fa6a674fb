/* Findings: what is doubtful, each kind once, worst first; and which of them a first look needs. */
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

/* What two findings that differ in nothing but their figures have in common: "drifts by 1.5 % over" and "drifts by
 * 8e+06 % over". `key` holds it. */
static const char *words_of(const struct ifm_finding *finding, struct ifm_text *key)
{
    static const char figure[] = "\x01";
    key->size = 0;
    ifm_text_printf(key, "%d\n%s\n", (int)finding->severity, finding->rule);
    for (const char *at = finding->text; *at != '\0';) {
        const char *after = past_figure(at);
        ifm_text_append(key, after != at ? figure : at, 1);
        at = after != at ? after : at + 1;
    }
    return key->data;
}

/* Of a journal of thousands of cells, so that nothing here may compare each finding with each. */
static size_t gather_each(const struct ifm_derived *derived, struct ifm_arena *scratch, struct ifm_told *told)
{
    struct ifm_names *numbers = ifm_names_create(scratch);
    struct ifm_text key = {0};
    for (int severity = IFM_SEVERITY_INVALID; severity >= IFM_SEVERITY_NOTE; severity--)
        for (size_t i = 0; i < derived->n_findings; i++) {
            const struct ifm_finding *finding = &derived->findings[i];
            if ((int)finding->severity != severity)
                continue;
            key.size = 0;
            ifm_text_printf(&key, "%d\n%s\n%s", severity, finding->rule, finding->text);
            struct ifm_told *one = &told[ifm_names_add(numbers, key.data)];
            one->first = one->n == 0 ? finding : one->first;
            one->place = "";
            one->n++;
        }
    ifm_text_free(&key);
    return ifm_names_count(numbers);
}

void ifm_count_findings(const struct ifm_derived *derived, size_t counts[IFM_SEVERITY_INVALID + 1])
{
    struct ifm_arena *scratch = ifm_arena_create();
    struct ifm_told *told = IFM_ARENA_ARRAY(scratch, struct ifm_told, derived->n_findings + 1);
    size_t n = gather_each(derived, scratch, told);
    memset(counts, 0, (IFM_SEVERITY_INVALID + 1) * sizeof *counts);
    for (size_t i = 0; i < n; i++)
        counts[told[i].first->severity]++;
    ifm_arena_destroy(scratch);
}

/* The first of those that are alike counts the others. */
static void join_alike(struct ifm_told *told, size_t n, struct ifm_arena *scratch)
{
    struct ifm_names *numbers = ifm_names_create(scratch);
    struct ifm_told **firsts = IFM_ARENA_ARRAY(scratch, struct ifm_told *, n + 1);
    struct ifm_text key = {0};
    for (size_t i = 0; i < n; i++) {
        size_t number = ifm_names_add(numbers, words_of(told[i].first, &key));
        if (firsts[number] == NULL) {
            firsts[number] = &told[i];
        } else {
            firsts[number]->n_alike++;
            told[i].is_alike = true;
        }
    }
    ifm_text_free(&key);
}

size_t ifm_gather_findings(struct ifm_builder *builder, struct ifm_told **out)
{
    const struct ifm_derived *derived = builder->from->derived;
    struct ifm_told *told = IFM_ARENA_ARRAY(builder->arena, struct ifm_told, derived->n_findings + 1);
    struct ifm_arena *scratch = ifm_arena_create();
    size_t n = gather_each(derived, scratch, told);
    join_alike(told, n, scratch);
    ifm_arena_destroy(scratch);
    for (size_t i = 0; i < n; i++) {
        told[i].place = ifm_document_place(told[i].first->cell, told[i].first->arm, builder->arena);
        if (told[i].n > 1 && told[i].place[0] != '\0')
            told[i].place = ifm_arena_printf(builder->arena, "%s and %zu more", told[i].place, told[i].n - 1);
    }
    *out = told;
    return n;
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

/* Do two findings begin with the same words, figures aside? "7 of 10 arms were not steady ...: f16" and another's. */
static bool same_kind(const struct ifm_finding *a, const struct ifm_finding *b)
{
    static const char figures[] = "0123456789.,+-";
    const char *x = a->text, *y = b->text;
    while (*x != '\0' && *x != ':' && *x != ';') {
        x += strspn(x, figures);
        y += strspn(y, figures);
        if (*x != *y)
            return false;
        if (*x == '\0' || *x == ':' || *x == ';')
            break;
        x++;
        y++;
    }
    return a->severity == b->severity && *x == *y;
}

/* `shown` lists the findings that stand already: a handful, as those that are alike are one. */
static bool is_told(const struct ifm_told *told, size_t n, const size_t *shown, size_t finding)
{
    for (size_t i = 0; i < n; i++)
        if (same_kind(told[shown[i]].first, told[finding].first))
            return true;
    return false;
}

/* One of those that are alike stands for all. */
static void choose(const struct ifm_builder *builder, const struct ifm_told *told, size_t n, bool *shown)
{
    size_t *list = IFM_ARENA_ARRAY(builder->arena, size_t, n + 1), n_shown = 0;
    for (size_t i = 0; i < n; i++) {
        shown[i] = told[i].first->severity == IFM_SEVERITY_INVALID && !told[i].is_alike;
        if (shown[i])
            list[n_shown++] = i;
    }
    for (int places = FINDINGS_SHOWN; places > 0; places--) {
        size_t best = n;
        int most = 0;
        for (size_t i = 0; i < n; i++) {
            if (shown[i] || told[i].is_alike)
                continue;
            int weight = ifm_finding_weight(builder->from->plan, told[i].first);
            weight -= is_told(told, n_shown, list, i) ? 85 : 0; /* behind what is said of nothing yet */
            if (best == n || weight > most) {
                best = i;
                most = weight;
            }
        }
        if (best == n)
            return;
        shown[best] = true;
        list[n_shown++] = best;
    }
}

/* ---- the section ---- */

void ifm_add_finding(struct ifm_builder *builder, struct ifm_block *list, enum ifm_level level,
                     const struct ifm_told *told)
{
    static const enum ifm_tone tones[] = {IFM_TONE_DIM, IFM_TONE_WARN, IFM_TONE_BAD};
    const struct ifm_finding *finding = told->first;
    struct ifm_item *item = ifm_add_sentence(builder, list, finding->text);
    item->level = level;
    item->label = ifm_severity_label(finding->severity);
    item->tone = tones[finding->severity];
    item->place = told->place;
    item->n_alike = told->n_alike;
    item->rule = ifm_is_empty(finding->rule) ? "" : finding->rule;
}

void ifm_build_findings(struct ifm_builder *builder)
{
    struct ifm_told *told;
    size_t n = ifm_gather_findings(builder, &told), notes = 0;
    bool *shown = IFM_ARENA_ARRAY(builder->arena, bool, n + 1);
    if (n == 0)
        return;
    choose(builder, told, n, shown);
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_ALWAYS, "findings", "Findings");
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_FINDINGS);
    for (size_t i = 0; i < n; i++)
        notes += told[i].first->severity == IFM_SEVERITY_NOTE;
    /* Many notes are folded, so that what follows is not pages away. */
    for (size_t i = 0; i < n; i++) {
        ifm_add_finding(builder, list, shown[i] ? IFM_LEVEL_ALWAYS : IFM_LEVEL_VERBOSE, &told[i]);
        list->items[i].folded = told[i].first->severity == IFM_SEVERITY_NOTE && notes > FEW_NOTES;
    }
}
