/* Strays: files under a published name that the record does not give. They are of another record, or somebody put them
 * there; the next manifest would vouch for them. And others: files under any other name, which are named. */
#include "base/file.h"
#include "base/text.h"
#include "model/event.h"
#include "publish/compose.h"
#include "sample/manifest.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Like power.csv or power_gpu0_nvml.csv. */
static bool is_power(const char *name)
{
    size_t length = strlen(name);
    return strcmp(name, "power.csv") == 0 ||
           (strncmp(name, "power_", 6) == 0 && length > 10 && strcmp(name + length - 4, ".csv") == 0);
}

/* The number of config_NN.json; 0: it is no such name. */
static size_t config_number(const char *name)
{
    size_t number = 0;
    if (strncmp(name, "config_", 7) != 0)
        return 0;
    for (name += 7; isdigit((unsigned char)*name) && number < 1000000; name++)
        number = 10 * number + (size_t)(*name - '0');
    return strcmp(name, ".json") == 0 ? number : 0;
}

static bool is_of_gates(const char *name)
{
    return strcmp(name, "gate.md") == 0 || strcmp(name, "junit.xml") == 0;
}

static bool gives_power(const struct ifm_power_files *files, const char *name)
{
    for (size_t i = 0; i < files->n; i++)
        if (strcmp(files->list[i].name, name) == 0)
            return true;
    return false;
}

/* Power is read only where a file of such a name is there. */
static enum ifm_status check_power(const struct ifm_publication *publication, const char *name, struct ifm_error *error)
{
    struct ifm_power_files files;
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = ifm_compose_power(publication, arena, &files, error);
    if (status == IFM_OK && !gives_power(&files, name))
        status = ifm_fail(error, IFM_INVALID, name, "remove it, or measure with --energy",
                          "%s is there, and the record holds no reading for it", name);
    ifm_power_files_free(&files);
    ifm_arena_destroy(arena);
    return status;
}

static enum ifm_status check_name(const struct ifm_publication *publication, const char *name, struct ifm_error *error)
{
    const struct ifm_plan *plan = publication->plan;
    size_t n = ifm_compat_count_baseline(plan), number = config_number(name);
    if (is_power(name))
        return check_power(publication, name, error);
    bool stray = (strcmp(name, "elastic_kv.json") == 0 && !ifm_compat_has_elastic_kv(plan)) ||
                 (strcmp(name, "ncu.json") == 0 && !ifm_compat_has_ncu(plan)) ||
                 (strcmp(name, "trace.json") == 0 && !ifm_compose_has_trace(publication)) ||
                 (strcmp(name, "summary.json") == 0 && n == 0) || number > n ||
                 (is_of_gates(name) && publication->verdict->n_gates == 0);
    return stray ? ifm_fail(error, IFM_INVALID, name, "remove it", "%s is there, and the record does not give it", name)
                 : IFM_OK;
}

enum ifm_status ifm_published_strays(const struct ifm_publication *publication, struct ifm_error *error)
{
    DIR *folder = opendir(publication->dir);
    if (folder == NULL)
        return ifm_file_fail(publication->dir, "cannot list the folder", errno, error);
    enum ifm_status status = IFM_OK;
    for (const struct dirent *entry; status == IFM_OK && (entry = readdir(folder)) != NULL;)
        status = check_name(publication, entry->d_name, error);
    closedir(folder);
    return status;
}

/* ---- others ---- */

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Is `name` "<stem><rest><end>"? `rest` is "", "-before-1" of a record that was set aside when the cell began again, or
 * with `any` whatever ends so: sensors of a record that was set aside are in the journal no more. */
static bool is_named(const char *name, const char *stem, const char *rest, const char *end, bool any)
{
    const size_t whole = strlen(name), begins = strlen(stem), inner = strlen(rest), ends = strlen(end);
    return whole >= begins + inner + ends && (any || whole == begins + inner + ends) &&
           strncmp(name, stem, begins) == 0 && strncmp(name + whole - ends - inner, rest, inner) == 0 &&
           strcmp(name + whole - ends, end) == 0;
}

