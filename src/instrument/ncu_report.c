/* The CSV of ncu, read: quoted cells, "" for a quote, thousands with commas, lines of ncu itself in front. */
#include "instrument/ncu_report.h"

#include "base/text.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

#define HINT "`ncu --import FILE --csv --page raw --print-units base` writes one of a report"
#define MOST_CELLS 65536
#define MOST_COUNT 9007199254740992.0 /* 2^53: above it a double is no count */

/* ---- numbers ---- */

/* Digits with commas between groups of three, at most one point: copied without the commas. */
static bool plain_digits(const char *text, char *out, size_t size)
{
    const size_t length = strcspn(text, ".eE");
    size_t n = 0, group = 0;
    bool commas = false;
    for (size_t i = 0; i < length; i++) {
        const bool sign = i == 0 && text[i] == '-';
        if (text[i] == ',') {
            if ((!commas && (group == 0 || group > 3)) || (commas && group != 3))
                return false;
            commas = true;
            group = 0;
            continue;
        }
        if ((!isdigit((unsigned char)text[i]) && !sign) || n + 1 >= size)
            return false;
        out[n++] = text[i];
        group += !sign;
    }
    if (commas && group != 3)
        return false;
    for (const char *at = text + length; *at != '\0'; at++) {
        if (*at == ',' || n + 1 >= size)
            return false;
        out[n++] = *at;
    }
    out[n] = '\0';
    return n > 0;
}

/* Thousands as ncu writes them in front of byte, sector, ns and their like. Returns the factor and sets the base. */
static double scale_of(const char *unit, const char **base)
{
    static const struct {
        const char *unit, *base;
        double scale;
    } rows[] = {{"byte", "B", 1},     {"Kbyte", "B", 1e3},  {"Mbyte", "B", 1e6},    {"Gbyte", "B", 1e9},
                {"Tbyte", "B", 1e12}, {"ns", "ns", 1},      {"us", "ns", 1e3},      {"ms", "ns", 1e6},
                {"s", "ns", 1e9},     {"nsecond", "ns", 1}, {"usecond", "ns", 1e3}, {"msecond", "ns", 1e6},
                {"second", "ns", 1e9}};
    static const char *const counts[] = {"sector", "request", "cycle", "warp", "inst", "pass", "block", "thread"};
    const char *prefixes = "KMGT", *prefix = unit[0] == '\0' ? NULL : strchr(prefixes, unit[0]);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(unit, rows[i].unit) == 0) {
            *base = rows[i].base;
            return rows[i].scale;
        }
    for (size_t i = 0; prefix != NULL && i < sizeof counts / sizeof *counts; i++)
        if (strcmp(unit + 1, counts[i]) == 0) {
            *base = counts[i];
            return pow(1e3, (double)(prefix - prefixes) + 1);
        }
    *base = unit;
    return 1;
}

struct ifm_ncu_value ifm_ncu_number(const char *text, const char *unit, const char **base, struct ifm_arena *arena)
{
    struct ifm_ncu_value value = {NAN, NULL};
    char digits[64];
    const double scale = scale_of(unit == NULL ? "" : unit, base);
    if (text[0] == '\0')
        value.reason = "ncu left it empty";
    else if (strstr(text, "n/a") != NULL)
        value.reason = "ncu has no value (n/a): this GPU does not count it";
    else if (strcasestr(text, "nan") != NULL)
        value.reason = "ncu divided by nothing (nan)";
    else if (strcasestr(text, "inf") != NULL)
        value.reason = "ncu says that it is infinite";
    else if (!plain_digits(text, digits, sizeof digits) || !ifm_parse_f64(digits, &value.number))
        value.reason = ifm_arena_printf(arena, "ncu wrote \"%.40s\", which is no number", text);
    else if (value.number < 0)
        value.reason = ifm_arena_printf(arena, "ncu says %.40s, and it cannot be below 0", text);
    else if (value.number * scale > MOST_COUNT)
        value.reason = ifm_arena_printf(arena, "ncu says %.40s: the counter overflowed", text);
    value.number = value.reason == NULL ? value.number * scale : NAN;
    return value;
}

/* ---- rows ---- */

struct csv_row {
    const char **cells;
    size_t n, capacity;
};

struct csv_reading {
    const char *at, *end;
    struct ifm_arena *arena;
};

