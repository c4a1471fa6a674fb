/* The rows of `rerun --times`. */
#include "publish/sessions.h"

#include "document/build.h"
#include "document/quantity.h"
#include <math.h>
#include <string.h>

/* Answer first; ids and all digits are for machines. The texts of columns without a field are made in `show`. */
static const struct ifm_listing_column columns[] = {
    {"cell", "cell", true},
    {"arm", "arm", true},
    {"metric", NULL, true},
    {"", "number", true},
    {"", "quote", true},
    {"", "range of all runs", true},
    {"answer", NULL, true},
    {"original", NULL, false},
    {"mean", "rerun mean", false},
    {"least", NULL, false},
    {"most", NULL, false},
    {"unit", NULL, true},
    {"spread_percent", "farthest run", false},
    {"within_percent", "widest run", false},
    {"n_sessions", NULL, false},
    {"outputs", NULL, true},
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

/* ---- may it be quoted, and as what ---- */

enum { NAMED = 3 }; /* rows that the sentence names; others are counted */

struct quote {
    const struct ifm_sessions *sessions;
    size_t n; /* reruns, of which the original is none */
    double epsilon;
    struct ifm_arena *arena;
};

/* Nobody quotes what a script gave, however well it repeats. */
static enum ifm_repeatable quotable_of(const struct quote *a, const struct ifm_sessions_row *row)
{
    return a->sessions->scripted ? IFM_REPEATABLE_UNKNOWN : row->quotable;
}

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

/* "1.98x to 2.03x", "98.1 to 103 µs": of all runs, as none of them is more right than another. */
static const char *ends_of(const struct quote *a, const struct ifm_sessions_row *row)
{
    const char *low = shown(row, ifm_sessions_low(row), a->arena), *high = shown(row, ifm_sessions_high(row), a->arena),
               *unit = strchr(low, ' '), *same = strchr(high, ' ');
    const size_t length = unit != NULL && same != NULL && strcmp(unit, same) == 0 ? (size_t)(unit - low) : strlen(low);
    return ifm_arena_printf(a->arena, "%.*s to %s", (int)length, low, high);
}

static const char *range_of(const struct quote *a, const struct ifm_sessions_row *row)
{
    return ifm_arena_printf(a->arena, "%s over %zu runs", ends_of(a, row), ifm_sessions_runs(row));
}

/* "; 2 modes in 3 of 4 runs: 62 % at 10.0 ms, 38 % at 19.9 ms": such a mean is no time that the arm takes. */
static const char *modes_of(const struct quote *a, const struct ifm_sessions_row *row, const char *lead)
{
    return row->modes == NULL
               ? ""
               : ifm_arena_printf(a->arena, "%s%.0f modes in %zu of %zu runs: %s", lead, row->modes->number, row->modal,
                                  ifm_sessions_runs(row), row->modes->text);
}

/* A range is of the time that its runs cover. Up to an hour, that is one state of the machine. */
static const char *span_of(const struct quote *a)
{
    enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR };
    const double s = a->sessions->span_s;
    if (!(s > 0) || a->sessions->scripted)
        return "";
    const double unit = s <= 90 ? 1 : s <= 2 * HOUR ? MINUTE : s <= 2 * DAY ? HOUR : DAY;
    const char *name = s <= 90 ? "s" : s <= 2 * HOUR ? "min" : s <= 2 * DAY ? "h" : "days";
    return ifm_arena_printf(a->arena, "; all runs within %.0f %s%s", ceil(s / unit), name,
                            s < HOUR ? ": another hour may differ by more" : "");
}

/* It repeats with the run, whose length it is of. */
static const char *drift_of(const struct quote *a, const struct ifm_sessions_row *row, const char *lead)
{
    return row->drifting == 0
               ? ""
               : ifm_arena_printf(a->arena, "%s%s drifts inside %zu of %zu runs%s", lead,
                                  row->metric == IFM_M_SPEEDUP ? "the speed-up" : "the time", row->drifting,
                                  ifm_sessions_runs(row),
                                  quotable_of(a, row) == IFM_REPEATABLE_YES ? ", so say how long a run was" : "");
}

static const char *quoted(const struct quote *a, const struct ifm_sessions_row *row)
{
    const bool equal = row->metric == IFM_M_SPEEDUP && strcmp(row->word, "equivalent") == 0;
    const char *open = row->open == 0 ? "" : ifm_arena_printf(a->arena, ", %zu undecided", row->open);
    return ifm_arena_printf(a->arena, "%s%s %s%s (%s%s%s%s%s)", name_of(a, row), is_one_cell(a) ? "" : ":",
                            shown(row, row->mean, a->arena), row->drifting > 0 ? " with care" : "",
                            equal ? "equivalent, " : "", range_of(a, row), open, drift_of(a, row, "; "),
                            modes_of(a, row, "; "));
}

