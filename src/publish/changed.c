/* The short answer of `compare REFERENCE RUN`: which ratios changed, what nothing is known of, and why. */
#include "publish/changed.h"

#include "base/text.h"
#include "document/document.h"
#include "document/quantity.h"
#include <math.h>
#include <string.h>

enum {
    ROWS = 8,  /* of more the first, those that changed before the others */
    NAMED = 4, /* in a sentence */
};

static const struct ifm_listing_column columns[] = {
    {"run", "run", true},        {"cell", "cell", true},     {"arm", "arm", true},
    {"metric", "of", true},      {"result", "result", true}, {"change", "change", true},
    {"was", "reference", false}, {"is", "this run", false},  {"", "notes", true},
};

/* What a row is to the answer; those of the first kind that there is make it. */
enum part { RATIO = 0, DECIDED, SHARE, TIME, LACKING, PARTS };

struct changed {
    const struct ifm_comparison_runs *runs;
    const struct ifm_between *between;
    struct ifm_arena *arena;
    enum part answer; /* PARTS: no row has a word */
    bool cells;       /* more than one: names say which */
};

static enum part part_of(const struct ifm_between_row *row)
{
    if (row->missing || row->change.state != IFM_STATE_OK)
        return LACKING;
    if (row->interleaved)
        return row->metric == IFM_M_CEILING_READ_PERCENT || row->metric == IFM_M_CEILING_FLOPS_PERCENT ? SHARE : RATIO;
    return row->word[0] != '\0' ? DECIDED : TIME;
}

static enum part answer_of(const struct ifm_between *between)
{
    enum part first = PARTS;
    for (size_t i = 0; i < between->n; i++) {
        const enum part part = part_of(&between->rows[i]);
        first = part < first && part < TIME ? part : first;
    }
    return first;
}

/* Ratios and what else is decided answer together; shares of ceilings where nothing else does. */
static bool is_of_answer(const struct changed *c, const struct ifm_between_row *row)
{
    const enum part part = part_of(row);
    return c->answer == SHARE ? part == SHARE : part == RATIO || part == DECIDED;
}

/* ---- the sentence ---- */

static const char *name_of(const struct changed *c, const struct ifm_between_row *row)
{
    const char *name = c->cells ? ifm_document_place(row->cell, row->arm, c->arena) : row->arm;
    return row->metric == IFM_M_SPEEDUP || row->metric == IFM_M_STEP_NS
               ? name
               : ifm_arena_printf(c->arena, "%s (%s)", name, ifm_metric_told(row->metric).name);
}

/* The rows of one word: "int8 -5.1 % [-6.0, -4.2], int4 ..."; "" = there is none. */
static const char *list_of(const struct changed *c, const char *word, bool numbers)
{
    const char *list = "";
    size_t n = 0;
    for (size_t i = 0; i < c->between->n; i++) {
        const struct ifm_between_row *row = &c->between->rows[i];
        if (!is_of_answer(c, row) || strcmp(row->word, word) != 0 || ++n > NAMED)
            continue;
        const struct ifm_value change = ifm_comparison_for_people(row->metric, &row->change);
        list = ifm_arena_printf(c->arena, "%s%s%s%s%s", list, n == 1 ? "" : ", ", name_of(c, row), numbers ? " " : "",
                                numbers ? ifm_comparison_change(&change, c->arena) : "");
    }
    return n <= NAMED ? list : ifm_arena_printf(c->arena, "%s and %zu more", list, n - NAMED);
}

/* Undecided rows, and what their intervals hold together where each holds no change. */
struct unseen {
    size_t n, n_wide; /* rows in all; those whose interval leaves no change out, or that have none */
    double low, high;
};

static struct unseen unseen_of(const struct changed *c)
{
    struct unseen unseen = {.low = 0, .high = 0};
    for (size_t i = 0; i < c->between->n; i++) {
        const struct ifm_between_row *row = &c->between->rows[i];
        if (!is_of_answer(c, row) || strcmp(row->word, "undecided") != 0)
            continue;
        const struct ifm_value change = ifm_comparison_for_people(row->metric, &row->change);
        unseen.n++;
        if (!change.has_interval || change.low > 0 || change.high < 0) {
            unseen.n_wide++;
            continue;
        }
        unseen.low = fmin(unseen.low, change.low);
        unseen.high = fmax(unseen.high, change.high);
    }
    return unseen;
}

/* Is the answer of nothing but ratios of arms that took turns? */
static bool is_of_speedups(const struct changed *c)
{
    bool any = false, all = true;
    for (size_t i = 0; i < c->between->n; i++) {
        const struct ifm_between_row *row = &c->between->rows[i];
        any |= is_of_answer(c, row);
        all &= !is_of_answer(c, row) || row->metric == IFM_M_SPEEDUP;
    }
    return any && all;
}

