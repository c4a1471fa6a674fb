/* The short answer of `compare REFERENCE RUN`: which ratios changed, what nothing is known of, and why. */
#include "publish/changed.h"

#include "base/names.h"
#include "base/text.h"
#include "document/build.h"
#include "document/escape.h"
#include "document/quantity.h"
#include "publish/distrust.h"
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

/* What a row is to the answer; those of the first kind that there is make it. Unused: of a cell that either run says
 * not to use. */
enum part { RATIO = 0, DECIDED, SHARE, TIME, LACKING, UNUSED, PARTS };

struct changed {
    const struct ifm_comparison_runs *runs;
    const struct ifm_between *between;
    struct ifm_arena *arena;
    struct ifm_distrust *distrusts; /* of each row's cell */
    enum part answer;               /* PARTS: no row has a word */
    bool cells;                     /* more than one: names say which */
};

/* ---- what may be used ---- */

static struct ifm_distrust *distrusts_of(const struct ifm_comparison_runs *runs, const struct ifm_between *between,
                                         struct ifm_arena *arena)
{
    struct ifm_distrust *all = IFM_ARENA_ARRAY(arena, struct ifm_distrust, between->n + 1);
    for (size_t i = 0; i < between->n; i++)
        all[i] = i > 0 && strcmp(between->rows[i].cell, between->rows[i - 1].cell) == 0
                     ? all[i - 1]
                     : ifm_distrust_of(runs, between->rows[i].cell);
    return all;
}

static const struct ifm_distrust *distrust(const struct changed *c, const struct ifm_between_row *row)
{
    return &c->distrusts[row - c->between->rows];
}

static enum part part_of(const struct changed *c, const struct ifm_between_row *row)
{
    if (row->missing || row->change.state != IFM_STATE_OK)
        return LACKING;
    if (distrust(c, row)->why != NULL)
        return UNUSED;
    if (row->interleaved)
        return ifm_is_share(row->metric) ? SHARE : RATIO;
    return row->word[0] != '\0' ? DECIDED : TIME;
}

static enum part answer_of(const struct changed *c)
{
    enum part first = PARTS;
    for (size_t i = 0; i < c->between->n; i++) {
        const enum part part = part_of(c, &c->between->rows[i]);
        first = part < first && part < TIME ? part : first;
    }
    return first;
}

/* Ratios and what else is decided answer together; shares of ceilings where nothing else does. */
static bool is_of_answer(const struct changed *c, const struct ifm_between_row *row)
{
    const enum part part = part_of(c, row);
    return c->answer == SHARE ? part == SHARE : part == RATIO || part == DECIDED;
}

/* ---- the sentence ---- */

static const char *name_of(const struct changed *c, const struct ifm_between_row *row)
{
    const char *name = c->cells ? ifm_document_place(row->cell, row->arm, c->arena) : row->arm;
    return row->metric == IFM_M_SPEEDUP || row->metric == IFM_M_STEP_NS
               ? name
               : ifm_arena_printf(c->arena, "%s (%s)", name, ifm_share_told(row->metric, row->integer));
}

/* What is said of an undecided row: an interval around no change answers up to the bound of the run's own sentence. */
static const char *said_of_undecided(const struct ifm_between_row *row)
{
    const struct ifm_value change = ifm_comparison_for_people(row->metric, &row->change);
    if (!change.has_interval || change.low > 0 || change.high < 0)
        return "undecided";
    return fmax(-change.low, change.high) > IFM_NO_DIFFERENCE_MOST_PERCENT ? "too wide to tell" : "no change seen";
}

static bool is_refused_speedup(const struct ifm_between_row *row)
{
    return row->metric == IFM_M_SPEEDUP &&
           (row->other.state == IFM_STATE_REFUSED || row->reference.state == IFM_STATE_REFUSED);
}

/* The words of the sentence under which a row stands; "" = under none. */
static const char *said_of(const struct changed *c, const struct ifm_between_row *row)
{
    if (is_refused_speedup(row))
        return "speed-ups refused";
    if (part_of(c, row) == UNUSED && row->metric == IFM_M_SPEEDUP)
        return "not used";
    if (!is_of_answer(c, row))
        return "";
    return strcmp(row->word, "undecided") == 0    ? said_of_undecided(row)
           : strcmp(row->word, "equivalent") == 0 ? "unchanged"
                                                  : row->word;
}

enum telling { NAME, CHANGE, RANGE };

