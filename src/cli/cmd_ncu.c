/* ncu: counters of any program, by Nsight Compute's command, and of reports that it has written. */
#include "cli/cli.h"
#include "cli/ncu_numbers.h"
#include "cli/ncu_run.h"
#include "document/quantity.h"
#include "publish/listing.h"

#include "base/file.h"
#include "base/text.h"
#include <string.h>

#define EXAMPLE "such as inferometer ncu -- ./program, or inferometer ncu --import report.ncu-rep"

static const struct ifm_listing_column columns[] = {
    {"kernel", "kernel", true},
    {"launches", "launches", false},
    {"time_ns", "kernel time", false},
    {"dram_bytes_read", "memory read", false},
    {"dram_bytes_written", "memory written", false},
    {"dram_throughput_pct", "memory busy", false},
    {"l2_hit_pct", "L2 hits", false},
    {"l2_fabric_pct", "far side", false},
    {"l2_sector_hit_pct", "sector hits", false},
    {"l2_write_sectors", "L2 writes", false},
    {"warps_launched", "warps", false},
    {"tensor_flops", "matrix FLOP", false},
    {"tensor_int8_ops", "matrix int8", false},
    {"", "notes", true},
};

/* ---- the table ---- */

static void show_field(struct ifm_listing *listing, const struct ifm_ncu_counted *c, const struct ifm_ncu_group *group,
                       const struct ifm_ncu_field *field, struct ifm_text *notes)
{
    double sd, total;
    const struct ifm_value value = ifm_ncu_value_in(c, group, field, &sd, &total);
    if (value.state == IFM_STATE_OK) {
        ifm_listing_set_value(listing, field->field, &value,
                              ifm_quantity_bare(value.number, field->unit, listing->arena));
        return;
    }
    ifm_listing_show(listing, field->heading, ifm_state_label(value.state));
    ifm_text_printf(
        notes, "[%zu]",
        ifm_listing_note(listing, ifm_arena_printf(listing->arena, "%s: %s", field->heading, value.reason)));
}

/* A column that the report was not asked for is left out of the table; the JSON says why. */
static bool is_asked(const struct ifm_ncu_counted *c, const struct ifm_ncu_field *field)
{
    double sd, total;
    const struct ifm_value value = ifm_ncu_value_in(c, &c->groups[0], field, &sd, &total);
    return value.state == IFM_STATE_OK || strstr(value.reason, "the report lacks it") == NULL;
}

static void add_group(struct ifm_listing *listing, const struct ifm_ncu_counted *c, const struct ifm_ncu_group *group)
{
    struct ifm_text notes = {0};
    ifm_listing_row(listing);
    ifm_listing_set_text(listing, "kernel", ifm_text_plain(group->name, listing->arena));
    ifm_listing_set(listing, "launches", json_integer((json_int_t)group->n),
                    ifm_arena_printf(listing->arena, "%zu", group->n));
    for (size_t f = 0; f < IFM_NCU_FIELDS; f++)
        if (is_asked(c, &ifm_ncu_fields[f]))
            show_field(listing, c, group, &ifm_ncu_fields[f], &notes);
    ifm_listing_show(listing, "notes", ifm_text_keep(&notes, listing->arena));
}

static void print_table(const struct ifm_ncu_counted *c, enum ifm_format format, struct ifm_arena *arena)
{
    struct ifm_text text = {0};
    struct ifm_listing listing = ifm_listing_begin(columns, sizeof columns / sizeof *columns, arena);
    for (size_t g = 1; g < c->n_groups; g++)
        add_group(&listing, c, &c->groups[g]);
    ifm_listing_remark(&listing, "Means of a launch, by ncu. Caches and clocks were left alone.");
    if (c->passes > 1)
        ifm_listing_remark(&listing, ifm_arena_printf(arena,
                                                      "ncu ran each launch up to %.0f times and put memory back "
                                                      "between: caches held what the last time left, and numbers of "
                                                      "different passes need not add up.",
                                                      c->passes));
    ifm_cli_listing(&listing, format, &text);
    ifm_cli_print(&text, stdout);
    ifm_listing_end(&listing);
}

/* ---- metrics ---- */

/* `profile` asks ncu for more than these. */
static bool is_of_profile(const struct ifm_counter_set *set)
{
    const char *own = ifm_counter_columns[set->column[set->n - 1]].id;
    return strncmp(own, "limits_", 7) == 0 || strncmp(own, "waits_", 6) == 0;
}

