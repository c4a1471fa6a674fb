/* power: the sources of power and energy of this machine, each sensor watched for a moment, and doctor's rows about
 * them. Reads only. */
#include "cli/cli.h"
#include "power/power.h"
#include "publish/listing.h"

#include "base/text.h"
#include <stdio.h>
#include <string.h>

#define DEFAULT_SECONDS 1.0
#define MOST_SECONDS 600.0

static const struct ifm_listing_column columns[] = {
    {"device", "device", true},
    {"source", "source", true},
    {"state", "state", true},
    {"kind", "kind", true},
    {"power_w", "power W", false},
    {"refresh_ms", "refresh ms", false},
    {"jitter_ms", "jitter", false},
    {"call_us", "call µs", false},
    {"quantum", "smallest step", false},
    {"gain_error", "gain", false},
    {"limit_w", "limit W", false},
    {"part", NULL, false},
    {"readings", NULL, false},
    {"implausible", "refused", false},
    {"reason", NULL, true},
    {"remedy", NULL, true},
    {"", "notes", true},
};

/* A number from calibration, in tenths; empty where calibration gives a reason instead. */
static void set_number(struct ifm_listing *listing, const char *field, const json_t *number)
{
    if (json_is_number(number))
        ifm_listing_set(listing, field, json_real(json_number_value(number)),
                        ifm_arena_printf(listing->arena, "%.1f", json_number_value(number)));
}

static void add_sensor(struct ifm_listing *listing, const struct ifm_power_sensor *sensor, json_t *seen)
{
    struct ifm_arena *arena = listing->arena;
    const char *lost = json_string_value(json_object_get(seen, "lost"));
    bool still = lost == NULL && sensor->kind == IFM_POWER_COUNTER &&
                 !json_is_number(json_object_get(seen, "refresh_ms")) &&
                 !json_is_number(json_object_get(seen, "mean_w"));
    const char *state = lost != NULL ? "lost" : still ? "still" : "ok";
    ifm_listing_row(listing);
    ifm_listing_set_text(listing, "device", sensor->device);
    ifm_listing_set_text(listing, "source", sensor->source);
    ifm_listing_set_text(listing, "state", state);
    ifm_listing_set_text(listing, "kind", ifm_power_kinds[sensor->kind]);
    set_number(listing, "power_w", json_object_get(seen, "mean_w"));
    set_number(listing, "refresh_ms", json_object_get(seen, "refresh_ms"));
    set_number(listing, "jitter_ms", json_object_get(seen, "refresh_jitter_ms"));
    const json_t *call_us = json_object_get(seen, "call_us");
    if (json_is_number(call_us))
        ifm_listing_set(listing, "call_us", json_real(json_number_value(call_us)),
                        ifm_arena_printf(arena, "%.3g", json_number_value(call_us)));
    const json_t *quantum = json_object_get(seen, "quantum");
    if (json_is_number(quantum))
        ifm_listing_set(listing, "quantum", json_real(json_number_value(quantum)),
                        ifm_arena_printf(arena, "%.3g %s", json_number_value(quantum),
                                         sensor->kind == IFM_POWER_COUNTER ? "J" : "W"));
    if (sensor->gain_error > 0)
        ifm_listing_set(listing, "gain_error", json_real(sensor->gain_error),
                        ifm_arena_printf(arena, "+-%.0f %%", sensor->gain_error * 100));
    if (sensor->limit_w > 0)
        ifm_listing_set(listing, "limit_w", json_real(sensor->limit_w),
                        ifm_arena_printf(arena, "%.0f", sensor->limit_w));
    json_int_t refused = json_integer_value(json_object_get(seen, "implausible"));
    ifm_listing_set(listing, "part", json_boolean(sensor->part), NULL);
    ifm_listing_set(listing, "readings", json_incref(json_object_get(seen, "readings")), NULL);
    ifm_listing_set(listing, "implausible", json_integer(refused), ifm_arena_printf(arena, "%lld", (long long)refused));
    const char *why = lost != NULL ? lost
                      : still ? "it did not change while it was watched: a virtual machine may expose a counter that "
                                "is never updated, or the time was too short"
                              : NULL;
    if (why != NULL) {
        ifm_listing_set(listing, "reason", json_string(why), NULL);
        ifm_listing_show_note(listing, why);
    } else if (sensor->kind == IFM_POWER_ESTIMATE)
        ifm_listing_show_note(listing, "an estimate: rated power x utilisation; nothing was measured");
    else if (sensor->part)
        ifm_listing_show_note(listing, "already included in other sensors; not added to them");
    json_decref(seen);
}