static const char *say_undecided(const struct changed *c)
{
    const struct unseen unseen = unseen_of(c);
    if (unseen.n == 0)
        return "";
    if (unseen.n_wide > 0)
        return ifm_arena_printf(c->arena, "undecided: %s", list_of(c, "undecided", unseen.n <= NAMED));
    return ifm_arena_printf(c->arena, "no change seen: %s (%swithin %.0f to +%.0f %%)", list_of(c, "undecided", false),
                            unseen.n == 1 ? "" : "each ", floor(unseen.low), ceil(unseen.high));
}

/* "locks, time" of what keeps the row from being compared. */
static const char *why_not(const struct ifm_between_row *row)
{
    static const char lead[] = "not comparable: ";
    const char *text = row->not_comparable;
    return strncmp(text, lead, sizeof lead - 1) == 0 ? text + sizeof lead - 1 : text;
}

/* Why nothing is decided. */
static const char *say_nothing(const struct changed *c)
{
    for (size_t i = 0; i < c->between->n; i++)
        if (part_of(&c->between->rows[i]) == TIME)
            return ifm_arena_printf(c->arena,
                                    "not decided: times of separate runs are not comparable (%s), and no ratio of arms "
                                    "that took turns is in both; measure old and new in one run",
                                    why_not(&c->between->rows[i]));
    for (size_t i = 0; i < c->between->n; i++) {
        const struct ifm_value *change = &c->between->rows[i].change;
        if (part_of(&c->between->rows[i]) != LACKING || ifm_is_empty(change->reason))
            continue;
        const char *text = change->reason, *behind = strncmp(text, "rule-", 5) == 0 ? strstr(text, ": ") : NULL;
        text = behind == NULL ? text : behind + 2;
        return ifm_arena_printf(c->arena, "not compared: %.*s", (int)strcspn(text, ";"), text);
    }
    return "not decided";
}

static const char *sentence(const struct changed *c)
{
    static const char *const words[] = {"faster", "slower", "less", "more", "nearer", "farther"};
    const char *text = "";
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        const char *list = list_of(c, words[w], true);
        if (list[0] != '\0')
            text = ifm_arena_printf(c->arena, "%s%s%s: %s", text, text[0] == '\0' ? "" : "; ", words[w], list);
    }
    const char *same = list_of(c, "equivalent", false);
    if (same[0] != '\0')
        text = ifm_arena_printf(c->arena, "%s%sunchanged: %s", text, text[0] == '\0' ? "" : "; ", same);
    const char *open = say_undecided(c);
    if (open[0] != '\0')
        text = ifm_arena_printf(c->arena, "%s%s%s", text, text[0] == '\0' ? "" : "; ", open);
    return text[0] == '\0' ? say_nothing(c) : text;
}

/* ---- rows ---- */

static bool is_decided(const struct ifm_between_row *row)
{
    return row->word[0] != '\0' && strcmp(row->word, "undecided") != 0 && strcmp(row->word, "equivalent") != 0;
}

/* Of reasons that differ in figures alone the first stands for all. */
static const char *why_lacking(const struct changed *c, const struct ifm_between_row *row)
{
    const struct ifm_value *worse = &row->change;
    for (size_t i = 0; &c->between->rows[i] != row; i++) {
        const struct ifm_between_row *before = &c->between->rows[i];
        const char *end = part_of(before) == LACKING ? ifm_text_alike(before->change.reason, worse->reason) : NULL;
        if (end == NULL || *end != '\0')
            continue;
        worse = &before->change;
        break;
    }
    return ifm_is_empty(worse->remedy) ? worse->reason
                                       : ifm_arena_printf(c->arena, "%s; %s", worse->reason, worse->remedy);
}

/* What an arm lacks for one reason stands once, and not beside a row that answers. */
static bool is_told(const struct changed *c, size_t at)
{
    const struct ifm_between_row *row = &c->between->rows[at];
    for (size_t i = 0; i < at; i++) {
        const struct ifm_between_row *before = &c->between->rows[i];
        if (part_of(before) == LACKING && strcmp(before->cell, row->cell) == 0 && strcmp(before->arm, row->arm) == 0 &&
            strcmp(before->change.reason, row->change.reason) == 0)
            return true;
    }
    return false;
}

static bool is_shown(const struct changed *c, size_t at)
{
    const struct ifm_between_row *row = &c->between->rows[at];
    const enum part part = part_of(row);
    if (part == LACKING) /* of shares of ceilings only where they are the answer */
        return !is_told(c, at) && (c->answer == SHARE || (row->metric != IFM_M_CEILING_READ_PERCENT &&
                                                          row->metric != IFM_M_CEILING_FLOPS_PERCENT));
    return is_of_answer(c, row) || (part == TIME && c->answer == PARTS);
}

