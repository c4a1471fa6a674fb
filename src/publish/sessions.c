/* The rows of `rerun --times`. */
#include "publish/sessions.h"

#include "document/quantity.h"
#include <math.h>
#include <string.h>

static const struct ifm_listing_column columns[] = {
    {"cell", "cell", true},
    {"arm", "arm", true},
    {"metric", "number", true},
    {"answer", NULL, true}, /* its heading has epsilon */
    {"original", "original", false},
    {"mean", NULL, false}, /* its heading counts the sessions */
    {"least", "least", false},
    {"most", "most", false},
    {"unit", NULL, true},
    {"spread_percent", "between sessions", false},
    {"within_percent", "widest inside one", false},
    {"n_sessions", NULL, false},
    {"outputs", "outputs", true},
    {"quotable", NULL, true},
    {"reason", NULL, true},
    {"", "notes", true},
};

static const char *const quotable_words[] = {"not answered", "no", "yes"};

const char *ifm_repeatable_words(enum ifm_repeatable answer)
{
    static const char *const words[] = {"not answered", "not repeatable", "repeatable"};
    return words[answer];
}

/* Three digits; around 1 a fourth, as what is left of it is what was asked. */
static const char *shown(const struct ifm_sessions_row *row, double number, struct ifm_arena *arena)
{
    const struct ifm_value value = {
        .number = number, .unit = ifm_metrics[row->metric].unit, .n_of = "", .reason = "", .remedy = "", .text = ""};
    const bool near_one = ifm_sessions_low(row) >= 0.9 && ifm_sessions_high(row) <= 1.1;
    if (row->metric == IFM_M_SPEEDUP || row->metric == IFM_M_SPEEDUP_AT_CEILING)
        return ifm_arena_printf(arena, "%.*fx", near_one ? 3 : number < 9.995 ? 2 : number < 99.95 ? 1 : 0, number);
    return ifm_quantity_number(&value, arena);
}

static void set_quantity(struct ifm_listing *listing, const char *field, double number,
                         const struct ifm_sessions_row *row)
{
    ifm_listing_set(listing, field, json_real(number), shown(row, number, listing->arena));
}

static void set_share(struct ifm_listing *listing, const char *field, double share)
{
    const double shown_share = share < 1e-6 ? 0 : 100 * share; /* what is rounded away */
    if (!isnan(share))
        ifm_listing_set(listing, field, json_real(100 * share),
                        ifm_arena_printf(listing->arena, "±%s %%", ifm_quantity_short(shown_share, listing->arena)));
}

/* Of `n` sessions, which the columns behind it are of too: the original is none. */
static const struct ifm_listing_column *columns_of(size_t n, double epsilon, struct ifm_arena *arena)
{
    const size_t count = sizeof columns / sizeof *columns;
    struct ifm_listing_column *own = IFM_ARENA_ARRAY(arena, struct ifm_listing_column, count);
    memcpy(own, columns, sizeof columns);
    for (size_t i = 0; i < count; i++)
        if (strcmp(own[i].field, "mean") == 0)
            own[i].heading = ifm_arena_printf(arena, "of %zu reruns: mean", n);
        else if (strcmp(own[i].field, "answer") == 0)
            own[i].heading = ifm_arena_printf(arena, "within ±%.3g %%", 100 * epsilon);
    return own;
}

static void add(struct ifm_listing *listing, const struct ifm_sessions_row *row, const char *const *dirs, size_t n)
{
    const struct ifm_metric *metric = &ifm_metrics[row->metric];
    ifm_listing_row(listing);
    ifm_listing_set_text(listing, "cell", row->cell);
    ifm_listing_set_text(listing, "arm", row->arm);
    ifm_listing_set_text(listing, "metric", metric->id);
    ifm_listing_set_text(listing, "answer", ifm_repeatable_words(row->answer));
    ifm_listing_set_text(listing, "outputs", row->outputs);
    ifm_listing_set_text(listing, "quotable", quotable_words[row->quotable]);
    ifm_listing_set_text(listing, "reason", row->reason);
    ifm_listing_set_text(listing, "unit", metric->unit);
    if (!isnan(row->original))
        set_quantity(listing, "original", row->original, row);
    ifm_listing_set(listing, "n_sessions", json_integer((json_int_t)row->with), NULL);
    if (row->lacks < n)
        ifm_listing_show_note(listing, ifm_arena_printf(listing->arena, "%zu of %zu reruns have it; %s has not: %s",
                                                        row->with, n, dirs[row->lacks], row->reason));
    if (isnan(row->mean))
        return;
    set_quantity(listing, "mean", row->mean, row);
    set_quantity(listing, "least", row->least, row);
    set_quantity(listing, "most", row->most, row);
    set_share(listing, "spread_percent", row->spread);
    set_share(listing, "within_percent", row->within);
}

/* ---- may it be quoted, and as what ---- */

enum { NAMED = 3 }; /* rows that the sentence names; others are counted */

struct quote {
    const struct ifm_sessions *sessions;
    size_t n; /* reruns, of which the original is none */
    double epsilon;
    struct ifm_arena *arena;
};

static bool is_ratio(const struct ifm_sessions *sessions)
{
    return sessions->n > 0 && sessions->rows[0].metric == IFM_M_SPEEDUP; /* they stand first */
}

static bool is_asked(const struct quote *a, const struct ifm_sessions_row *row)
{
    return is_ratio(a->sessions) ? row->metric == IFM_M_SPEEDUP
                                 : row->metric == IFM_M_STEP_NS || row->metric == IFM_M_ENERGY_PER_STEP_J;
}