/* A cell, its quotes undone. False: a quote is not closed, or text follows it. */
static bool next_cell(struct csv_reading *r, const char **out)
{
    const bool quoted = r->at < r->end && *r->at == '"';
    const char *from = r->at + quoted, *to = from;
    if (!quoted) {
        while (to < r->end && *to != ',' && *to != '\n' && *to != '"')
            to++;
        r->at = to;
        if (to < r->end && *to == '"')
            return false;
        while (to > from && to[-1] == '\r')
            to--;
        *out = ifm_arena_printf(r->arena, "%.*s", (int)(to - from), from);
        return true;
    }
    char *cell = IFM_ARENA_ARRAY(r->arena, char, r->end - from + 1 > 4096 ? 4097 : r->end - from + 1);
    size_t n = 0;
    for (;; to++) {
        if (to >= r->end || *to == '\0')
            return false;
        if (*to == '"' && (to + 1 >= r->end || to[1] != '"'))
            break;
        to += *to == '"';
        if (n < 4096)
            cell[n++] = *to;
    }
    cell[n] = '\0';
    r->at = to + 1;
    while (r->at < r->end && *r->at == '\r')
        r->at++;
    *out = cell;
    return r->at == r->end || *r->at == ',' || *r->at == '\n';
}

/* False: no row of CSV. A row without cells is the end. */
static bool next_row(struct csv_reading *r, struct csv_row *row)
{
    row->n = 0;
    while (r->at < r->end) {
        const char *cell;
        if (row->n == MOST_CELLS || !next_cell(r, &cell))
            return false;
        IFM_ARENA_GROW(r->arena, row->cells, row->n, row->capacity);
        row->cells[row->n++] = cell;
        if (r->at == r->end || *r->at == '\n') {
            r->at += r->at < r->end;
            return true;
        }
        r->at++;
    }
    return true;
}

/* Lines of ncu and of the program, up to the table. */
static bool find_table(struct csv_reading *r)
{
    static const char head[] = "\"ID\",";
    while (r->at < r->end) {
        if ((size_t)(r->end - r->at) > sizeof head - 1 && memcmp(r->at, head, sizeof head - 1) == 0)
            return true;
        const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
        r->at = newline == NULL ? r->end : newline + 1;
    }
    return false;
}

/* A line between rows that is ncu's own, or empty. */
static bool skip_line(struct csv_reading *r)
{
    if (r->at >= r->end || *r->at == '"')
        return false;
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->at = newline == NULL ? r->end : newline + 1;
    return true;
}

/* ---- the table ---- */

struct ncu_columns {
    size_t id, process, kernel, capability; /* places; SIZE_MAX = none */
    size_t name, unit, value;               /* of a table with a row a metric */
    size_t first;                           /* of a table with a row a launch: the first metric */
};

static size_t place_of(const struct csv_row *head, const char *name)
{
    for (size_t i = 0; i < head->n; i++)
        if (strcmp(head->cells[i], name) == 0)
            return i;
    return SIZE_MAX;
}

static bool find_columns(const struct csv_row *head, struct ncu_columns *out)
{
    *out = (struct ncu_columns){.id = place_of(head, "ID"),
                                .process = place_of(head, "Process ID"),
                                .kernel = place_of(head, "Kernel Name"),
                                .capability = place_of(head, "CC"),
                                .name = place_of(head, "Metric Name"),
                                .unit = place_of(head, "Metric Unit"),
                                .value = place_of(head, "Metric Value")};
    out->first = out->capability + 1;
    return out->id == 0 && out->process < head->n && out->kernel < head->n && out->capability < head->n &&
           (out->name == SIZE_MAX || (out->unit < head->n && out->value < head->n));
}

struct ncu_reading {
    struct csv_reading csv;
    struct csv_row head, units, row;
    struct ncu_columns columns;
    struct ifm_ncu_report *out;
    size_t metrics_capacity, units_capacity, launches_capacity;
    const char *id, *process; /* of the launch that was read last */
};

static size_t metric_of(struct ncu_reading *r, const char *name)
{
    struct ifm_ncu_report *out = r->out;
    const size_t at = ifm_names_add(out->names, name);
    if (at < out->n_metrics)
        return at;
    IFM_ARENA_GROW(r->csv.arena, out->units, out->n_metrics, r->units_capacity);
    IFM_ARENA_GROW(r->csv.arena, out->metrics, out->n_metrics, r->metrics_capacity);
    out->metrics[out->n_metrics] = name;
    out->units[out->n_metrics++] = "";
    return at;
}

