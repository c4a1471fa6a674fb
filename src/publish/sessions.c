/* The rows of `rerun --times`. */
#include "publish/sessions.h"

#include "document/quantity.h"
#include <math.h>
#include <string.h>

static const struct ifm_listing_column columns[] = {
    {"cell", "cell", true},
    {"arm", "arm", true},
    {"metric", "of", true},
    {"answer", "result", true},
    {"original", "original", false},
    {"mean", NULL, false}, /* its heading counts the sessions */
    {"least", "least", false},
    {"most", "most", false},
    {"unit", NULL, true},
    {"spread_percent", "between sessions", false},
    {"within_percent", "inside one", false},
    {"n_sessions", NULL, false},
    {"outputs", "outputs", true},
    {"reason", NULL, true},
    {"", "notes", true},
};

const char *ifm_repeatable_words(enum ifm_repeatable answer)
{
    static const char *const words[] = {"not answered", "not repeatable", "repeatable"};
    return words[answer];
}

static const char *shown(double number, enum ifm_metric_id metric, struct ifm_arena *arena)
{
    const struct ifm_value value = {
        .number = number, .unit = ifm_metrics[metric].unit, .n_of = "", .reason = "", .remedy = "", .text = ""};
    if (metric == IFM_M_SPEEDUP || metric == IFM_M_SPEEDUP_AT_CEILING) /* three digits */
        return ifm_arena_printf(arena, "%.*fx", number < 9.995 ? 2 : number < 99.95 ? 1 : 0, number);
    return ifm_quantity_number(&value, arena);
}

static void set_quantity(struct ifm_listing *listing, const char *field, double number, enum ifm_metric_id metric)
{
    ifm_listing_set(listing, field, json_real(number), shown(number, metric, listing->arena));
}

static void set_share(struct ifm_listing *listing, const char *field, double share)
{
    const double shown_share = share < 1e-6 ? 0 : 100 * share; /* what is rounded away */
    if (!isnan(share))
        ifm_listing_set(listing, field, json_real(100 * share),
                        ifm_arena_printf(listing->arena, "±%s %%", ifm_quantity_short(shown_share, listing->arena)));
}

/* Of `n` sessions, which the columns behind it are of too: the original is none. */
static const struct ifm_listing_column *columns_of(size_t n, struct ifm_arena *arena)
{
    const size_t count = sizeof columns / sizeof *columns;
    struct ifm_listing_column *own = IFM_ARENA_ARRAY(arena, struct ifm_listing_column, count);
    memcpy(own, columns, sizeof columns);
    for (size_t i = 0; i < count; i++)
        if (strcmp(own[i].field, "mean") == 0)
            own[i].heading = ifm_arena_printf(arena, "of %zu reruns: mean", n);
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
    ifm_listing_set_text(listing, "reason", row->reason);
    ifm_listing_set_text(listing, "unit", metric->unit);
    if (!isnan(row->original))
        set_quantity(listing, "original", row->original, row->metric);
    ifm_listing_set(listing, "n_sessions", json_integer((json_int_t)row->with), NULL);
    if (row->lacks < n)
        ifm_listing_show_note(listing, ifm_arena_printf(listing->arena, "%zu of %zu reruns have it; %s has not: %s",
                                                        row->with, n, dirs[row->lacks], row->reason));
    if (isnan(row->mean))
        return;
    set_quantity(listing, "mean", row->mean, row->metric);
    set_quantity(listing, "least", row->least, row->metric);
    set_quantity(listing, "most", row->most, row->metric);
    set_share(listing, "spread_percent", row->spread);
    set_share(listing, "within_percent", row->within);
}

/* The speed-up that lies furthest off, as "int2 4.20x to 4.26x, the original 3.59x". */
static const char *furthest_ratio(const struct ifm_sessions *sessions, struct ifm_arena *arena)
{
    const struct ifm_sessions_row *worst = NULL;
    for (size_t i = 0; i < sessions->n; i++) {
        const struct ifm_sessions_row *row = &sessions->rows[i];
        if (row->metric == IFM_M_SPEEDUP && row->answer == IFM_REPEATABLE_NO &&
            (worst == NULL || row->spread > worst->spread))
            worst = row;
    }
    if (worst == NULL)
        return "";
    const char *text = ifm_arena_printf(arena, ": %s %s to %s", worst->arm, shown(worst->least, IFM_M_SPEEDUP, arena),
                                        shown(worst->most, IFM_M_SPEEDUP, arena));
    return isnan(worst->original)
               ? text
               : ifm_arena_printf(arena, "%s, the original %s", text, shown(worst->original, IFM_M_SPEEDUP, arena));
}

const char *ifm_sessions_words(const struct ifm_sessions *sessions, double epsilon, struct ifm_arena *arena)
{
    bool ratios = false, energy = false, differ = false, ranges = true;
    size_t with = sessions->n_runs;
    for (size_t i = 0; i < sessions->n; i++) {
        const struct ifm_sessions_row *row = &sessions->rows[i];
        energy |= row->metric == IFM_M_ENERGY_PER_STEP_J;
        differ |= strcmp(row->outputs, "differ") == 0;
        if (row->metric != IFM_M_SPEEDUP)
            continue;
        const size_t own = row->with + !isnan(row->original);
        ratios = true;
        ranges &= !isnan(row->mean);
        with = own < with ? own : with;
    }
    const bool some = ratios && ranges && with < sessions->n_runs, open = sessions->ratios == IFM_REPEATABLE_UNKNOWN;
    const char *of = some && !open ? ifm_arena_printf(arena, "%zu of ", with) : "";
    const char *within =
        ifm_arena_printf(arena, "within ±%.3g %% over %s%zu runs", 100 * epsilon, of, sessions->n_runs);
    if (some && open)
        within = ifm_arena_printf(arena, "%s, within it over %zu", within, with);
    const char *others = energy ? "times and energy" : "times", *first = differ ? "outputs differ; " : "";
    if (!ratios)
        return ifm_arena_printf(arena, "%s%s %s %s", first, others, ifm_repeatable_words(sessions->others), within);
    const char *answer = ifm_repeatable_words(sessions->ratios), *worst = furthest_ratio(sessions, arena);
    if (sessions->ratios == sessions->others && !some)
        return ifm_arena_printf(arena, "%sspeed-ups and %s %s %s%s", first, others, answer, within, worst);
    return ifm_arena_printf(arena, "%sspeed-ups %s %s%s; %s %s", first, answer, within, worst, others,
                            ifm_repeatable_words(sessions->others));
}

struct ifm_listing ifm_sessions_listing(const struct ifm_sessions *sessions, const struct ifm_run_view *views,
                                        const char *const *dirs, size_t n, const struct ifm_run_view *original,
                                        double epsilon, struct ifm_arena *arena)
{
    struct ifm_listing listing = ifm_listing_begin(columns_of(n, arena), sizeof columns / sizeof *columns, arena);
    json_t *runs = json_array();
    for (size_t i = 0; i < sessions->n; i++)
        add(&listing, &sessions->rows[i], dirs, n);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(runs, json_string(views[i].plan->run_id));
    listing.members = json_pack("{s:s, s:s, s:f, s:o, s:s?}", "repeatable", ifm_repeatable_words(sessions->answer),
                                "speedups", ifm_repeatable_words(sessions->ratios), "epsilon_percent", 100 * epsilon,
                                "sessions", runs, "original", original == NULL ? NULL : original->plan->run_id);
    return listing;
}
