/* cachegrind: what the arms of a workload read, write and miss in simulated caches. Nothing is timed, and no run folder
 * is made: a simulated number never stands beside a measured one. */
#include "cli/cli.h"
#include "publish/listing.h"

#include "base/file.h"
#include "base/text.h"
#include "instrument/cachegrind.h"
#include "run/simulate.h"
#include "story/folder.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STEPS_MOST 1000

static const struct ifm_listing_column all_columns[] = {
    {"cell", NULL, true},
    {"arm", "arm", true},
    {"kind", "kind", true},
    {"instructions", "instructions", false},
    {"reads", "reads", false},
    {"writes", "writes", false},
    {"first_level_misses", "first-level misses", false},
    {"last_level_read_misses", NULL, false},
    {"last_level_write_misses", NULL, false},
    {"last_level_misses", "last-level misses", false},
    {"bytes_missed", "bytes missed", false},
    {"ledger_bytes", "ledger bytes", false},
    {"missed_over_ledger", "missed/ledger", false},
    {"reason", NULL, true},
    {"remedy", NULL, true},
    {"", "notes", true},
};

/* What the command takes beside the workload's flags. */
struct cachegrind_flags {
    const char *first, *last, *steps;
};

static enum ifm_status take_own(int *argc, char **argv, struct cachegrind_flags *flags, struct ifm_error *error)
{
    const struct {
        const char *name, **place, *hint;
    } own[] = {{"--first-level", &flags->first, "such as --first-level 32KiB,8,64: size, ways, bytes of a line"},
               {"--last-level", &flags->last, "such as --last-level 1MiB,16,64: size, ways, bytes of a line"},
               {"--steps", &flags->steps, "such as --steps 1"}};
    int kept = 0;
    for (int i = 0; i < *argc; i++) {
        size_t at = 0, length = strcspn(argv[i], "=");
        while (at < 3 && (strlen(own[at].name) != length || strncmp(argv[i], own[at].name, length) != 0))
            at++;
        if (at == 3) {
            argv[kept++] = argv[i];
            continue;
        }
        if (argv[i][length] == '\0' && i + 1 >= *argc)
            return ifm_fail(error, IFM_USAGE, own[at].name, own[at].hint, "it needs a value");
        *own[at].place = argv[i][length] == '=' ? argv[i] + length + 1 : argv[++i];
    }
    *argc = kept;
    return IFM_OK;
}

/* What can be simulated, where nothing else is asked for: one thread, and no ceilings. */
static enum ifm_status preset(struct ifm_config *config, const struct ifm_workload *workload, struct ifm_error *error)
{
    char text[80];
    IFM_TRY(ifm_config_default(config, "device.threads", "1", error));
    IFM_TRY(ifm_config_default(config, "ceilings", "none", error));
    snprintf(text, sizeof text, "workload=%s", workload->name);
    return ifm_config_override(config, text, error);
}

/* ---- rows ---- */

static void set_count(struct ifm_listing *listing, const char *field, double number)
{
    ifm_listing_set(listing, field,
                    number == (double)(json_int_t)number ? json_integer((json_int_t)number) : json_real(number),
                    ifm_arena_printf(listing->arena, number < 1e7 ? "%.0f" : "%.4g", number));
}