static const char *item_of(const struct changed *c, const struct ifm_between_row *row, enum telling telling)
{
    const char *name = name_of(c, row);
    const struct ifm_value change = ifm_comparison_for_people(row->metric, &row->change);
    const char *text = ifm_comparison_change(&change, c->arena), *range = strstr(text, " [");
    if (telling == CHANGE) /* in the digits of its interval, which the table below has */
        return ifm_arena_printf(c->arena, "%s %.*s", name, (int)(range == NULL ? strlen(text) : (size_t)(range - text)),
                                text);
    return telling == NAME || range == NULL
               ? name
               : ifm_arena_printf(c->arena, "%s %.*s %%", name, (int)strcspn(range + 1, "]") + 1, range + 1);
}

/* One more of a sentence's names: "f16, int2"; beyond NAMED they are counted alone. */
static const char *with_name(const struct changed *c, const char *list, size_t n, const char *name)
{
    return n > NAMED ? list : ifm_arena_printf(c->arena, "%s%s%s", list, n == 1 ? "" : ", ", name);
}

static const char *with_others(const struct changed *c, const char *list, size_t n)
{
    return n <= NAMED ? list : ifm_arena_printf(c->arena, "%s and %zu more", list, n - NAMED);
}

/* The rows under some words: "int8 -5.1 %, int4 ..."; "" = there is none. */
static const char *list_of(const struct changed *c, const char *said, enum telling telling)
{
    const char *list = "";
    size_t n = 0;
    for (size_t i = 0; i < c->between->n; i++) {
        const struct ifm_between_row *row = &c->between->rows[i];
        if (strcmp(said_of(c, row), said) == 0)
            list = with_name(c, list, ++n, item_of(c, row, telling));
    }
    return with_others(c, list, n);
}

/* " (within [-1.2, +0.9] %)" of the row that shows no change, as the table has it; of several what holds each. */
static const char *bounds_of(const struct changed *c)
{
    double low = 0, high = 0;
    const char *alone = NULL;
    size_t n = 0;
    for (size_t i = 0; i < c->between->n; i++) {
        const struct ifm_between_row *row = &c->between->rows[i];
        if (strcmp(said_of(c, row), "no change seen") != 0)
            continue;
        const struct ifm_value change = ifm_comparison_for_people(row->metric, &row->change);
        alone = strstr(ifm_comparison_change(&change, c->arena), "[");
        n++;
        low = fmin(low, change.low);
        high = fmax(high, change.high);
    }
    return n == 1 && alone != NULL
               ? ifm_arena_printf(c->arena, " (within %.*s %%)", (int)strcspn(alone, "]") + 1, alone)
               : ifm_arena_printf(c->arena, " (each within %.0f to +%.0f %%)", floor(low), ceil(high));
}

/* A reason without its rule and what explains it further. */
static const char *in_short(const struct changed *c, const char *text)
{
    const char *behind = strncmp(text, "rule-", 5) == 0 ? strstr(text, ": ") : NULL;
    text = behind == NULL ? text : behind + 2;
    const char *colon = strstr(text, ": ");
    size_t size = strcspn(text, ";");
    if (colon != NULL && (size_t)(colon - text) < size)
        size = (size_t)(colon - text);
    return ifm_arena_printf(c->arena, "%.*s", (int)size, text);
}

