/* The end of the summary on a terminal: findings, advice and checklists, of each as much as a first look needs. */
#include "judge/review/checklist.h"
#include "publish/terminal_private.h"
#include <string.h>

enum { FINDINGS_SHOWN = 5 };

static bool is_probe(const struct ifm_plan *plan, const struct ifm_finding *finding)
{
    for (size_t c = 0; c < plan->n_cells; c++)
        for (size_t a = 0; a < plan->cells[c].n_arms; a++)
            if (strcmp(plan->cells[c].arms[a].name, finding->arm) == 0 &&
                strcmp(plan->cells[c].name, finding->cell) == 0)
                return plan->cells[c].arms[a].role == IFM_ROLE_CEILING;
    return false;
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

static bool is_told(const struct ifm_view *view, const bool *shown, size_t finding)
{
    for (size_t i = 0; i < view->n_findings; i++)
        if (shown[i] && same_kind(view->findings[i].first, view->findings[finding].first))
            return true;
    return false;
}

/* Marks what is shown: what is invalid, and the weightiest of the rest. One of those that are alike stands for all. */
static bool *choose_findings(struct ifm_terminal *terminal, const struct ifm_plan *plan, const struct ifm_view *view)
{
    bool *shown = IFM_ARENA_ARRAY(terminal->arena, bool, view->n_findings + 1);
    int *weights = IFM_ARENA_ARRAY(terminal->arena, int, view->n_findings + 1);
    for (size_t i = 0; i < view->n_findings; i++) {
        weights[i] = weight_of(plan, view->findings[i].first);
        shown[i] = view->findings[i].first->severity == IFM_SEVERITY_INVALID && !view->findings[i].is_alike;
    }
    for (int places = FINDINGS_SHOWN; places > 0; places--) {
        size_t best = view->n_findings;
        int most = 0;
        for (size_t i = 0; i < view->n_findings; i++) {
            if (shown[i] || view->findings[i].is_alike)
                continue;
            int weight = weights[i] - (is_told(view, shown, i) ? 85 : 0); /* behind what is said of nothing yet */
            if (best == view->n_findings || weight > most) {
                best = i;
                most = weight;
            }
        }
        if (best < view->n_findings)
            shown[best] = true;
    }
    return shown;
}

/* Two lines at most, with the `beside` bytes that stand before and after it; the report holds the rest of a long
 * sentence. */
static const char *two_lines(const struct ifm_terminal *terminal, const char *text, size_t beside)
{
    enum { BROKEN = 12 }; /* what the first line may lose at its end: a word */
    size_t most = 2 * IFM_TERMINAL_WIDTH - IFM_TERMINAL_INDENT - BROKEN - beside;
    size_t size = strlen(text);
    if (size <= most)
        return text;
    for (size = most - strlen("…"); size > 0 && text[size] != ' ';)
        size--;
    return ifm_arena_printf(terminal->arena, "%.*s …", (int)size, text);
}

static void say_rest(struct ifm_terminal *terminal, size_t warnings, size_t notes, bool triage)
{
    const char *words = "";
    if (warnings > 0)
        words = ifm_arena_printf(terminal->arena, "%zu more warning%s", warnings, warnings == 1 ? "" : "s");
    if (notes > 0)
        words = ifm_arena_printf(terminal->arena, "%s%s%zu more note%s", words, words[0] == '\0' ? "" : ", ", notes,
                                 notes == 1 ? "" : "s");
    if (triage)
        words = ifm_arena_printf(terminal->arena, "%s%swhat else changed", words, words[0] == '\0' ? "" : ", ");
    if (words[0] != '\0')
        ifm_terminal_wrap(terminal, ifm_arena_printf(terminal->arena, "%s: report.md, report.html", words), 0,
                          IFM_TERMINAL_INDENT);
}

void ifm_terminal_findings(struct ifm_terminal *terminal, const struct ifm_plan *plan, const struct ifm_view *view,
                           bool triage)
{
    const bool *shown = choose_findings(terminal, plan, view);
    size_t warnings = 0, notes = 0;
    if (view->n_findings > 0 || triage)
        ifm_text_add(terminal->out, "\n");
    for (size_t i = 0; i < view->n_findings; i++) {
        const struct ifm_finding *finding = view->findings[i].first;
        const char *label = ifm_severity_label(finding->severity);
        const char *place = view->findings[i].place;
        size_t n_alike = view->findings[i].n_alike;
        bool ruled = finding->rule != NULL && finding->rule[0] != '\0';
        if (!shown[i]) {
            notes += finding->severity == IFM_SEVERITY_NOTE;
            warnings += finding->severity != IFM_SEVERITY_NOTE;
            continue;
        }
        ifm_terminal_say(terminal, ifm_severity_tone(finding->severity), label);
        ifm_text_add(terminal->out, ": ");
        const char *words =
            ifm_arena_printf(terminal->arena, "%s%s%s", place, place[0] == '\0' ? "" : ": ", finding->text);
        const char *alike = n_alike == 0 ? "" : ifm_arena_printf(terminal->arena, " [and %zu alike]", n_alike);
        const char *rule = !ruled ? "" : ifm_arena_printf(terminal->arena, " (%s)", finding->rule);
        if (finding->severity != IFM_SEVERITY_INVALID)
            words = two_lines(terminal, words, strlen(label) + 2 + strlen(alike) + strlen(rule));
        const char *text = ifm_arena_printf(terminal->arena, "%s%s%s", words, alike, rule);
        ifm_terminal_wrap(terminal, text, strlen(label) + 2, IFM_TERMINAL_INDENT);
    }
    say_rest(terminal, warnings, notes, triage);
}

/* One line a kind of advice, for the first cell that it holds in. */
void ifm_terminal_advice(struct ifm_terminal *terminal, const struct ifm_publication *publication)
{
    struct ifm_advice *advice;
    size_t n;
    ifm_advise(publication->plan, publication->derived, publication->events, terminal->arena, &advice, &n);
    if (n > 0)
        ifm_terminal_say(terminal, IFM_TONE_STRONG, "\nwhat would help\n");
    for (size_t i = 0; i < n;) {
        size_t same = 1;
        while (i + same < n && strcmp(advice[i + same].kind, advice[i].kind) == 0)
            same++;
        const char *more =
            same == 1 ? ""
                      : ifm_arena_printf(terminal->arena, " [and in %zu more cell%s]", same - 1, same == 2 ? "" : "s");
        const char *place = ifm_view_place(advice[i].cell, advice[i].arm, terminal->arena);
        ifm_text_printf(terminal->out, "%*s", IFM_TERMINAL_INDENT, "");
        ifm_terminal_wrap(
            terminal,
            ifm_arena_printf(terminal->arena, "%s: %s%s: %s", place, advice[i].condition, more, advice[i].text),
            IFM_TERMINAL_INDENT, 2 * IFM_TERMINAL_INDENT);
        i += same;
    }
}

/* "checklists  environment lock 4 of 9, final checklist 3 of 9" */
enum ifm_status ifm_terminal_checklists(struct ifm_terminal *terminal, const struct ifm_publication *publication,
                                        struct ifm_error *error)
{
    struct ifm_checklist *lists;
    size_t n;
    IFM_TRY(ifm_checklists(publication->plan, publication->derived, publication->verdict, publication->events,
                           terminal->arena, &lists, &n, error));
    ifm_terminal_say(terminal, IFM_TONE_STRONG, "\nchecklists");
    const char *words = "";
    for (size_t i = 0; i < n; i++)
        words = ifm_arena_printf(terminal->arena, "%s%s%s %zu of %zu", words, i == 0 ? "" : ", ", lists[i].title,
                                 lists[i].n_met, lists[i].n_items);
    ifm_text_add(terminal->out, "  ");
    ifm_terminal_wrap(terminal, ifm_arena_printf(terminal->arena, "points met: %s", words), strlen("checklists  "),
                      IFM_TERMINAL_INDENT);
    return IFM_OK;
}