static void add_absence(struct ifm_listing *listing, const struct ifm_power_absence *absence)
{
    ifm_listing_row(listing);
    ifm_listing_set_text(listing, "source", absence->source);
    ifm_listing_set_text(listing, "state", "absent");
    ifm_listing_absent(listing, absence->reason, absence->remedy);
}

static void print_sensors(struct ifm_power *power, double seconds, enum ifm_format format, struct ifm_arena *arena)
{
    const struct ifm_power_list *list = ifm_power_list(power);
    struct ifm_text text = {0};
    struct ifm_listing listing = ifm_listing_begin(columns, sizeof columns / sizeof columns[0], arena);
    for (size_t i = 0; i < list->n_sensors; i++)
        add_sensor(&listing, &list->sensors[i], ifm_power_calibrate(power, i, seconds));
    for (size_t i = 0; i < list->n_absences; i++)
        add_absence(&listing, &list->absences[i]);
    ifm_cli_listing(&listing, format, &text);
    ifm_cli_print(&text, stdout);
    ifm_listing_end(&listing);
}

/* Exits 0 whatever it finds. */
enum ifm_status ifm_cmd_power(const struct ifm_given *given, struct ifm_error *error)
{
    struct ifm_power_options options = {.root = "", .meter = ifm_given_text(given, "meter")};
    double seconds = DEFAULT_SECONDS;
    IFM_TRY(ifm_given_words(given, 0, "leave it out", error));
    IFM_TRY(ifm_given_number(given, "seconds", MOST_SECONDS, false, &seconds, error));
    IFM_TRY(ifm_given_number(given, "rated-w", 1e6, false, &options.rated_w, error));
    struct ifm_power *power = ifm_power_open(&options);
    print_sensors(power, seconds, given->format, given->arena);
    ifm_power_close(power);
    return IFM_OK;
}

/* ---- doctor ---- */

/* "gpu0: nvml_energy, nvml_samples; gpu1: ..." */
static char *names_of(const struct ifm_power_list *list, const char *prefix, struct ifm_arena *arena)
{
    char *text = NULL;
    const char *device = "";
    for (size_t i = 0; i < list->n_sensors; i++) {
        const struct ifm_power_sensor *sensor = &list->sensors[i];
        if (strncmp(sensor->source, prefix, strlen(prefix)) != 0)
            continue;
        bool same = strcmp(device, sensor->device) == 0;
        text = text == NULL ? ifm_arena_printf(arena, "%s: %s", sensor->device, sensor->source)
               : same       ? ifm_arena_printf(arena, "%s, %s", text, sensor->source)
                            : ifm_arena_printf(arena, "%s; %s: %s", text, sensor->device, sensor->source);
        device = sensor->device;
    }
    return text;
}

static const struct ifm_power_absence *absence_of(const struct ifm_power_list *list, const char *prefix)
{
    for (size_t i = 0; i < list->n_absences; i++)
        if (strncmp(list->absences[i].source, prefix, strlen(prefix)) == 0)
            return &list->absences[i];
    return NULL;
}

void ifm_power_rows(json_t *rows)
{
    static const struct {
        const char *what, *prefix, *why;
    } families[] = {
        {"GPU power (NVML)", "nvml", "without it, joules of a GPU are absent"},
        {"CPU power (perf events)", "perf",
         "another source of the processor's joules, where powercap is readable only by root"},
    };
    struct ifm_power *power = ifm_power_open(&(struct ifm_power_options){.root = ""});
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_power_list *list = ifm_power_list(power);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const char *names = names_of(list, families[i].prefix, arena);
        const struct ifm_power_absence *absence = absence_of(list, families[i].prefix);
        const char *reason = absence == NULL ? "no such sensor" : absence->reason;
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:s}", "what", families[i].what, "state",
                                              names != NULL ? "ok" : "absent", "detail", names != NULL ? names : reason,
                                              "why", families[i].why, "remedy",
                                              names != NULL || absence == NULL ? "" : absence->remedy));
    }
    ifm_arena_destroy(arena);
    ifm_power_close(power);
}