/* " (branch: 159 % of the measured flops ceiling)" of the first row under the words. */
static const char *cause_of(const struct changed *c, const char *said)
{
    for (size_t i = 0; i < c->between->n; i++) {
        const struct ifm_between_row *row = &c->between->rows[i];
        if (strcmp(said_of(c, row), said) != 0)
            continue;
        const bool here = row->other.state == IFM_STATE_REFUSED;
        const struct ifm_distrust of =
            is_refused_speedup(row) ? (struct ifm_distrust){(here ? row->other : row->reference).reason,
                                                            here ? c->runs->other_label : c->runs->reference_label}
                                    : *distrust(c, row);
        return ifm_arena_printf(c->arena, " (%s: %s)", of.label, in_short(c, of.why));
    }
    return "";
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

/* "locks, time" of what keeps the row from being compared. */
static const char *why_not(const struct ifm_between_row *row)
{
    static const char lead[] = "not comparable: ";
    const char *text = row->not_comparable;
    return strncmp(text, lead, sizeof lead - 1) == 0 ? text + sizeof lead - 1 : text;
}

/* "decode.kv_len, baseline differ": what keeps apart the numbers that both runs have, without what follows from
 * settings; "" of fewer than two, as one is said with its values. */
static const char *what_differs(const struct changed *c)
{
    struct ifm_names *names = ifm_names_create(c->arena);
    const char *list = "";
    for (size_t i = 0; i < c->between->n; i++) {
        const struct ifm_likeness *likeness = &c->between->rows[i].likeness;
        for (size_t k = 0; k < likeness->n_refusing; k++) {
            const char *field = likeness->items[k].field;
            if (strncmp(field, "ledger.", 7) == 0 || ifm_names_find(names, field) != IFM_NO_NAME)
                continue;
            ifm_names_add(names, field);
            list = with_name(c, list, ifm_names_count(names), field);
        }
    }
    const size_t n = ifm_names_count(names);
    return n < 2 ? "" : ifm_arena_printf(c->arena, "%s differ", with_others(c, list, n));
}

/* The first clause of why a number that both runs have is not compared. */
static const char *first_reason(const struct changed *c)
{
    for (size_t i = 0; i < c->between->n; i++) {
        const struct ifm_between_row *row = &c->between->rows[i];
        if (row->missing || part_of(c, row) != LACKING || ifm_is_empty(row->change.reason))
            continue;
        const char *text = row->change.reason, *behind = strncmp(text, "rule-", 5) == 0 ? strstr(text, ": ") : NULL;
        text = behind == NULL ? text : behind + 2;
        return ifm_arena_printf(c->arena, "%.*s", (int)strcspn(text, ";"), text);
    }
    return "";
}

/* "f16, int2 are not in d4": the cells and arms that one run lacks; "" = none. */
static const char *what_lacks(const struct changed *c, const struct ifm_plan *plan, const char *label)
{
    const char *list = "";
    size_t n = 0;
    for (size_t i = 0; i < c->between->n; i++) {
        const struct ifm_between_row *row = &c->between->rows[i];
        const struct ifm_cell *cell = row->missing ? ifm_plan_cell(plan, row->cell) : NULL;
        if (!row->missing || (cell != NULL && (row->arm[0] == '\0' || ifm_cell_arm(cell, row->arm) != NULL)))
            continue;
        const char *name =
            c->cells || row->arm[0] == '\0' ? ifm_document_place(row->cell, row->arm, c->arena) : row->arm;
        list = with_name(c, list, ++n, name);
    }
    return n == 0
               ? ""
               : ifm_arena_printf(c->arena, "%s %s not in %s", with_others(c, list, n), n == 1 ? "is" : "are", label);
}

/* Why nothing is decided. */
static const char *say_nothing(const struct changed *c)
{
    for (size_t i = 0; i < c->between->n; i++)
        if (part_of(c, &c->between->rows[i]) == TIME)
            return ifm_arena_printf(c->arena,
                                    "not decided: times of separate runs are not comparable (%s), and no ratio of arms "
                                    "that took turns is in both; measure old and new in one run",
                                    why_not(&c->between->rows[i]));
    const char *differs = what_differs(c), *text = "";
    const char *parts[] = {differs[0] != '\0' ? differs : first_reason(c),
                           what_lacks(c, c->runs->other->plan, c->runs->other_label),
                           what_lacks(c, c->runs->reference->plan, c->runs->reference_label)};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i][0] != '\0')
            text = ifm_arena_printf(c->arena, "%s%s%s", text, text[0] == '\0' ? "not compared: " : "; ", parts[i]);
    return text[0] == '\0' ? "not decided" : text;
}

/* What may not be used comes first: whoever asks for a speed-up must not take another number for it. */
static const char *sentence(const struct changed *c)
{
    static const struct {
        const char *said;
        enum telling telling;
    } parts[] = {{"speed-ups refused", NAME}, {"not used", NAME},       {"faster", CHANGE},
                 {"slower", CHANGE},          {"less", CHANGE},         {"more", CHANGE},
                 {"nearer", CHANGE},          {"farther", CHANGE},      {"unchanged", NAME},
                 {"undecided", NAME},         {"no change seen", NAME}, {"too wide to tell", RANGE}};
    const char *text = "", *bounds = bounds_of(c);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        const char *list = list_of(c, parts[p].said, parts[p].telling);
        const char *behind = p < 2                                          ? cause_of(c, parts[p].said)
                             : strcmp(parts[p].said, "no change seen") == 0 ? bounds
                                                                            : "";
        if (list[0] != '\0')
            text = ifm_arena_printf(c->arena, "%s%s%s: %s%s", text, text[0] == '\0' ? "" : "; ", parts[p].said, list,
                                    behind);
    }
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
        const char *end = part_of(c, before) == LACKING ? ifm_text_alike(before->change.reason, worse->reason) : NULL;
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
        if (part_of(c, before) == LACKING && strcmp(before->cell, row->cell) == 0 &&
            strcmp(before->arm, row->arm) == 0 && strcmp(before->change.reason, row->change.reason) == 0)
            return true;
    }
    return false;
}

