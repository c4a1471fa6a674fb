/* Lines as the table of a plugin: one error that names the file, or a table whose defaults are values that a user could
 * have written. A line "-" is a NULL. The order: name, purpose, timed_region, then each parameter (name, type and flags
 * and range as numbers, unit, fallback, choices, help) behind a line "p", each counter (name, unit) behind "c". */
#include "base/arena.h"
#include "workload/plugin/private.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One more than what is taken of each. */
static struct inferometer_plugin_param params[IFM_PLUGIN_PARAMS_MOST + 1];
static struct inferometer_plugin_counter counters[IFM_PLUGIN_COUNTERS_MOST + 1];

static const char *next(char **rest)
{
    const char *line = strsep(rest, "\n");
    return line == NULL || strcmp(line, "-") == 0 ? NULL : line;
}

static void read_param(char **rest, struct inferometer_plugin_param *param)
{
    *param = (struct inferometer_plugin_param){.name = next(rest)};
    const char *numbers = next(rest);
    if (numbers != NULL)
        (void)!sscanf(numbers, "%u %u %lf %lf", &param->type, &param->flags, &param->min, &param->max);
    param->unit = next(rest);
    param->fallback = next(rest);
    param->choices = next(rest);
    param->help = next(rest);
}

static int describe(const struct inferometer_plugin_value *values, const struct inferometer_plugin_host *host,
                    struct inferometer_plugin_ledger *ledger)
{
    (void)values;
    (void)host;
    (void)ledger;
    return 0;
}

static int open_state(const struct inferometer_plugin_value *values, uint64_t seed,
                      const struct inferometer_plugin_host *host, void **state)
{
    (void)values;
    (void)seed;
    (void)host;
    (void)state;
    return 0;
}

static void step(void *state, uint64_t n)
{
    (void)state;
    (void)n;
}

static void close_state(void *state)
{
    (void)state;
}

static void collect(void *state, int64_t *values)
{
    (void)state;
    (void)values;
}

static struct inferometer_plugin read_table(char *text)
{
    struct inferometer_plugin table = {
        .struct_size = sizeof table,
        .abi = INFEROMETER_PLUGIN_ABI,
        .params = params,
        .param_size = sizeof params[0],
        .counters = counters,
        .counter_size = sizeof counters[0],
        .describe = describe,
        .open = open_state,
        .step = step,
        .close = close_state,
        .collect = collect,
    };
    char *rest = text;
    table.name = next(&rest);
    table.purpose = next(&rest);
    table.timed_region = next(&rest);
    while (rest != NULL) {
        const char *kind = next(&rest);
        if (kind != NULL && strcmp(kind, "p") == 0 && table.n_params <= IFM_PLUGIN_PARAMS_MOST)
            read_param(&rest, &params[table.n_params++]);
        else if (kind != NULL && strcmp(kind, "c") == 0 && table.n_counters <= IFM_PLUGIN_COUNTERS_MOST) {
            const char *name = next(&rest);
            counters[table.n_counters++] = (struct inferometer_plugin_counter){name, next(&rest)};
        }
    }
    return table;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const words[] = {"taken", NULL};
    static const struct ifm_plugin_taken taken = {words, words, words};
    static union ifm_plugin_field fields[IFM_PLUGIN_PARAMS_MOST];
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error = {0};
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    struct ifm_plugin plugin = {.table = read_table(text)};
    if (ifm_plugin_check(&plugin, "fuzz.so", &taken, arena, &error) != IFM_OK) {
        if (error.code != IFM_USAGE || error.message[0] == '\0' || strcmp(error.where, "fuzz.so") != 0)
            abort();
    } else {
        for (size_t i = 0; i < plugin.section.n; i++) {
            const struct ifm_param *row = &plugin.section.rows[i];
            if ((row->flags & IFM_SWEEP) == 0 &&
                ifm_param_parse(row, row->fallback, "fuzz", arena, &fields[i], &error) != IFM_OK)
                abort();
        }
    }
    free(text);
    ifm_arena_destroy(arena);
    return 0;
}
