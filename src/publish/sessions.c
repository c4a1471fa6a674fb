/* The rows of `rerun --times`. */
#include "publish/sessions.h"

#include "document/quantity.h"
#include <math.h>

static const struct ifm_listing_column columns[] = {
    {"cell", "cell", true},
    {"arm", "arm", true},
    {"metric", "of", true},
    {"answer", "result", true},
    {"mean", "mean", false},
    {"least", "least", false},
    {"most", "most", false},
    {"unit", NULL, true},
    {"spread_percent", "between sessions", false},
    {"within_percent", "inside one", false},
    {"outputs", "outputs", true},
    {"reason", NULL, true},
    {"", "notes", true},
};

const char *ifm_repeatable_words(enum ifm_repeatable answer)
{
    static const char *const words[] = {"not answered", "not repeatable", "repeatable"};
    return words[answer];
}

static void set_quantity(struct ifm_listing *listing, const char *field, double number, const char *unit)
{
    const struct ifm_value value = {.number = number, .unit = unit, .n_of = "", .reason = "", .remedy = "", .text = ""};
    ifm_listing_set_value(listing, field, &value, ifm_quantity_number(&value, listing->arena));
}

static void set_share(struct ifm_listing *listing, const char *field, double share)
{
    if (!isnan(share))
        ifm_listing_set(listing, field, json_real(100 * share),
                        ifm_arena_printf(listing->arena, "±%s %%", ifm_quantity_short(100 * share, listing->arena)));
}

static void add(struct ifm_listing *listing, const struct ifm_sessions_row *row)
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
    if (row->answer == IFM_REPEATABLE_UNKNOWN) {
        ifm_listing_show_note(listing, row->reason);
        return;
    }
    set_quantity(listing, "mean", row->mean, metric->unit);
    set_quantity(listing, "least", row->least, metric->unit);
    set_quantity(listing, "most", row->most, metric->unit);
    set_share(listing, "spread_percent", row->spread);
    set_share(listing, "within_percent", row->within);
}

struct ifm_listing ifm_sessions_listing(const struct ifm_sessions *sessions, const struct ifm_run_view *views, size_t n,
                                        double epsilon, struct ifm_arena *arena)
{
    struct ifm_listing listing = ifm_listing_begin(columns, sizeof columns / sizeof *columns, arena);
    json_t *runs = json_array();
    for (size_t i = 0; i < sessions->n; i++)
        add(&listing, &sessions->rows[i]);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(runs, json_string(views[i].plan->run_id));
    listing.members = json_pack("{s:s, s:f, s:o}", "repeatable", ifm_repeatable_words(sessions->answer),
                                "epsilon_percent", 100 * epsilon, "sessions", runs);
    return listing;
}
