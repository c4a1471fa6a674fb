/* Classes: labels for numbers, from the tables of data/gates/classes.txt.
 *
 * A label is words for a number, never a decision: no outcome depends on it. A number that is absent or refused has
 * none, and one that decides nothing is "undecided". */
#include "judge/internal.h"

#include "base/text.h"
#include "model/embedded.h"
#include <math.h>
#include <string.h>

enum { FIELDS = 6, LONGEST_FIELD = 64 };

/* One row of the tables. */
struct class_row {
    char fields[FIELDS][LONGEST_FIELD]; /* table, title, metric, label, from, to */
    double from, to;
};

static const struct ifm_embedded_file *tables(void)
{
    const struct ifm_embedded_file *at = ifm_embedded_gates;
    while (at->name != NULL && strcmp(at->name, "classes.txt") != 0)
        at++;
    return at->name == NULL ? NULL : at;
}

static bool bound_of(const char *text, double unbounded, double *out)
{
    *out = unbounded;
    return text[0] == '\0' || ifm_parse_f64(text, out);
}

/* The row in [line, line + length); false for a comment, an empty line, and a line of another shape. */
static bool parse_row(const char *line, size_t length, struct class_row *out)
{
    const char *at = line, *end = line + length;
    size_t field = 0;
    memset(out, 0, sizeof *out);
    if (length == 0 || *line == '#')
        return false;
    for (; field < FIELDS; field++) {
        const char *stop = memchr(at, '|', (size_t)(end - at)), *last = stop == NULL ? end : stop;
        while (at < last && *at == ' ')
            at++;
        while (last > at && last[-1] == ' ')
            last--;
        if (last - at >= LONGEST_FIELD)
            return false;
        memcpy(out->fields[field], at, (size_t)(last - at));
        if (stop == NULL)
            break;
        at = stop + 1;
    }
    return field == FIELDS - 1 && bound_of(out->fields[4], -INFINITY, &out->from) &&
           bound_of(out->fields[5], INFINITY, &out->to);
}

/* The next row at or behind `*at`, which moves behind it. */
static bool next_row(const char **at, struct class_row *out)
{
    while (*at != NULL && **at != '\0') {
        size_t length = strcspn(*at, "\n");
        bool found = parse_row(*at, length, out);
        *at += length + ((*at)[length] == '\n');
        if (found)
            return true;
    }
    return false;
}

bool ifm_judge_has_classes(const char *table)
{
    struct class_row row;
    const char *at = tables() == NULL ? NULL : tables()->data;
    while (next_row(&at, &row))
        if (strcmp(row.fields[0], table) == 0)
            return true;
    return false;
}

/* The first row of this title that holds the number. */
static const char *label_of(const char *table, const char *title, double number, struct ifm_arena *arena)
{
    struct class_row row;
    const char *at = tables()->data;
    while (next_row(&at, &row))
        if (strcmp(row.fields[0], table) == 0 && strcmp(row.fields[1], title) == 0 && row.from <= number &&
            number <= row.to)
            return ifm_arena_strdup(arena, row.fields[3]);
    return NULL;
}

static const char *label_value(const char *table, const char *title, const struct ifm_value *value,
                               struct ifm_arena *arena)
{
    const char *label = label_of(table, title, value->number, arena);
    if (label == NULL || !value->has_interval)
        return label;
    const char *low = label_of(table, title, value->low, arena), *high = label_of(table, title, value->high, arena);
    if (low == NULL || high == NULL || strcmp(low, high) == 0)
        return label;
    return ifm_arena_printf(arena, "%s to %s", low, high);
}

/* A comparison that a rule of honesty keeps from deciding, or of too few blocks for an interval. An undecided one with
 * an interval has the labels of its ends. */
static bool is_undecided(const struct ifm_derived *derived, const struct ifm_number *number)
{
    const struct ifm_value *change = ifm_derived_value(derived, number->cell, number->arm, IFM_M_CHANGE_PERCENT);
    const bool few = ifm_metrics[number->metric].kind == IFM_CLASS_COMPARE && !number->value.has_interval &&
                     change != NULL && strcmp(change->text, "undecided") == 0;
    return few || ifm_derived_dispute(derived, number->cell, number->arm, number->metric) != NULL;
}

static bool is_labelled(const struct ifm_verdict *verdict, const struct ifm_class_label *one)
{
    for (size_t i = 0; i < verdict->n_classes; i++) {
        const struct ifm_class_label *other = &verdict->classes[i];
        if (strcmp(other->table, one->table) == 0 && strcmp(other->title, one->title) == 0 &&
            strcmp(other->cell, one->cell) == 0 && strcmp(other->arm, one->arm) == 0)
            return true;
    }
    return false;
}

void ifm_judge_classes(const struct ifm_gate_result *result, const struct ifm_derived *derived, struct ifm_arena *arena,
                       size_t *capacity, struct ifm_verdict *verdict)
{
    struct class_row row;
    const char *table = result->gate->classes;
    const char *at = tables() == NULL || ifm_is_empty(table) ? NULL : tables()->data;
    while (next_row(&at, &row)) {
        const struct ifm_number *number =
            ifm_derived_find(derived, result->cell, result->arm, ifm_metric_of(row.fields[2]));
        if (strcmp(row.fields[0], table) != 0 || number == NULL || number->value.state != IFM_STATE_OK)
            continue;
        struct ifm_class_label one = {.table = ifm_arena_strdup(arena, row.fields[0]),
                                      .title = ifm_arena_strdup(arena, row.fields[1]),
                                      .cell = result->cell,
                                      .arm = result->arm,
                                      .metric = number->metric};
        one.label =
            is_undecided(derived, number) ? "undecided" : label_value(one.table, one.title, &number->value, arena);
        if (one.label == NULL || is_labelled(verdict, &one))
            continue;
        IFM_ARENA_GROW(arena, verdict->classes, verdict->n_classes, *capacity);
        verdict->classes[verdict->n_classes++] = one;
    }
}