static void set_counts(struct ifm_listing *listing, const struct ifm_arm *arm,
                       const struct ifm_cachegrind_counts *counts, const struct ifm_simulation *how)
{
    const uint64_t *e = counts->events;
    const double steps = (double)how->steps, line = (double)how->geometry->last.line;
    const double missed = (double)(e[IFM_CG_READ_MISSES_LAST] + e[IFM_CG_WRITE_MISSES_LAST]) / steps;
    const double ledger = (double)arm->ledger.bytes_read + (double)arm->ledger.bytes_written;
    set_count(listing, "instructions", (double)e[IFM_CG_INSTRUCTIONS] / steps);
    set_count(listing, "reads", (double)e[IFM_CG_READS] / steps);
    set_count(listing, "writes", (double)e[IFM_CG_WRITES] / steps);
    set_count(listing, "first_level_misses", (double)(e[IFM_CG_READ_MISSES_1] + e[IFM_CG_WRITE_MISSES_1]) / steps);
    set_count(listing, "last_level_read_misses", (double)e[IFM_CG_READ_MISSES_LAST] / steps);
    set_count(listing, "last_level_write_misses", (double)e[IFM_CG_WRITE_MISSES_LAST] / steps);
    set_count(listing, "last_level_misses", missed);
    set_count(listing, "bytes_missed", missed * line);
    set_count(listing, "ledger_bytes", ledger);
    if (ledger > 0)
        ifm_listing_set(listing, "missed_over_ledger", json_real(missed * line / ledger),
                        ifm_arena_printf(listing->arena, "%.3f", missed * line / ledger));
}

static enum ifm_status add_arm(struct ifm_listing *listing, const struct ifm_simulation *how,
                               const struct ifm_plan *plan, unsigned c, unsigned a, struct ifm_error *error)
{
    const struct ifm_cell *cell = &plan->cells[c];
    const struct ifm_arm *arm = &cell->arms[a];
    struct ifm_cachegrind_counts counts;
    const char *remedy, *reason = ifm_simulate_why_not(plan, cell, arm, &remedy);
    ifm_listing_row(listing);
    ifm_listing_set_text(listing, "cell", cell->name);
    ifm_listing_set(listing, "arm", json_string(arm->name), ifm_arm_label(arm));
    ifm_listing_set_text(listing, "kind", "simulated");
    if (reason != NULL) {
        ifm_listing_absent(listing, reason, remedy);
        return IFM_OK;
    }
    IFM_TRY(ifm_simulate_arm(how, plan, c, a, &counts, error));
    set_counts(listing, arm, &counts, how);
    return IFM_OK;
}

static const char *cache_text(const struct ifm_cachegrind_cache *cache, struct ifm_arena *arena)
{
    char size[48];
    return ifm_arena_printf(arena, "%s, %llu ways, lines of %llu B", ifm_format_human((double)cache->bytes, "B", size),
                            (unsigned long long)cache->ways, (unsigned long long)cache->line);
}

static enum ifm_status print_arms(const struct ifm_simulation *how, const struct ifm_plan *plan, enum ifm_format format,
                                  struct ifm_arena *arena, struct ifm_error *error)
{
    struct ifm_text text = {0};
    struct ifm_listing_column columns[sizeof all_columns / sizeof *all_columns];
    memcpy(columns, all_columns, sizeof columns);
    columns[0].heading = plan->n_cells > 1 ? "cell" : NULL;
    struct ifm_listing listing = ifm_listing_begin(columns, sizeof columns / sizeof columns[0], arena);
    enum ifm_status status = IFM_OK;
    for (unsigned c = 0; c < plan->n_cells; c++)
        for (unsigned a = 0; status == IFM_OK && a < plan->cells[c].n_arms; a++)
            status = add_arm(&listing, how, plan, c, a, error);
    ifm_listing_remark(&listing, ifm_arena_printf(arena,
                                                  "Simulated by cachegrind, of one step: one thread, no "
                                                  "prefetcher; first level %s; last level %s. Nothing was timed.",
                                                  cache_text(&how->geometry->first, arena),
                                                  cache_text(&how->geometry->last, arena)));
    if (status == IFM_OK)
        ifm_cli_listing(&listing, format, &text);
    ifm_cli_print(&text, stdout);
    ifm_listing_end(&listing);
    return status;
}