static bool is_shown(const struct changed *c, size_t at)
{
    const struct ifm_between_row *row = &c->between->rows[at];
    const enum part part = part_of(c, row);
    if (part == LACKING) /* of shares of ceilings only where they are the answer */
        return !is_told(c, at) && (c->answer == SHARE || !ifm_is_share(row->metric));
    return is_of_answer(c, row) || (part == TIME && c->answer == PARTS);
}

/* Bonferroni: why the level of a change is no usual one. */
static double family_of(const struct ifm_between_row *row)
{
    return 0.05 / (1 - row->change.level);
}

/* Was the word of a change taken? A wide one shows why it has none, unless its interval leaves out no change. */
static bool is_taken(const struct ifm_between_row *row)
{
    const struct ifm_value *change = &row->change;
    const bool wide = row->widened[0] != '\0' && !(change->has_interval && (change->low > 0 || change->high < 0));
    return !wide && !ifm_is_empty(row->speedup.text);
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
    ifm_listing_set_text(listing, "metric", ifm_share_told(row->metric, row->integer));
    ifm_listing_set_text(listing, "result",
                         !ok                    ? ifm_state_label(row->change.state)
                         : row->word[0] != '\0' ? row->word
                                                : "not comparable");
    const char *changed = ok ? ifm_comparison_change(&change, c->arena) : "";
    if (strstr(changed, " at ") != NULL)
        changed = ifm_arena_printf(c->arena, "%s (%.0f ratios)", changed, family_of(row));
    ifm_listing_set_text(listing, "change", changed);
    if (row->beside) {
        ifm_listing_set_text(listing, "was",
                             ifm_is_ok(&row->reference) ? ifm_quantity_number(&row->reference, c->arena) : "");
        ifm_listing_set_text(listing, "is", ifm_is_ok(&row->other) ? ifm_quantity_number(&row->other, c->arena) : "");
    }
    const char *why = !ok ? why_lacking(c, row) : is_taken(row) ? row->speedup.text : "";
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

/* Which ratios a level counts that the table has not. */
static void add_family(struct ifm_listing *listing, const struct changed *c)
{
    double family = 0, speedups = 0;
    for (size_t i = 0; i < c->between->n; i++) {
        const struct ifm_between_row *row = &c->between->rows[i];
        const bool counted = row->change.state == IFM_STATE_OK && row->metric == IFM_M_SPEEDUP;
        speedups += counted;
        family = counted ? fmax(family, round(family_of(row))) : family;
    }
    if (speedups > 0 && family > speedups)
        ifm_listing_remark(listing,
                           ifm_arena_printf(c->arena, "%.0f of the %.0f ratios are others, such as shares of ceilings",
                                            family - speedups, family));
}

/* Times that stand beside ratios, in a line. */
static void add_times(struct ifm_listing *listing, const struct changed *c, bool several)
{
    const char *list = "", *why = "";
    size_t n = 0;
    for (size_t i = 0; i < c->between->n && c->answer < TIME; i++) {
        const struct ifm_between_row *row = &c->between->rows[i];
        if (part_of(c, row) != TIME || row->metric != IFM_M_STEP_NS || !row->beside || ++n > NAMED)
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
    struct changed c = {.runs = runs, .between = between, .arena = listing->arena};
    c.distrusts = distrusts_of(runs, between, c.arena);
    c.answer = answer_of(&c);
    for (size_t i = 1; i < between->n; i++)
        c.cells |= strcmp(between->rows[i].cell, between->rows[0].cell) != 0;
    if (between->n == 0)
        return;
    const char *said = ifm_arena_printf(c.arena, "%s against %s%s: %s", runs->other_label, runs->reference_label,
                                        is_of_speedups(&c) ? ", by speed-up" : "", sentence(&c));
    ifm_escape_terminal(said, true, sentences); /* a folder may be called anything */
    ifm_text_add(sentences, "\n");
    add_rows(listing, &c, several);
    if (is_of_speedups(&c))
        add_family(listing, &c);
    add_times(listing, &c, several);
}
