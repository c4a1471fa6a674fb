/* The report's first screen: what was measured on which machine, the outcome in sentences, what to distrust, and what
 * the words mean. Formats derived numbers and counts sentences; computes no number that a reader may quote. */
#include "model/lock_state.h"
#include "model/machine_facts.h"
#include "publish/quantity.h"
#include "report/html.h"
#include <string.h>

enum { FEW_CELLS = 6, FEW_SENTENCES = 12, SHORT_SENTENCES = 4 };

size_t ifm_html_sentences_most(const struct ifm_page *page)
{
    return page->view->n_cells == 1 ? FEW_SENTENCES : SHORT_SENTENCES;
}

static const struct ifm_value *value_of(const struct ifm_page *page, const struct ifm_cell *cell,
                                        const struct ifm_arm *arm, enum ifm_metric_id metric)
{
    return ifm_derived_value(page->publication->derived, cell->name, arm->name, metric);
}

static bool is_ok(const struct ifm_value *value)
{
    return value != NULL && value->state == IFM_STATE_OK;
}

static const struct ifm_arm *baseline_of(const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (cell->arms[a].role == IFM_ROLE_BASELINE)
            return &cell->arms[a];
    return NULL;
}

static bool is_compared(const struct ifm_page *page, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    return arm->role == IFM_ROLE_VARIANT && value_of(page, cell, arm, IFM_M_SPEEDUP) != NULL;
}

static void add_strong(struct ifm_page *page, const char *text)
{
    ifm_text_add(page->out, "<strong>");
    ifm_html_escape(text, page->out);
    ifm_text_add(page->out, "</strong>");
}

/* "1.68x faster [1.04, 2.70] than f16", else the word first: "undecided: 1.12x [0.73, 1.71] the speed of f16"; the word
 * is derive's decision. */
static void add_speed(struct ifm_page *page, const struct ifm_cell *cell, const struct ifm_arm *arm, const char *base)
{
    const struct ifm_value *speedup = value_of(page, cell, arm, IFM_M_SPEEDUP);
    const struct ifm_value *change = value_of(page, cell, arm, IFM_M_CHANGE_PERCENT);
    struct ifm_arena *arena = page->arena;
    if (!is_ok(speedup)) {
        ifm_html_escape(ifm_arena_printf(arena, "speed against %s %s: %s", base, ifm_state_label(speedup->state),
                                         speedup->reason == NULL ? "" : speedup->reason),
                        page->out);
        return;
    }
    const char *word = is_ok(change) ? change->text : "", *range = ifm_quantity_range(speedup, arena);
    const char *number = ifm_quantity_of(speedup, arena).number, *gap = range[0] == '\0' ? "" : " ";
    if (strcmp(word, "faster") == 0) {
        add_strong(page, ifm_arena_printf(arena, "%sx faster", number));
        ifm_html_escape(ifm_arena_printf(arena, "%s%s than %s", gap, range, base), page->out);
        return;
    }
    if (word[0] != '\0') {
        add_strong(page, word);
        ifm_text_add(page->out, ": ");
    }
    ifm_html_escape(ifm_arena_printf(arena, "%sx%s%s the speed of %s", number, gap, range, base), page->out);
}

/* What an arm gives up: the loss of a compressed one, else its error against the oracle. No speed without it. */
static const char *error_text(struct ifm_page *page, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_value *loss = value_of(page, cell, arm, IFM_M_LOSS_RMS_REL);
    const struct ifm_value *error = value_of(page, cell, arm, IFM_M_ERROR_RMS_REL);
    if (is_ok(loss))
        return ifm_arena_printf(page->arena, "output error %s %%", ifm_quantity_short(100 * loss->number, page->arena));
    if (loss == NULL && is_ok(error))
        return ifm_arena_printf(page->arena, "error %s", ifm_quantity_number(error, page->arena));
    return loss != NULL || arm->lossy ? "its error was not recorded" : "";
}

/* A speed whose own rates nobody should believe says so in the same sentence. */
static void add_refused_rate(struct ifm_page *page, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    static const enum ifm_metric_id rates[] = {IFM_M_BANDWIDTH_BYTES_PER_S, IFM_M_FLOPS_PER_S};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        const struct ifm_value *rate = value_of(page, cell, arm, rates[i]);
        if (rate == NULL || rate->state != IFM_STATE_REFUSED)
            continue;
        ifm_text_add(page->out, "; <span class=\"bad\">its rates are refused</span>: ");
        ifm_html_escape(rate->reason, page->out);
        return;
    }
}

