/* Findings: what is doubtful, each kind once, worst first; and which of them a first look needs. */
#include "document/build.h"
#include <string.h>

enum { FINDINGS_SHOWN = 5, FEW_NOTES = 5 };

/* ---- one of each ---- */

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

static size_t add_told(struct ifm_told *told, size_t n, const struct ifm_finding *finding)
{
    for (size_t i = 0; i < n; i++)
        if (same_finding(told[i].first, finding)) {
            told[i].n++;
            return n;
        }
    told[n] = (struct ifm_told){.first = finding, .place = "", .n = 1};
    return n + 1;
}

size_t ifm_gather_findings(struct ifm_builder *builder, struct ifm_told **out)
{
    const struct ifm_derived *derived = builder->from->derived;
    struct ifm_told *told = IFM_ARENA_ARRAY(builder->arena, struct ifm_told, derived->n_findings + 1);
    size_t n = 0;
    for (int severity = IFM_SEVERITY_INVALID; severity >= IFM_SEVERITY_NOTE; severity--)
        for (size_t i = 0; i < derived->n_findings; i++)
            if ((int)derived->findings[i].severity == severity)
                n = add_told(told, n, &derived->findings[i]);
    for (size_t i = 0; i < n; i++) {
        told[i].place = ifm_document_place(told[i].first->cell, told[i].first->arm, builder->arena);
        if (told[i].n > 1 && told[i].place[0] != '\0')
            told[i].place = ifm_arena_printf(builder->arena, "%s and %zu more", told[i].place, told[i].n - 1);
        for (size_t k = i + 1; !told[i].is_alike && k < n; k++)
            if (are_alike(told[i].first, told[k].first)) {
                told[i].n_alike++;
                told[k].is_alike = true;
            }
    }
    *out = told;
    return n;
}

/* ---- which of them first ---- */

static bool is_probe(const struct ifm_plan *plan, const struct ifm_finding *finding)
{
    const struct ifm_cell *cell = ifm_plan_cell(plan, finding->cell);
    const struct ifm_arm *arm = cell == NULL ? NULL : ifm_cell_arm(cell, finding->arm);
    return arm != NULL && arm->role == IFM_ROLE_CEILING;
}

/* What a sceptic asks first: is the output right, is a number refused, was a decision disturbed, was the machine quiet.
 * What concerns a ceiling's probe alone comes last. */
static int weight_of(const struct ifm_plan *plan, const struct ifm_finding *finding)
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
    return 100 * (int)finding->severity + weight - (is_probe(plan, finding) ? 50 : 0);
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

static bool is_told(const struct ifm_told *told, size_t n, const bool *shown, size_t finding)
{
    for (size_t i = 0; i < n; i++)
        if (shown[i] && same_kind(told[i].first, told[finding].first))
            return true;
    return false;
}

/* One of those that are alike stands for all. */
static void choose(const struct ifm_builder *builder, const struct ifm_told *told, size_t n, bool *shown)
{
    for (size_t i = 0; i < n; i++)
        shown[i] = told[i].first->severity == IFM_SEVERITY_INVALID && !told[i].is_alike;
    for (int places = FINDINGS_SHOWN; places > 0; places--) {
        size_t best = n;
        int most = 0;
        for (size_t i = 0; i < n; i++) {
            if (shown[i] || told[i].is_alike)
                continue;
            int weight = weight_of(builder->from->plan, told[i].first);
            weight -= is_told(told, n, shown, i) ? 85 : 0; /* behind what is said of nothing yet */
            if (best == n || weight > most) {
                best = i;
                most = weight;
            }
        }
        if (best < n)
            shown[best] = true;
    }
}

/* ---- the section ---- */

static void add_item(struct ifm_builder *builder, struct ifm_block *list, enum ifm_level level,
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
        add_item(builder, list, shown[i] ? IFM_LEVEL_ALWAYS : IFM_LEVEL_VERBOSE, &told[i]);
        list->items[i].folded = told[i].first->severity == IFM_SEVERITY_NOTE && notes > FEW_NOTES;
    }
}