/* Too few decide it, of the reruns or of all runs; "" = they do not decide it alike. */
static const char *open_of(const struct quote *a, const struct ifm_sessions_row *row)
{
    const size_t runs = ifm_sessions_runs(row);
    if (row->undecided + 1 >= row->with || 2 * row->undecided >= row->with)
        return ifm_arena_printf(a->arena, "undecided in %zu of %zu reruns", row->undecided, a->n);
    return 2 * row->open >= runs ? ifm_arena_printf(a->arena, "undecided in %zu of %zu runs", row->open, runs) : "";
}

/* That is an answer where the size is none. */
static const char *each_time(const struct quote *a, const struct ifm_sessions_row *row)
{
    return ifm_is_empty(row->word) || row->open > 0 ? "" : ifm_arena_printf(a->arena, "%s each time, but ", row->word);
}

static const char *denied(const struct quote *a, const struct ifm_sessions_row *row)
{
    const char *name = name_of(a, row), *why;
    if (isnan(row->mean))
        return ifm_arena_printf(a->arena, "%s (%zu of %zu reruns have it)", name, row->with, a->n);
    if (row->contradicts)
        why = "faster in one and slower in another";
    else if (row->answer == IFM_REPEATABLE_NO)
        why = ifm_arena_printf(a->arena, "%sfurther than %.3g %% from the mean of the reruns", each_time(a, row),
                               100 * a->epsilon);
    else if (row->with < a->n)
        why = ifm_arena_printf(a->arena, "%zu of %zu reruns have it", row->with, a->n);
    else
        why = open_of(a, row);
    why = why[0] == '\0' ? "not the same way in all" : why;
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

/* "; nor the times of a, b" of what the ratios say nothing of; "" = each of these repeats, or there is none. */
static const char *others_in(const struct quote *a, enum ifm_metric_id metric, const char *lead, const char *one,
                             const char *more)
{
    const char *text = "";
    size_t count = 0;
    for (size_t i = 0; is_ratio(a->sessions) && i < a->sessions->n; i++) {
        const struct ifm_sessions_row *row = &a->sessions->rows[i];
        if (row->metric == metric && row->answer != IFM_REPEATABLE_YES && ++count <= NAMED)
            text = ifm_arena_printf(a->arena, "%s%s%s", text, count > 1 ? ", " : "", name_of(a, row));
    }
    if (count > NAMED)
        text = ifm_arena_printf(a->arena, "%s and %zu more", text, count - NAMED);
    return count == 0 ? "" : ifm_arena_printf(a->arena, "; %s the %s of %s", lead, count > 1 ? more : one, text);
}

static const char *others_of(const struct quote *a, const char *lead)
{
    return ifm_arena_printf(a->arena, "%s%s", others_in(a, IFM_M_STEP_NS, lead, "time", "times"),
                            others_in(a, IFM_M_ENERGY_PER_STEP_J, lead, "energy", "energies"));
}

static const char *answer_of(const struct quote *a, const char *caveat)
{
    const struct ifm_sessions *sessions = a->sessions;
    for (size_t i = 0; i < sessions->n; i++)
        if (strcmp(sessions->rows[i].outputs, "differ") == 0)
            return ifm_arena_printf(a->arena, "quote nothing: the outputs of %s differ between runs of one seed",
                                    name_of(a, &sessions->rows[i]));
    const char *yes = list(a, true), *no = list(a, false), *what = is_ratio(sessions) ? "speed-up" : "time";
    if (yes[0] == '\0')
        return ifm_arena_printf(a->arena, "quote no %s: %s%s%s", what, no, others_of(a, "nor"), span_of(a));
    return ifm_arena_printf(a->arena, "quote %s%s%s%s%s%s", yes, no[0] == '\0' ? "" : "; not ", no, others_of(a, "not"),
                            caveat, span_of(a));
}

const char *ifm_sessions_answer(const struct ifm_sessions *sessions, size_t n, double epsilon, const char *caveat,
                                struct ifm_arena *arena)
{
    const struct quote a = {sessions, n, epsilon, arena};
    const char *answer = answer_of(&a, caveat);
    return !sessions->scripted
               ? answer
               : ifm_arena_printf(arena, "quote nothing: the times are scripted; of measured ones it would be: %s",
                                  answer);
}

/* Of the first speed-up that may be quoted and moves with memory; else of one whose baseline may be weak. */
static const char *ceiling_caveat(const struct quote *a, const char *const *dirs)
{
    const struct ifm_sessions_row *unclear = NULL;
    for (size_t i = 0; i < a->sessions->n; i++) {
        const struct ifm_sessions_row *row = &a->sessions->rows[i];
        if (row->quotable != IFM_REPEATABLE_YES)
            continue;
        if (row->memory != NULL)
            return ifm_arena_printf(
                a->arena, "; with care, as the memory changed its speed (%s%s), and the ratios are of that speed",
                ends_of(a, row->memory), is_one_cell(a) ? "" : ifm_arena_printf(a->arena, " in %s", row->cell));
        unclear = unclear == NULL && row->unclear > 0 ? row : unclear;
    }
    return unclear == NULL
               ? ""
               : ifm_arena_printf(
                     a->arena,
                     "; with care, as %zu of %zu runs cannot tell how weak the baseline is (inferometer report %s "
                     "--verbose)",
                     unclear->unclear, ifm_sessions_runs(unclear), dirs[unclear->first_unclear]);
}

const char *ifm_sessions_caveat(const struct ifm_sessions *sessions, const enum ifm_trust_word *words,
                                const char *const *dirs, size_t n, struct ifm_arena *arena)
{
    const struct quote a = {.sessions = sessions, .n = n, .arena = arena};
    enum ifm_trust_word worst = IFM_TRUST_NOISY;
    size_t first = 0, alike = 0;
    for (size_t i = 0; i < n; i++) {
        first = words[i] > worst ? i : first;
        alike = words[i] > worst ? 1 : alike + (words[i] == worst && alike > 0);
        worst = words[i] > worst ? words[i] : worst;
    }
    const char *of_ceiling = worst == IFM_TRUST_DO_NOT_USE ? "" : ceiling_caveat(&a, dirs);
    if (of_ceiling[0] != '\0')
        return of_ceiling;
    return alike == 0 ? ""
                      : ifm_arena_printf(arena, "; with care, as %zu of %zu runs %s: %s (inferometer summary %s)",
                                         alike, n, alike == 1 ? "says" : "say", ifm_trust_label(worst), dirs[first]);
}

/* ---- rows ---- */

static const char *heading_in(const struct ifm_metric_columns *table, enum ifm_metric_id metric)
{
    for (size_t i = 0; i < table->n; i++)
        if (table->items[i].metric == metric)
            return table->items[i].heading;
    return ifm_metric_told(metric).name;
}

/* As the table of the run has it. */
static const char *number_of(const struct ifm_cell *cell, enum ifm_metric_id metric)
{
    if (metric == IFM_M_SPEEDUP_AT_CEILING)
        return "left at its ceiling";
    if (metric == IFM_M_CEILING_READ) /* of each run the most that was seen, where other rows are means */
        return "fastest read";
    if (metric == IFM_M_ENERGY_PER_STEP_J)
        return ifm_cell_counts_programs(cell) ? "energy/run" : heading_in(&ifm_columns_energy_step, metric);
    const char *heading = heading_in(&ifm_columns_arms, metric);
    return metric == IFM_M_STEP_NS ? ifm_cell_time_heading(cell, heading) : heading;
}

/* "no: undecided"; the last line has the whole of it. */
static const char *quote_word(const struct quote *a, const struct ifm_sessions_row *row)
{
    if (a->sessions->scripted)
        return "no: scripted";
    if (strcmp(row->outputs, "differ") == 0)
        return "no: outputs differ";
    if (row->quotable == IFM_REPEATABLE_YES)
        return row->drifting > 0 || row->memory != NULL || row->unclear > 0 ? "with care" : "yes";
    if (row->contradicts)
        return "no: not decided alike";
    if (row->answer == IFM_REPEATABLE_NO)
        return ifm_arena_printf(a->arena, "no: beyond ±%.3g %%", 100 * a->epsilon);
    if (row->with < a->n)
        return ifm_arena_printf(a->arena, "no: %zu of %zu have it", row->with, a->n);
    return open_of(a, row)[0] != '\0' ? "no: undecided" : "no: not decided alike";
}

/* Two digits; nothing that is rounded away. */
static void set_share(struct ifm_listing *listing, const char *field, double share)
{
    const double percent = share < 1e-6 ? 0 : 100 * share;
    if (!isnan(share))
        ifm_listing_set(listing, field, json_real(100 * share),
                        percent < 9.95 ? ifm_arena_printf(listing->arena, "±%.2g %%", percent)
                                       : ifm_arena_printf(listing->arena, "±%.0f %%", percent));
}

/* What a number without a range says to people is why; of a limit nothing. */
static void hide(const struct quote *a, const struct ifm_sessions_row *row, const char *number, const char *dir,
                 struct ifm_listing *listing)
{
    ifm_listing_hide(listing);
    if (row->metric != IFM_M_CEILING_READ && row->metric != IFM_M_SPEEDUP_AT_CEILING)
        ifm_listing_remark(listing, ifm_arena_printf(a->arena, "%s: %zu of %zu reruns have it; %s has not: %s", number,
                                                     row->with, a->n, dir, row->reason));
}

static void show(const struct quote *a, const struct ifm_sessions_row *row, const char *number, const char *lacking,
                 struct ifm_listing *listing)
{
    const char *drifts = drift_of(a, row, ""), *modes = modes_of(a, row, drifts[0] == '\0' ? "" : "; ");
    ifm_listing_show(listing, "number", number);
    ifm_listing_show(listing, "quote", quote_word(a, row));
    ifm_listing_show(listing, "range of all runs", ends_of(a, row));
    ifm_listing_set(listing, "mean", json_real(row->mean), shown(row, row->mean, a->arena));
    ifm_listing_set(listing, "least", json_real(row->least), NULL);
    ifm_listing_set(listing, "most", json_real(row->most), NULL);
    set_share(listing, "spread_percent", row->spread);
    set_share(listing, "within_percent", row->within);
    if (lacking != NULL)
        ifm_listing_show_note(listing, ifm_arena_printf(a->arena, "%s has not: %s", lacking, row->reason));
    else if (drifts[0] != '\0' || modes[0] != '\0')
        ifm_listing_show_note(listing, ifm_arena_printf(a->arena, "%s%s", drifts, modes));
}

static void add(const struct quote *a, const struct ifm_plan *plan, const struct ifm_sessions_row *row,
                const char *const *dirs, struct ifm_listing *listing)
{
    const struct ifm_cell *cell = ifm_plan_cell(plan, row->cell);
    const char *lacking = row->lacks < a->n ? dirs[row->lacks] : NULL, *number = number_of(cell, row->metric);
    ifm_listing_row(listing);
    ifm_listing_set(listing, "cell", json_string(row->cell), plan->n_cells > 1 ? ifm_cell_label(cell) : NULL);
    ifm_listing_set_text(listing, "arm", row->arm);
    ifm_listing_set_text(listing, "metric", ifm_metrics[row->metric].id);
    ifm_listing_set_text(listing, "answer", ifm_repeatable_words(row->answer));
    ifm_listing_set_text(listing, "outputs", row->outputs);
    ifm_listing_set_text(listing, "quotable", quotable_words[quotable_of(a, row)]);
    ifm_listing_set_text(listing, "reason", row->reason);
    ifm_listing_set_text(listing, "unit", ifm_metrics[row->metric].unit);
    if (!isnan(row->original))
        ifm_listing_set(listing, "original", json_real(row->original), NULL);
    ifm_listing_set(listing, "n_sessions", json_integer((json_int_t)row->with), NULL);
    if (isnan(row->mean))
        hide(a, row, number, lacking, listing);
    else
        show(a, row, number, lacking, listing);
}

struct ifm_listing ifm_sessions_listing(const struct ifm_sessions *sessions, const struct ifm_run_view *views,
                                        const char *const *dirs, size_t n, const struct ifm_run_view *original,
                                        double epsilon, struct ifm_arena *arena)
{
    const struct quote a = {sessions, n, epsilon, arena};
    struct ifm_listing listing = ifm_listing_begin(columns, sizeof columns / sizeof *columns, arena);
    json_t *runs = json_array();
    for (size_t i = 0; i < sessions->n; i++)
        add(&a, views[0].plan, &sessions->rows[i], dirs, &listing);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(runs, json_string(views[i].plan->run_id));
    listing.members = json_pack("{s:s, s:s, s:s, s:f, s:o, s:s?, s:o}", "quotable", quotable_words[sessions->quotable],
                                "repeatable", ifm_repeatable_words(sessions->answer), "speedups",
                                ifm_repeatable_words(sessions->ratios), "epsilon_percent", 100 * epsilon, "sessions",
                                runs, "original", original == NULL ? NULL : original->plan->run_id, "span_s",
                                isnan(sessions->span_s) ? json_null() : json_real(sessions->span_s));
    return listing;
}
