/* The ceilings that a cell was held against, and the caches that a cell of probes found. */
#include "document/build.h"

#include "document/quantity.h"
#include "model/machine_facts.h"
#include "model/plan_json.h"
#include <stdlib.h>

void ifm_cell_ceilings(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section)
{
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_FACTS);
    for (int kind = IFM_CEILING_READ; kind < IFM_CEILINGS; kind++) {
        enum ifm_metric_id metric = ifm_ceiling_metrics[kind];
        const struct ifm_value *value = ifm_value_of(builder, cell, NULL, metric);
        size_t probes = 0;
        if (value == NULL)
            continue;
        for (size_t a = 0; a < cell->n_arms; a++)
            probes += (int)cell->arms[a].ceiling == kind;
        struct ifm_field field = ifm_field_value(builder, value);
        struct ifm_line *line = &ifm_add_item(builder, list)->line;
        ifm_say(builder, line, IFM_TONE_PLAIN, "Measured ceiling, %s: ", ifm_ceiling_name((enum ifm_ceiling)kind));
        ifm_say(builder, line, IFM_TONE_STRONG, "%s", field.text);
        line->spans[line->n - 1].note = field.note;
        if (field.interval[0] != '\0')
            ifm_say(builder, line, IFM_TONE_PLAIN, " %s", field.interval);
        bool named = value->state == IFM_STATE_OK && !ifm_is_empty(value->text);
        if (named && probes > 1)
            ifm_say(builder, line, IFM_TONE_PLAIN, " (best of %zu: %s)", probes, value->text);
        else if (named)
            ifm_say(builder, line, IFM_TONE_PLAIN, " (%s)", value->text);
        const struct ifm_value *moved = ifm_value_of(builder, cell, NULL, IFM_M_CEILING_READ_MOVED_PERCENT);
        if (kind == IFM_CEILING_READ && ifm_is_ok(moved))
            ifm_say(builder, line, IFM_TONE_PLAIN, "; it moved by %s (10th to 90th percentile)",
                    ifm_quantity_number(moved, builder->arena));
        const struct ifm_value *clock = ifm_value_of(builder, cell, NULL, IFM_M_CEILING_FLOPS_CLOCK);
        if (kind == IFM_CEILING_FLOPS && ifm_is_ok(clock))
            ifm_say(builder, line, IFM_TONE_PLAIN, " at %s", ifm_quantity_number(clock, builder->arena));
    }
    /* The interval of a share is the arm's alone; this is what moves it more. */
    if (list->n_items > 0 && builder->from->plan->machine != NULL && builder->from->plan->machine->gpu == NULL &&
        ifm_was_loaded(builder->from->events))
        ifm_say(builder, &ifm_add_item(builder, list)->line, IFM_TONE_PLAIN,
                "Other programs ran: on a quiet machine these ceilings are higher, and shares of them other ones");
}

static struct ifm_field bytes_field(struct ifm_builder *builder, double bytes)
{
    struct ifm_value value = {.number = bytes, .is_integer = true, .unit = "B"};
    return bytes > 0 ? ifm_field_text(ifm_quantity_number(&value, builder->arena), IFM_TONE_PLAIN)
                     : ifm_field_text("not reported", IFM_TONE_DIM);
}

/* Cache sizes as found by the sweep, beside those that the system reports. */
static void add_caches(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section)
{
    struct ifm_grid grid = ifm_grid_make(builder->arena, 3, IFM_CACHES_SHOWN);
    static const struct ifm_heading headings[] = {
        {"cache", IFM_M_NONE, true, 0}, {"found", IFM_M_NONE, false, 0}, {"reported", IFM_M_NONE, false, 0}};
    memcpy(grid.headings, headings, sizeof headings);
    grid.look = IFM_GRID_SMALL;
    struct ifm_fingerprint host = ifm_fingerprint_of(builder->from->events);
    grid.n_rows = 0;
    for (int level = 1; level <= IFM_CACHES_SHOWN; level++) {
        const struct ifm_value *value = ifm_value_of(builder, cell, NULL, ifm_cache_metrics[level - 1]);
        if (value == NULL)
            continue;
        size_t row = grid.n_rows++;
        *ifm_grid_at(&grid, row, 0) = ifm_field_text(ifm_arena_printf(builder->arena, "L%d", level), IFM_TONE_STRONG);
        *ifm_grid_at(&grid, row, 1) = ifm_field_value(builder, value);
        *ifm_grid_at(&grid, row, 2) = bytes_field(builder, ifm_fingerprint_cache(&host, level));
    }
    ifm_add_grid(builder, section, &grid);
}

struct probe {
    double bytes;
    struct ifm_point point;
};

static int by_size(const void *a, const void *b)
{
    const struct probe *p = a, *q = b;
    return (p->bytes > q->bytes) - (p->bytes < q->bytes);
}

/* The page has it as a figure. */
static void add_curve(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section)
{
    struct probe *probes = IFM_ARENA_ARRAY(builder->arena, struct probe, cell->n_arms + 1);
    size_t n = 0;
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_value *load = ifm_value_of(builder, cell, &cell->arms[a], IFM_M_LOAD_NS);
        double bytes = (double)cell->arms[a].working_set;
        if (ifm_is_ok(load))
            probes[n++] = (struct probe){
                bytes, {bytes_field(builder, bytes).text, ifm_quantity_full(load, builder->arena), load->number}};
    }
    if (n == 0)
        return;
    qsort(probes, n, sizeof *probes, by_size);
    struct ifm_point *points = IFM_ARENA_ARRAY(builder->arena, struct ifm_point, n);
    for (size_t i = 0; i < n; i++)
        points[i] = probes[i].point;
    struct ifm_block *curve = ifm_add_block(builder, section, IFM_LEVEL_ALWAYS, IFM_BLOCK_CURVE);
    curve->title = "load time by working set";
    curve->points = points;
    curve->n_points = n;
    curve->elsewhere = true;
}

void ifm_cell_caches(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section)
{
    add_caches(builder, cell, section);
    add_curve(builder, cell, section);
}