/* The price is as loud as the gain. */
static void add_price(struct ifm_page *page, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_value *bytes = value_of(page, cell, arm, IFM_M_BYTES_RATIO);
    const struct ifm_value *speedup = value_of(page, cell, arm, IFM_M_SPEEDUP);
    struct ifm_arena *arena = page->arena;
    const char *error = error_text(page, cell, arm);
    if (is_ok(bytes) && bytes->number > 1)
        ifm_html_escape(ifm_arena_printf(arena, " at %s fewer bytes", ifm_quantity_ratio(bytes->number, arena)),
                        page->out);
    if (is_ok(bytes) && bytes->number < 1)
        ifm_html_escape(ifm_arena_printf(arena, " at a bytes ratio of %s", ifm_quantity_ratio(bytes->number, arena)),
                        page->out);
    if (error[0] != '\0') {
        ifm_text_add(page->out, ", ");
        add_strong(page, error);
    }
    if (is_ok(speedup) && speedup->text != NULL && speedup->text[0] != '\0') { /* rule 3 */
        ifm_text_add(page->out, "; ");
        ifm_html_escape(speedup->text, page->out);
    }
}

/* Energy where a pass measured it: the change of a compared arm, else what a token or a step took. */
static void add_energy(struct ifm_page *page, const struct ifm_cell *cell, const struct ifm_arm *arm, bool compared)
{
    const struct ifm_value *change = value_of(page, cell, arm, IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT);
    const struct ifm_value *token = value_of(page, cell, arm, IFM_M_ENERGY_PER_TOKEN_J);
    const struct ifm_value *step = value_of(page, cell, arm, IFM_M_ENERGY_PER_STEP_J);
    struct ifm_arena *arena = page->arena;
    if (compared && is_ok(change)) {
        const char *range = ifm_quantity_range(change, arena);
        const char *number =
            ifm_arena_printf(arena, "%s%s", change->number > 0 ? "+" : "", ifm_quantity_number(change, arena));
        bool told = change->has_interval && (change->high < 0 || change->low > 0); /* loud where it is one */
        ifm_text_add(page->out, "; energy per token ");
        if (told)
            add_strong(page, number);
        ifm_html_escape(ifm_arena_printf(arena, "%s%s%s", told ? "" : number, range[0] == '\0' ? "" : " ", range),
                        page->out);
    } else if (!compared && (is_ok(token) || is_ok(step))) {
        ifm_html_escape(ifm_arena_printf(arena, ", %s a %s", ifm_quantity_full(is_ok(token) ? token : step, arena),
                                         is_ok(token) ? "token" : "step"),
                        page->out);
    }
}

static enum ifm_tone tone_of(const struct ifm_page *page, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_value *change = value_of(page, cell, arm, IFM_M_CHANGE_PERCENT);
    const char *word = is_ok(change) ? change->text : "";
    if (strcmp(word, "faster") == 0)
        return IFM_TONE_GOOD;
    return strcmp(word, "slower") == 0 ? IFM_TONE_BAD : strcmp(word, "undecided") == 0 ? IFM_TONE_WARN : IFM_TONE_DIM;
}

/* One sentence an arm; a cell that compares nothing says the time of each of its rows. */
static size_t add_sentences(struct ifm_page *page, const struct ifm_cell *cell, size_t most)
{
    struct ifm_text *out = page->out;
    const struct ifm_arm *base = baseline_of(cell);
    size_t n = 0, shown = 0;
    bool compares = false;
    for (size_t a = 0; a < cell->n_arms; a++)
        compares |= is_compared(page, cell, &cell->arms[a]);
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_arm *arm = &cell->arms[a];
        const struct ifm_value *time = value_of(page, cell, arm, IFM_M_STEP_NS);
        bool told = compares ? is_compared(page, cell, arm) : ifm_view_is_row(page->view, cell, arm) && time != NULL;
        if (!told || ++n > most)
            continue;
        shown++;
        ifm_text_printf(out, "<li class=\"said %s\"><b>", ifm_html_tone(compares ? tone_of(page, cell, arm) : 0));
        ifm_html_escape(arm->name, out);
        ifm_text_add(out, "</b> ");
        if (compares) {
            add_speed(page, cell, arm, base == NULL ? "the baseline" : base->name);
            add_price(page, cell, arm);
            add_energy(page, cell, arm, true);
            add_refused_rate(page, cell, arm);
        } else if (is_ok(time)) {
            ifm_html_escape(ifm_arena_printf(page->arena, "%s a step", ifm_quantity_full(time, page->arena)), out);
            add_energy(page, cell, arm, false);
        } else {
            ifm_html_escape(ifm_state_label(time->state), out);
            ifm_text_add(out, ": ");
            ifm_html_escape(time->reason, out);
        }
        ifm_text_add(out, "</li>\n");
    }
    if (n > shown)
        ifm_text_printf(out, "<li>and %zu more below</li>\n", n - shown);
    return shown;
}