static struct ifm_ncu_launch *launch_of(struct ncu_reading *r)
{
    struct ifm_ncu_report *out = r->out;
    const struct csv_row *row = &r->row;
    const char *id = row->cells[r->columns.id], *process = row->cells[r->columns.process];
    if (r->columns.name < row->n && r->id != NULL && strcmp(id, r->id) == 0 && strcmp(process, r->process) == 0)
        return &out->launches[out->n_launches - 1];
    IFM_ARENA_GROW(r->csv.arena, out->launches, out->n_launches, r->launches_capacity);
    out->launches[out->n_launches] = (struct ifm_ncu_launch){.kernel = row->cells[r->columns.kernel],
                                                             .capability = row->cells[r->columns.capability]};
    r->id = id;
    r->process = process;
    return &out->launches[out->n_launches++];
}

static void put(struct ncu_reading *r, struct ifm_ncu_launch *launch, size_t metric, const char *text, const char *unit)
{
    if (metric >= launch->n_values) { /* a row a metric: as many as there have been */
        struct ifm_ncu_value *more = IFM_ARENA_ARRAY(r->csv.arena, struct ifm_ncu_value, 2 * (metric + 1));
        for (size_t i = 0; i < 2 * (metric + 1); i++)
            more[i] = i < launch->n_values ? launch->values[i] : (struct ifm_ncu_value){NAN, "the report lacks it"};
        launch->values = more;
        launch->n_values = 2 * (metric + 1);
    }
    launch->values[metric] = ifm_ncu_number(text, unit, &r->out->units[metric], r->csv.arena);
}

/* Whether a cell is a number of the profiler, not a word or a fact of the card that nothing is made of. */
static bool is_metric(const char *name)
{
    if (strcmp(name, IFM_NCU_MEMORY_KHZ) == 0 || strcmp(name, IFM_NCU_MEMORY_BITS) == 0)
        return true;
    return strstr(name, "__") != NULL && strncmp(name, "device__", 8) != 0 && strncmp(name, "launch__", 8) != 0 &&
           strncmp(name, "nvlink__", 8) != 0 && strncmp(name, "numa__", 6) != 0 && strncmp(name, "c2clink__", 9) != 0;
}

static bool take_row(struct ncu_reading *r)
{
    const struct ncu_columns *c = &r->columns;
    if (r->row.n != r->head.n)
        return false;
    struct ifm_ncu_launch *launch = launch_of(r);
    if (c->name < r->row.n) {
        if (is_metric(r->row.cells[c->name]))
            put(r, launch, metric_of(r, r->row.cells[c->name]), r->row.cells[c->value], r->row.cells[c->unit]);
        return true;
    }
    for (size_t i = r->head.n; i-- > c->first;) /* the last first: room for all at once */
        if (is_metric(r->head.cells[i]))
            put(r, launch, metric_of(r, r->head.cells[i]), r->row.cells[i], r->units.n > i ? r->units.cells[i] : "");
    return true;
}

static bool read_table(struct ncu_reading *r)
{
    if (!next_row(&r->csv, &r->head) || !find_columns(&r->head, &r->columns))
        return false;
    if (r->columns.name == SIZE_MAX && (!next_row(&r->csv, &r->units) || r->units.n != r->head.n))
        return false;
    while (r->csv.at < r->csv.end) {
        if (skip_line(&r->csv))
            continue;
        if (!next_row(&r->csv, &r->row) || !take_row(r))
            return false;
    }
    return r->out->n_launches > 0;
}

enum ifm_status ifm_ncu_read(const char *text, size_t size, const char *where, struct ifm_arena *arena,
                             struct ifm_ncu_report *out, struct ifm_error *error)
{
    *out = (struct ifm_ncu_report){.names = ifm_names_create(arena)};
    struct ncu_reading r = {.csv = {text, text + size, arena}, .out = out};
    if (!find_table(&r.csv))
        return ifm_fail(error, IFM_INVALID, where, HINT, "it holds no table of ncu");
    if (!read_table(&r))
        return ifm_fail(error, IFM_INVALID, where, HINT, "the table of ncu in it is broken, or was cut");
    return IFM_OK;
}

struct ifm_ncu_value ifm_ncu_value_of(const struct ifm_ncu_report *report, const struct ifm_ncu_launch *launch,
                                      const char *metric)
{
    const size_t at = ifm_names_find(report->names, metric);
    if (at >= launch->n_values)
        return (struct ifm_ncu_value){NAN, "the report lacks it"};
    return launch->values[at];
}
