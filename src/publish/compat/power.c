/* power.csv and power_<device>_<source>.csv: power over time in the specification's form, t_s,power_w.
 *
 * power.csv is the sum of the measured devices; beside it one file for each sensor, also for those that are never
 * integrated. Every cell's energy pass follows the one before. t_s counts from the start of the run, as the samples'
 * times do, and stands in the middle of the step that power_w is the mean of. A step without readings has no line. */
#include "derive/energy/power_run.h"
#include "publish/compat/compat.h"
#include <math.h>
#include <string.h>

static const char header[] = "t_s,power_w\n";

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* A name from the journal must not lead out of the folder. */
static const char *plain(const char *name, struct ifm_arena *arena)
{
    char *copy = ifm_arena_strdup(arena, name);
    for (char *c = copy; *c != '\0'; c++)
        if (!is_letter(*c))
            *c = '-';
    return copy;
}

static bool is_taken(const struct ifm_power_files *files, const char *name)
{
    for (size_t i = 0; i < files->n; i++)
        if (strcmp(files->list[i].name, name) == 0)
            return true;
    return false;
}

static const char *name_of(const struct ifm_power_files *files, const struct ifm_power_trace *trace,
                           struct ifm_arena *arena)
{
    if (trace->source[0] == '\0')
        return "power.csv";
    const char *stem = ifm_arena_printf(arena, "power_%s_%s", plain(trace->device, arena), plain(trace->source, arena));
    const char *name = ifm_arena_printf(arena, "%s.csv", stem);
    for (unsigned again = 2; is_taken(files, name); again++)
        name = ifm_arena_printf(arena, "%s-%u.csv", stem, again);
    return name;
}

/* The sum has no device of its own. */
static bool is_of(const struct ifm_power_file *file, const struct ifm_power_trace *trace)
{
    return strcmp(file->source, trace->source) == 0 &&
           (trace->source[0] == '\0' || strcmp(file->device, trace->device) == 0);
}

static struct ifm_power_file *file_of(struct ifm_power_files *files, const struct ifm_power_trace *trace,
                                      struct ifm_arena *arena)
{
    for (size_t i = 0; i < files->n; i++)
        if (is_of(&files->list[i], trace))
            return &files->list[i];
    struct ifm_power_file *file = &files->list[files->n];
    *file =
        (struct ifm_power_file){.name = name_of(files, trace, arena), .device = trace->device, .source = trace->source};
    ifm_text_add(&file->text, header);
    files->n++;
    return file;
}

static void add_steps(const struct ifm_power_trace *trace, struct ifm_text *out)
{
    for (size_t i = 0; i < trace->n; i++)
        if (isfinite(trace->watts[i]))
            ifm_text_printf(out, "%.6f,%.3f\n", 1e-9 * (double)trace->start_ns + ((double)i + 0.5) / trace->hz,
                            trace->watts[i]);
}

/* The next trace in time that is not written yet, of any cell; cells may have been resumed out of their order. */
static const struct ifm_power_shown **in_time(const struct ifm_power_shown *shown, size_t n, struct ifm_arena *arena)
{
    const struct ifm_power_shown **order = IFM_ARENA_ARRAY(arena, const struct ifm_power_shown *, n + 1);
    for (size_t i = 0; i < n; i++) { /* insertion: a few cells */
        size_t k = i;
        int64_t own = shown[i].n_traces > 0 ? shown[i].traces[0].start_ns : 0;
        for (; k > 0 && order[k - 1]->n_traces > 0 && order[k - 1]->traces[0].start_ns > own; k--)
            order[k] = order[k - 1];
        order[k] = &shown[i];
    }
    return order;
}

void ifm_power_files_of(const struct ifm_power_shown *shown, size_t n, struct ifm_arena *arena,
                        struct ifm_power_files *out)
{
    const struct ifm_power_shown **order = in_time(shown, n, arena);
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most += shown[i].n_traces;
    *out = (struct ifm_power_files){.list = IFM_ARENA_ARRAY(arena, struct ifm_power_file, most + 1)};
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < order[i]->n_traces; t++)
            if (ifm_power_has_steps(&order[i]->traces[t]))
                add_steps(&order[i]->traces[t], &file_of(out, &order[i]->traces[t], arena)->text);
}

enum ifm_status ifm_compose_power(const struct ifm_publication *publication, struct ifm_arena *arena,
                                  struct ifm_power_files *out, struct ifm_error *error)
{
    struct ifm_power_shown *shown;
    size_t n;
    *out = (struct ifm_power_files){0};
    IFM_TRY(ifm_derive_power_run(publication->facts, arena, &shown, &n, error));
    ifm_power_files_of(shown, n, arena, out);
    return IFM_OK;
}

void ifm_power_files_free(struct ifm_power_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        ifm_text_free(&files->list[i].text);
    *files = (struct ifm_power_files){0};
}