static void add_cell_link(struct ifm_page *page, const struct ifm_view_cell *cell)
{
    ifm_text_printf(page->out, "<a href=\"#cell-%zu\">", (size_t)(cell - page->view->cells) + 1);
    ifm_html_escape(cell->title, page->out);
    ifm_text_add(page->out, "</a>");
}

static void add_outcome(struct ifm_page *page, const struct ifm_view_cell *cell, size_t most)
{
    ifm_text_add(page->out, "<ul>\n");
    if (cell->unsupported[0] != '\0') {
        ifm_text_add(page->out, "<li>absent: ");
        ifm_html_escape(cell->unsupported, page->out);
        ifm_text_add(page->out, "</li>\n");
    } else if (add_sentences(page, cell->cell, most) == 0) {
        ifm_text_add(page->out, "<li>nothing was measured</li>\n");
    }
    ifm_text_add(page->out, "</ul>\n");
}

/* Of many comparisons only how many there are of each kind. */
static void add_counts(struct ifm_page *page)
{
    static const char *const words[] = {"faster", "slower", "equivalent", "undecided"};
    enum { N_WORDS = sizeof words / sizeof *words };
    const struct ifm_derived *derived = page->publication->derived;
    size_t counts[N_WORDS] = {0}, n = 0;
    for (size_t i = 0; i < derived->n_numbers; i++) {
        const struct ifm_number *number = &derived->numbers[i];
        if (number->metric != IFM_M_CHANGE_PERCENT)
            continue;
        n++;
        for (size_t w = 0; w < N_WORDS; w++)
            counts[w] += is_ok(&number->value) && strcmp(number->value.text, words[w]) == 0;
    }
    if (n == 0)
        return;
    ifm_text_printf(page->out, "<p>%zu comparison%s with a baseline: ", n, n == 1 ? "" : "s");
    size_t decided = 0;
    for (size_t w = 0; w < N_WORDS; w++) {
        ifm_text_printf(page->out, "%s%zu %s", w == 0 ? "" : ", ", counts[w], words[w]);
        decided += counts[w];
    }
    if (n > decided)
        ifm_text_printf(page->out, ", %zu absent or refused", n - decided);
    ifm_text_add(page->out, ".</p>\n");
}

void ifm_html_outcomes(struct ifm_page *page)
{
    const struct ifm_view *view = page->view;
    struct ifm_text *out = page->out;
    if (view->n_cells == 1) {
        add_outcome(page, &view->cells[0], ifm_html_sentences_most(page));
        return;
    }
    if (view->n_cells > FEW_CELLS) {
        add_counts(page);
        return;
    }
    for (size_t i = 0; i < view->n_cells; i++) {
        ifm_text_add(out, "<p class=\"of\">");
        add_cell_link(page, &view->cells[i]);
        ifm_text_add(out, "</p>\n");
        add_outcome(page, &view->cells[i], ifm_html_sentences_most(page));
    }
}

void ifm_html_contents(struct ifm_page *page)
{
    const struct ifm_view *view = page->view;
    if (view->n_cells <= FEW_CELLS)
        return;
    ifm_text_printf(page->out, "<section><nav aria-labelledby=\"cells\"><h2 id=\"cells\">Cells (%zu)</h2>\n",
                    view->n_cells);
    for (size_t i = 0; i < view->n_cells; i++) {
        ifm_text_add(page->out, "<p class=\"of\">");
        add_cell_link(page, &view->cells[i]);
        ifm_text_add(page->out, "</p>\n");
        add_outcome(page, &view->cells[i], ifm_html_sentences_most(page));
    }
    ifm_text_add(page->out, "</nav></section>\n");
}

/* ---- what to distrust ---- */

static size_t count_findings(const struct ifm_page *page, enum ifm_severity severity)
{
    size_t n = 0;
    for (size_t i = 0; i < page->view->n_findings; i++)
        n += page->view->findings[i].first->severity == severity;
    return n;
}

static void add_count(struct ifm_page *page, size_t n, const char *one, const char *many, size_t *parts)
{
    if (n == 0)
        return;
    ifm_text_printf(page->out, "%s%zu %s", *parts == 0 ? "" : ", ", n, n == 1 ? one : many);
    ++*parts;
}