/* A name that no GPU's sets have is told before the GPU is looked for. */
static enum ifm_status check_set(const struct ifm_given *given, struct ifm_error *error)
{
    const char *chosen = ifm_given_text(given, "set");
    size_t files = 0, n = 0;
    while (ifm_embedded_counters[files].name != NULL)
        files++;
    const char **known = IFM_ARENA_ARRAY(given->arena, const char *, files *IFM_COUNTER_SETS_MOST + 1);
    known[n++] = "all";
    for (size_t i = 0; i < files; i++) {
        struct ifm_counter_sets sets;
        const bool read = ifm_counter_sets_read(ifm_embedded_counters[i].data, NULL, &sets);
        for (size_t s = 0; read && s < sets.n; s++)
            if (!is_of_profile(&sets.items[s]))
                known[n++] = ifm_arena_strdup(given->arena, sets.items[s].name);
    }
    for (size_t i = 0; i < n; i++)
        if (chosen == NULL || strcmp(chosen, known[i]) == 0)
            return IFM_OK;
    const char *nearest = ifm_nearest(chosen, known, n);
    return ifm_fail(error, IFM_USAGE, "--set",
                    nearest != NULL ? ifm_arena_printf(given->arena, "did you mean %s?", nearest) : "all, or memory",
                    "there is no set of counters called \"%.40s\"", chosen);
}

/* The names of the chosen sets, with commas; the time and the cycles stand in several. */
static enum ifm_status metrics_of(const struct ifm_counter_sets *sets, const char *chosen, struct ifm_arena *arena,
                                  const char **out, struct ifm_error *error)
{
    struct ifm_names *names = ifm_names_create(arena);
    struct ifm_text text = {0};
    bool any = false;
    for (size_t s = 0; s < sets->n; s++) {
        if (is_of_profile(&sets->items[s]))
            continue;
        if (chosen == NULL ? s > 0 : strcmp(chosen, "all") != 0 && strcmp(chosen, sets->items[s].name) != 0)
            continue;
        any = true;
        for (size_t m = 0; m < sets->items[s].n; m++) {
            const size_t before = ifm_names_count(names);
            if (ifm_names_add(names, sets->items[s].texts[m]) == before)
                ifm_text_printf(&text, "%s%s", before > 0 ? "," : "", sets->items[s].texts[m]);
        }
    }
    *out = ifm_text_keep(&text, arena);
    if (any)
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, "--set", "all, or memory", "this GPU has no set of counters called \"%.40s\"",
                    chosen);
}

/* The names that are asked for beside the sets are ncu's to know; ours to keep free of anything else. */
static enum ifm_status add_metrics(const struct ifm_given *given, const char **metrics, struct ifm_error *error)
{
    const char *more = ifm_given_text(given, "metrics");
    if (more == NULL)
        return IFM_OK;
    for (const char *at = more; *at != '\0'; at++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,", *at) == NULL)
            return ifm_fail(error, IFM_USAGE, "--metrics", "such as lts__t_sector_hit_rate.pct",
                            "\"%.60s\" is no list of metrics", more);
    *metrics = ifm_arena_printf(given->arena, "%s,%s", *metrics, more);
    return IFM_OK;
}

/* The metrics of this machine's GPU, in front of those that are asked for. */
static enum ifm_status choose(const struct ifm_given *given, struct ifm_ncu_wish *wish, struct ifm_error *error)
{
    struct ifm_counter_sets sets;
    const char *metrics, *capability;
    IFM_TRY(ifm_ncu_wish_of(given, wish, error));
    IFM_TRY(add_metrics(given, &wish->metrics, error));
    IFM_TRY(check_set(given, error));
    IFM_TRY(ifm_ncu_capability(given, &capability, error));
    if (!ifm_counter_sets_of(capability, &sets))
        return ifm_fail(error, IFM_MISSING, "", IFM_NO_COUNTER_SETS_REMEDY,
                        "this build has no list of counters for compute capability %s", capability);
    IFM_TRY(metrics_of(&sets, ifm_given_text(given, "set"), given->arena, &metrics, error));
    wish->metrics = ifm_arena_printf(given->arena, "%s%s", metrics, wish->metrics);
    return IFM_OK;
}

/* ---- the command ---- */

enum ifm_status ifm_cmd_ncu(const struct ifm_given *given, struct ifm_error *error)
{
    const char *out = ifm_given_text(given, "out"), *name;
    struct ifm_ncu_wish wish = {0};
    struct ifm_ncu_report report;
    struct ifm_ncu_counted counted;
    struct ifm_counter_sets sets;
    IFM_TRY(ifm_ncu_check(given, EXAMPLE, error));
    if (given->command != NULL)
        IFM_TRY(choose(given, &wish, error));
    IFM_TRY(ifm_ncu_take(given, &wish, &report, &name, error));
    const bool known = ifm_counter_sets_of(report.launches[0].capability, &sets);
    ifm_ncu_count(&report, known ? &sets : NULL, given->arena, &counted);
    if (out != NULL) {
        struct ifm_text text = {0};
        json_t *json = ifm_ncu_json(&counted, name);
        ifm_json_print(json, true, &text);
        json_decref(json);
        enum ifm_status status = ifm_file_write_named(out, text.data, text.size, error);
        ifm_text_free(&text);
        IFM_TRY(status);
    }
    print_table(&counted, given->format, given->arena);
    return IFM_OK;
}
