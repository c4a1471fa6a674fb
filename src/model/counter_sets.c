/* data/counters, read: lines "key: value"; "chips" once, "capability" behind it, then sets, each with a line for every
 * column that it fills. */
#include "model/counter_sets.h"

#include <stdio.h>
#include <string.h>

const struct ifm_column ifm_counter_columns[IFM_COUNTER_COLUMNS] = {
    {"l2_hits", "count"},
    {"l2_accesses", "count"},
    {"l2_misses", "count"},
    {"l2_sectors", "count"},
    {"l2_write_sectors", "count"},
    {"l2_fabric_sectors", "count"},
    {"dram_read_bytes", "B"},
    {"dram_write_bytes", "B"},
    {"counters_range_ns", "ns"},
    {"counters_cycles", "count"},
    {"warps", "count"},
    {"tensor_f16_ops", "count"},
    {"tensor_bf16_ops", "count"},
    {"tensor_tf32_ops", "count"},
    {"tensor_int8_ops", "count"},
    {"l2_sector_hits", "count"},
    {"l2_sector_misses", "count"},
    {"limits_occupancy", "ppm"},
    {"limits_issue", "ppm"},
    {"limits_tensor", "ppm"},
    {"limits_active", "ppm"},
    {"limits_conflicts", "ppm"},
    {"limits_l2", "ppm"},
    {"limits_link", "ppm"},
    {"limits_warps", "count"},
    {"limits_eligible", "count"},
    {"waits_memory", "count"},
    {"waits_dependency", "count"},
    {"waits_wgmma", "count"},
    {"waits_barrier", "count"},
    {"waits_shared", "count"},
    {"waits_arithmetic", "count"},
    {"counters_cost_ns", "ns"},
};

/* One line: its key, and its value without blanks around it. */
struct counter_line {
    char key[32], value[256];
};

static bool next_line(const char **at, struct counter_line *out)
{
    while (**at != '\0') {
        const size_t length = strcspn(*at, "\n");
        const char *colon = memchr(*at, ':', length);
        const bool counts = length > 0 && **at != '#' && colon != NULL;
        if (counts) {
            const char *value = colon + 1 + strspn(colon + 1, " ");
            snprintf(out->key, sizeof out->key, "%.*s", (int)(colon - *at), *at);
            snprintf(out->value, sizeof out->value, "%.*s", (int)(*at + length - value), value);
        }
        *at += length + ((*at)[length] == '\n');
        if (counts)
            return true;
    }
    return false;
}

/* The next word of a list, without the separators before it; false at its end. */
static bool next_word(const char **at, const char *separators, char *out, size_t size)
{
    *at += strspn(*at, separators);
    const size_t length = strcspn(*at, separators);
    snprintf(out, size, "%.*s", (int)length, *at);
    *at += length;
    return length > 0 && length < size;
}

static bool lists(const char *chips, const char *chip)
{
    char word[16];
    while (next_word(&chips, " ", word, sizeof word))
        if (chip == NULL || strcmp(word, chip) == 0)
            return true;
    return false;
}

static size_t column_of(const char *id)
{
    size_t c = 0;
    while (c < IFM_COUNTER_COST && strcmp(ifm_counter_columns[c].id, id) != 0)
        c++;
    return c;
}

static bool add_metrics(struct ifm_counter_set *set, const struct counter_line *line)
{
    const size_t column = column_of(line->key);
    const char *at = line->value;
    char *text;
    if (column == IFM_COUNTER_COST || *at == '\0')
        return false;
    while (set->n < IFM_COUNTER_METRICS_MOST) {
        text = set->texts[set->n];
        if (!next_word(&at, " +", text, sizeof set->texts[0]))
            return text[0] == '\0'; /* else the name is too long for its place */
        set->column[set->n++] = column;
    }
    return *at == '\0';
}

bool ifm_counter_sets_read(const char *text, const char *chip, struct ifm_counter_sets *out)
{
    struct counter_line line;
    memset(out, 0, sizeof *out);
    if (!next_line(&text, &line) || strcmp(line.key, "chips") != 0)
        return false;
    bool is = lists(line.value, chip), any = next_line(&text, &line);
    if (any && strcmp(line.key, "capability") == 0) {
        is |= lists(line.value, chip);
        any = next_line(&text, &line);
    }
    snprintf(out->chip, sizeof out->chip, "%s", chip == NULL ? "" : chip);
    for (; is && any; any = next_line(&text, &line)) {
        if (strcmp(line.key, "set") == 0) {
            if (out->n == IFM_COUNTER_SETS_MOST || strlen(line.value) >= sizeof out->items[0].name)
                return false;
            snprintf(out->items[out->n++].name, sizeof out->items[0].name, "%.23s", line.value);
        } else if (out->n == 0 || !add_metrics(&out->items[out->n - 1], &line)) {
            return false;
        }
    }
    return out->n > 0;
}

bool ifm_counter_sets_of(const char *chip, struct ifm_counter_sets *out)
{
    for (size_t i = 0; ifm_embedded_counters[i].name != NULL; i++)
        if (ifm_counter_sets_read(ifm_embedded_counters[i].data, chip, out))
            return true;
    return false;
}

bool ifm_counter_sets_have(const struct ifm_counter_sets *sets, size_t column)
{
    for (size_t s = 0; s < sets->n; s++)
        for (size_t m = 0; m < sets->items[s].n; m++)
            if (sets->items[s].column[m] == column)
                return true;
    return false;
}