static bool is_one_cell(const struct quote *a)
{
    return strcmp(a->sessions->rows[0].cell, a->sessions->rows[a->sessions->n - 1].cell) == 0;
}

static const char *name_of(const struct quote *a, const struct ifm_sessions_row *row)
{
    return is_one_cell(a) ? row->arm : ifm_arena_printf(a->arena, "%s of %s", row->arm, row->cell);
}

/* "1.98x to 2.03x over 4 runs": of all runs, as none of them is more right than another. */
static const char *range_of(const struct quote *a, const struct ifm_sessions_row *row)
{
    return ifm_arena_printf(a->arena, "%s to %s over %zu runs", shown(row, ifm_sessions_low(row), a->arena),
                            shown(row, ifm_sessions_high(row), a->arena), row->with + !isnan(row->original));
}

static const char *quoted(const struct quote *a, const struct ifm_sessions_row *row)
{
    const bool equal = row->metric == IFM_M_SPEEDUP && strcmp(row->word, "equivalent") == 0;
    const char *open = row->undecided == 0 ? "" : ifm_arena_printf(a->arena, ", %zu undecided", row->undecided);
    return ifm_arena_printf(a->arena, "%s%s %s (%s%s%s)", name_of(a, row), is_one_cell(a) ? "" : ":",
                            shown(row, row->mean, a->arena), equal ? "equivalent, " : "", range_of(a, row), open);
}

static const char *denied(const struct quote *a, const struct ifm_sessions_row *row)
{
    const char *name = name_of(a, row), *why;
    if (isnan(row->mean))
        return ifm_arena_printf(a->arena, "%s (%zu of %zu reruns have it)", name, row->with, a->n);
    if (row->quotable == IFM_REPEATABLE_NO)
        why = ifm_arena_printf(a->arena, "further than %.3g %% from the mean of the reruns", 100 * a->epsilon);
    else if (row->with < a->n)
        why = ifm_arena_printf(a->arena, "%zu of %zu reruns have it", row->with, a->n);
    else if (row->undecided + 1 >= row->with || 2 * row->undecided >= row->with)
        why = ifm_arena_printf(a->arena, "undecided in %zu of %zu reruns", row->undecided, a->n);
    else
        why = "not the same way in all";
    return ifm_arena_printf(a->arena, "%s (%s, %s)", name, range_of(a, row), why);
}

/* The rows of that answer: "a, b and 3 more"; "" = there is none. */
static const char *list(const struct quote *a, bool yes)
{
    const char *text = "";
    size_t count = 0;
    for (size_t i = 0; i < a->sessions->n; i++) {
        const struct ifm_sessions_row *row = &a->sessions->rows[i];
        if (!is_asked(a, row) || (row->quotable == IFM_REPEATABLE_YES) != yes)
            continue;
        if (count++ < NAMED)
            text = ifm_arena_printf(a->arena, "%s%s%s", text, count > 1 ? ", " : "",
                                    yes ? quoted(a, row) : denied(a, row));
    }
    return count <= NAMED ? text : ifm_arena_printf(a->arena, "%s and %zu more", text, count - NAMED);
}

/* What the ratios say nothing of. */
static const char *others_of(const struct quote *a)
{
    if (!is_ratio(a->sessions) || a->sessions->others == IFM_REPEATABLE_YES)
        return "";
    return a->sessions->others == IFM_REPEATABLE_NO ? "; not their times: not all of these repeat"
                                                    : "; not their times: a rerun lacks one";
}

const char *ifm_sessions_answer(const struct ifm_sessions *sessions, size_t n, double epsilon, const char *caveat,
                                struct ifm_arena *arena)
{
    const struct quote a = {sessions, n, epsilon, arena};
    for (size_t i = 0; i < sessions->n; i++)
        if (strcmp(sessions->rows[i].outputs, "differ") == 0)
            return ifm_arena_printf(arena, "quote nothing: the outputs of %s differ between runs of one seed",
                                    name_of(&a, &sessions->rows[i]));
    const char *yes = list(&a, true), *no = list(&a, false), *what = is_ratio(sessions) ? "speed-up" : "time";
    if (yes[0] == '\0')
        return ifm_arena_printf(arena, "quote no %s: %s%s", what, no, others_of(&a));
    return ifm_arena_printf(arena, "quote %s%s%s%s%s", yes, no[0] == '\0' ? "" : "; not ", no, others_of(&a), caveat);
}

struct ifm_listing ifm_sessions_listing(const struct ifm_sessions *sessions, const struct ifm_run_view *views,
                                        const char *const *dirs, size_t n, const struct ifm_run_view *original,
                                        double epsilon, struct ifm_arena *arena)
{
    const size_t count = sizeof columns / sizeof *columns;
    struct ifm_listing listing = ifm_listing_begin(columns_of(n, epsilon, arena), count, arena);
    json_t *runs = json_array();
    for (size_t i = 0; i < sessions->n; i++)
        add(&listing, &sessions->rows[i], dirs, n);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(runs, json_string(views[i].plan->run_id));
    listing.members = json_pack("{s:s, s:s, s:s, s:f, s:o, s:s?}", "quotable", quotable_words[sessions->quotable],
                                "repeatable", ifm_repeatable_words(sessions->answer), "speedups",
                                ifm_repeatable_words(sessions->ratios), "epsilon_percent", 100 * epsilon, "sessions",
                                runs, "original", original == NULL ? NULL : original->plan->run_id);
    return listing;
}