static enum ifm_status simulate(const struct ifm_options *options, const struct cachegrind_flags *flags,
                                struct ifm_config *config, struct ifm_arena *arena, struct ifm_error *error)
{
    char valgrind[4096], program[4096];
    struct ifm_cachegrind_geometry geometry;
    struct ifm_simulation how = {valgrind, program, &geometry, 1, NULL};
    struct ifm_plan *plan;
    IFM_TRY(ifm_cachegrind_cache_parse(flags->first == NULL ? "32KiB,8,64" : flags->first, "--first-level", arena,
                                       &geometry.first, error));
    IFM_TRY(ifm_cachegrind_cache_parse(flags->last == NULL ? "1MiB,16,64" : flags->last, "--last-level", arena,
                                       &geometry.last, error));
    if (flags->steps != NULL && (!ifm_parse_u64(flags->steps, &how.steps) || how.steps == 0 || how.steps > STEPS_MOST))
        return ifm_fail(error, IFM_USAGE, "--steps", "", "a whole number from 1 to %d is wanted, not \"%.40s\"",
                        STEPS_MOST, flags->steps);
    IFM_TRY(ifm_config_resolve(config, error));
    IFM_TRY(ifm_story_plan_simulated(config, arena, &plan, error));
    IFM_TRY(ifm_story_ready(plan, error));
    IFM_TRY(ifm_cachegrind_find(valgrind, sizeof valgrind, error));
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return ifm_fail(error, IFM_INTERNAL, "", "", "the path of this program cannot be read");
    program[length] = '\0';
    return print_arms(&how, plan, options->format, arena, error);
}

static enum ifm_status no_workload(const char *word, const char *known, struct ifm_error *error)
{
    struct ifm_error unused;
    char hint[256];
    if (ifm_folder_is_run(word, &unused) == IFM_OK) {
        snprintf(hint, sizeof hint, "name the workload that it ran, with its flags: %.180s", strchr(known, ':') + 2);
        return ifm_fail(error, IFM_USAGE, word, hint, "it is a run folder, and cachegrind simulates a workload");
    }
    if (ifm_file_exists(word)) {
        snprintf(hint, sizeof hint, "valgrind --tool=cachegrind %.80s", word);
        return ifm_fail(error, IFM_USAGE, word, hint, "it is a file; only workloads that are built in are simulated");
    }
    return ifm_fail(error, IFM_USAGE, "", known, "\"%.40s\" is no workload that is built in", word);
}

enum ifm_status ifm_cmd_cachegrind(int argc, char **argv, struct ifm_error *error)
{
    static const char KNOWN[] =
        "one of decode, attention, gemm, stream, null: inferometer cachegrind decode --kv-len 512";
    const struct ifm_workload *workload = argc > 1 ? ifm_workload_find(argv[1]) : NULL;
    struct cachegrind_flags flags = {NULL, NULL, NULL};
    if (argc < 2 || argv[1][0] == '-')
        return ifm_fail(error, IFM_USAGE, "", KNOWN, "cachegrind needs a workload in front");
    if (workload == NULL || workload->plugin != NULL || workload->implementations == NULL ||
        strcmp(workload->name, "command") == 0)
        return no_workload(argv[1], KNOWN, error);
    argc--;
    argv++;
    IFM_TRY(take_own(&argc, argv, &flags, error));
    struct ifm_config *config = ifm_story_config();
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_options options = {.workload = workload->name};
    enum ifm_status status = ifm_options_parse(argc, argv, false, config, &options, error);
    if (status == IFM_OK && (options.resume != NULL || options.out != NULL || options.dry_run))
        status =
            ifm_fail(error, IFM_USAGE, "", "leave it out", "cachegrind makes no run folder: --%s has no meaning here",
                     options.resume != NULL ? "resume"
                     : options.out != NULL  ? "out"
                                            : "dry-run");
    if (status == IFM_OK)
        status = preset(config, workload, error);
    if (status == IFM_OK)
        status = simulate(&options, &flags, config, arena, error);
    ifm_arena_destroy(arena);
    ifm_config_destroy(config);
    return status;
}