static bool was_set_aside(const struct ifm_publication *publication, const struct ifm_cell *cell, const char *name,
                          const char *stem, const char *end, bool any)
{
    IFM_EACH(event, publication->events, cell_restarted, cell->name, NULL) {
        char rest[40];
        snprintf(rest, sizeof rest, "-before-%lld", (long long)IFM_FACTS(event, cell_restarted)->times);
        if (is_named(name, stem, rest, end, any))
            return true;
    }
    return false;
}

/* Samples and slots of the plan's passes, and readings of the sensors that the journal tells of. */
static bool is_sample_of(const struct ifm_publication *publication, const struct ifm_cell *cell, const char *name,
                         struct ifm_arena *arena)
{
    for (size_t p = 0; p < cell->n_passes; p++) {
        const char *stem = ifm_arena_printf(arena, "samples/%u-%s", cell->index, ifm_pass_name(&cell->passes[p]));
        static const char *const ends[] = {".csv", "-slots.csv", "-activity.csv"};
        for (size_t i = 0; i < 2 + (cell->passes[p].kind == IFM_PASS_TRACE); i++)
            if (is_named(name, stem, "", ends[i], false) ||
                was_set_aside(publication, cell, name, stem, ends[i], false))
                return true;
    }
    IFM_EACH(event, publication->events, power_sensor, cell->name, NULL) {
        const struct ifm_event_power_sensor *sensor = IFM_FACTS(event, power_sensor);
        const char *stem =
            ifm_arena_printf(arena, "samples/%u-power-%s-%s", cell->index, sensor->device, sensor->source);
        if (is_named(name, stem, "", ".csv", false))
            return true;
    }
    return was_set_aside(publication, cell, name, ifm_arena_printf(arena, "samples/%u-power-", cell->index), ".csv",
                         true);
}

static bool is_of_record(const struct ifm_publication *publication, const char *name, struct ifm_arena *arena)
{
    static const char *const record[] = {"config.lock.json", "plan.json", "run.log"};
    static const char samples[] = "samples/";
    if (is_one_of(name, record, sizeof record / sizeof *record))
        return true;
    if (strncmp(name, samples, sizeof samples - 1) != 0)
        return false;
    char *end;
    const unsigned long cell = strtoul(name + sizeof samples - 1, &end, 10);
    return *end == '-' && cell < publication->plan->n_cells &&
           is_sample_of(publication, &publication->plan->cells[cell], name, arena);
}

enum ifm_status ifm_published_others(const struct ifm_publication *publication, const char *const *published, size_t n,
                                     char out[static IFM_OTHERS_SIZE], struct ifm_error *error)
{
    static const size_t MORE = sizeof ", and 18446744073709551615 more";
    struct ifm_arena *arena = ifm_arena_create();
    const char *const *names = NULL;
    size_t n_names = 0, used = 0, left = 0;
    out[0] = '\0';
    enum ifm_status status = ifm_manifest_names(publication->dir, arena, &names, &n_names, error);
    for (size_t i = 0; i < n_names; i++) {
        if (is_one_of(names[i], published, n) || is_of_record(publication, names[i], arena))
            continue;
        const char *plain = ifm_text_plain(names[i], arena);
        if (left > 0 || used + strlen(plain) + 2 + MORE >= IFM_OTHERS_SIZE)
            left++;
        else
            used += (size_t)snprintf(out + used, IFM_OTHERS_SIZE - used, "%s%s", used == 0 ? "" : ", ", plain);
    }
    if (left > 0)
        snprintf(out + used, IFM_OTHERS_SIZE - used, "%s%zu more", used == 0 ? "" : ", and ", left);
    ifm_arena_destroy(arena);
    return status;
}