/* The gravest in its own words, as a count says nothing; then how many there are in all. */
static void add_gravest(struct ifm_page *page)
{
    const struct ifm_view_finding *finding = &page->view->findings[0];
    if (page->view->n_findings == 0 || finding->first->severity == IFM_SEVERITY_NOTE)
        return;
    if (finding->place[0] != '\0') {
        ifm_html_escape(finding->place, page->out);
        ifm_text_add(page->out, ": ");
    }
    size_t length = strlen(finding->first->text);
    ifm_html_escape(finding->first->text, page->out);
    ifm_text_add(page->out, length > 0 && finding->first->text[length - 1] == '.' ? " In all " : ". In all ");
}

void ifm_html_doubts(struct ifm_page *page)
{
    struct ifm_text *out = page->out;
    size_t invalid = count_findings(page, IFM_SEVERITY_INVALID), warnings = count_findings(page, IFM_SEVERITY_WARNING);
    size_t notes = count_findings(page, IFM_SEVERITY_NOTE), parts = 0;
    ifm_text_add(out, "<p class=\"doubts\"><b>What to distrust:</b> ");
    add_gravest(page);
    if (page->view->n_findings > 0)
        ifm_text_add(out, "<a href=\"#findings\">");
    add_count(page, invalid, "part is not valid", "parts are not valid", &parts);
    add_count(page, warnings, "warning", "warnings", &parts);
    add_count(page, notes, "note", "notes", &parts);
    ifm_text_add(out, page->view->n_findings > 0 ? "</a>" : "nothing was found");
    if (page->view->n_notes > 0)
        ifm_text_printf(out, "; <a href=\"#notes\">%zu remark%s</a> on what is absent, refused or undecided",
                        page->view->n_notes, page->view->n_notes == 1 ? "" : "s");
    if (ifm_lock_state(page->publication->events) != IFM_LOCK_HELD)
        ifm_text_add(out, "; clocks were not all locked, so numbers of separate runs are <a href=\"#limits\">not "
                          "comparable</a>");
    ifm_text_add(out, ".</p>\n");
}

/* ---- words ---- */

static double level_of(const struct ifm_derived *derived)
{
    for (size_t i = 0; i < derived->n_numbers; i++)
        if (is_ok(&derived->numbers[i].value) && derived->numbers[i].value.has_interval)
            return derived->numbers[i].value.level;
    return 0;
}

void ifm_html_words(struct ifm_page *page)
{
    struct ifm_text *out = page->out;
    double level = level_of(page->publication->derived);
    const struct ifm_view *view = page->view;
    double margin = view->n_cells > 0 ? view->cells[0].cell->measure.margin * 100 : 0;
    ifm_text_add(out,
                 "<p class=\"words\"><b>How to read it.</b> An arm is one variant; all arms of a cell ran in turn, "
                 "block by block, and are compared with its baseline. ");
    if (level > 0)
        ifm_text_printf(out, "±0.8 and [1.2, 1.9] are %s intervals. ",
                        ifm_quantity_bare(level * 100, "%", page->arena));
    ifm_text_printf(out,
                    "Faster, slower: the whole interval lies beyond the margin of ±%s; equivalent: within it; "
                    "undecided: neither. ",
                    ifm_quantity_bare(margin, "%", page->arena));
    ifm_text_add(out, "Absent: not measured; refused: measured, and not believed; both say why. Each term is "
                      "<a href=\"#definitions\">defined</a> below.</p>\n");
}

/* ---- header ---- */

static const char *names_of_workloads(struct ifm_page *page)
{
    const struct ifm_plan *plan = page->publication->plan;
    const char *text = "";
    for (size_t i = 0; i < plan->n_cells; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i; k++)
            is_new &= strcmp(plan->cells[k].workload, plan->cells[i].workload) != 0;
        if (is_new)
            text = ifm_arena_printf(page->arena, "%s%s%s", text, text[0] == '\0' ? "" : ", ", plan->cells[i].workload);
    }
    return text;
}

void ifm_html_header(struct ifm_page *page, const char *date)
{
    struct ifm_text *out = page->out;
    const char *machine = ifm_machine_measured(page->publication->events, page->publication->plan->device),
               *names = names_of_workloads(page);
    ifm_text_add(out, "<header class=\"top\"><p>Inferometer report</p><h1>");
    ifm_html_escape(names[0] == '\0' ? "nothing" : names, out);
    ifm_text_add(out, " on ");
    ifm_html_escape(machine[0] != '\0' ? machine : page->publication->plan->device, out);
    ifm_text_add(out, "</h1><p>run <code>");
    ifm_html_escape(page->publication->derived->run_id, out);
    ifm_text_add(out, "</code>");
    if (date[0] != '\0')
        ifm_text_printf(out, ", %s", date);
    ifm_text_printf(out, ", %zu cell%s</p></header>\n", page->view->n_cells, page->view->n_cells == 1 ? "" : "s");
}