static void add_row(struct ifm_listing *listing, const struct changed *c, const struct ifm_between_row *row,
                    bool several)
{
    const bool ok = row->change.state == IFM_STATE_OK;
    const struct ifm_value change = ifm_comparison_for_people(row->metric, &row->change);
    ifm_listing_row(listing);
    ifm_listing_set_text(listing, "run", several ? c->runs->other_label : "");
    ifm_listing_set_text(listing, "cell", c->cells ? row->cell : "");
    ifm_listing_set_text(listing, "arm", row->arm);
    ifm_listing_set_text(listing, "metric", ifm_metric_told(row->metric).name);
    ifm_listing_set_text(listing, "result",
                         !ok                    ? ifm_state_label(row->change.state)
                         : row->word[0] != '\0' ? row->word
                                                : "not comparable");
    ifm_listing_set_text(listing, "change", ok ? ifm_comparison_change(&change, c->arena) : "");
    if (row->beside) {
        ifm_listing_set_text(listing, "was",
                             ifm_is_ok(&row->reference) ? ifm_quantity_number(&row->reference, c->arena) : "");
        ifm_listing_set_text(listing, "is", ifm_is_ok(&row->other) ? ifm_quantity_number(&row->other, c->arena) : "");
    }
    const bool taken = row->widened[0] == '\0' && !ifm_is_empty(row->speedup.text); /* wide ones show themselves */
    const char *why = !ok ? why_lacking(c, row) : taken ? row->speedup.text : "";
    if (why[0] != '\0')
        ifm_listing_show_note(listing, why);
}

static void add_rows(struct ifm_listing *listing, const struct changed *c, bool several)
{
    size_t n = 0, n_decided = 0, added = 0, others = 0;
    for (size_t i = 0; i < c->between->n; i++)
        if (is_shown(c, i)) {
            n++;
            n_decided += is_decided(&c->between->rows[i]);
        }
    const size_t room = n_decided < ROWS ? ROWS - n_decided : 0;
    for (size_t i = 0; i < c->between->n; i++) {
        const struct ifm_between_row *row = &c->between->rows[i];
        if (!is_shown(c, i) || added == ROWS || (!is_decided(row) && others == room))
            continue;
        others += !is_decided(row);
        added++;
        add_row(listing, c, row, several);
    }
    if (n > added)
        ifm_listing_remark(listing, ifm_arena_printf(c->arena, "%zu more rows: --verbose", n - added));
}

/* Times that stand beside ratios, in a line. */
static void add_times(struct ifm_listing *listing, const struct changed *c, bool several)
{
    const char *list = "", *why = "";
    size_t n = 0;
    for (size_t i = 0; i < c->between->n && c->answer < TIME; i++) {
        const struct ifm_between_row *row = &c->between->rows[i];
        if (part_of(row) != TIME || row->metric != IFM_M_STEP_NS || !row->beside || ++n > NAMED)
            continue;
        why = why_not(row);
        list = ifm_arena_printf(c->arena, "%s%s%s %s, was %s", list, n == 1 ? "" : "; ", name_of(c, row),
                                ifm_quantity_number(&row->other, c->arena),
                                ifm_quantity_number(&row->reference, c->arena));
    }
    if (n > NAMED)
        list = ifm_arena_printf(c->arena, "%s; %zu more", list, n - NAMED);
    if (n > 0)
        ifm_listing_remark(listing,
                           ifm_arena_printf(c->arena, "times%s%s, not comparable (%s): %s", several ? " of " : "",
                                            several ? c->runs->other_label : "", why, list));
}

struct ifm_listing ifm_changed_begin(struct ifm_arena *arena)
{
    return ifm_listing_begin(columns, sizeof columns / sizeof *columns, arena);
}

void ifm_changed_add(struct ifm_listing *listing, const struct ifm_comparison_runs *runs,
                     const struct ifm_between *between, bool several, struct ifm_text *sentences)
{
    struct changed c = {.runs = runs, .between = between, .arena = listing->arena, .answer = answer_of(between)};
    for (size_t i = 1; i < between->n; i++)
        c.cells |= strcmp(between->rows[i].cell, between->rows[0].cell) != 0;
    if (between->n == 0)
        return;
    ifm_text_printf(sentences, "%s against %s%s: %s\n", runs->other_label, runs->reference_label,
                    is_of_speedups(&c) ? ", by speed-up" : "", sentence(&c));
    add_rows(listing, &c, several);
    add_times(listing, &c, several);
}
