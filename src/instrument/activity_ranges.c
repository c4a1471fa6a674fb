/* Ranges of a traced program, by name: their rows alone are counted as those of a whole program are. */
#include "instrument/activity_ranges.h"

#include "base/names.h"
#include <stdlib.h>
#include <string.h>

/* Ranges of one name and thread that do not part: `times` of them, none inside another. */
struct range_span {
    size_t name;
    uint32_t thread;
    uint64_t from, to;
    size_t times;
};

struct range_spans {
    struct range_span *items;
    size_t n;
};

/* ---- where ranges are ---- */

struct range_end {
    uint32_t id;
    uint64_t at;
};

static int by_id(const void *a, const void *b)
{
    const uint32_t x = ((const struct range_end *)a)->id, y = ((const struct range_end *)b)->id;
    return x < y ? -1 : x > y;
}

/* By name, thread and start; of those that start at once the longest first. */
static int by_place(const void *a, const void *b)
{
    const struct range_span *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to > y->to ? -1 : x->to < y->to;
}

static size_t count_kind(const struct ifm_activity_row *rows, size_t n, enum ifm_activity_kind kind)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += rows[i].kind == kind;
    return found;
}

/* One inside another goes, and those that overlap become one. Sorted before and after. */
static void join_spans(struct range_spans *spans)
{
    size_t kept = 0;
    for (size_t i = 0; i < spans->n; i++) {
        const struct range_span *s = &spans->items[i];
        struct range_span *before = kept == 0 ? NULL : &spans->items[kept - 1];
        if (before == NULL || before->name != s->name || before->thread != s->thread || s->from >= before->to)
            spans->items[kept++] = *s;
        else if (s->to > before->to) {
            before->to = s->to;
            before->times++;
        }
    }
    spans->n = kept;
}

/* Ranges that ended, joined and sorted, and the texts of their names. */
static struct range_spans find_spans(const struct ifm_activity_row *rows, size_t n, const char ***texts,
                                     size_t *nameless, struct ifm_arena *arena)
{
    const size_t begins = count_kind(rows, n, IFM_ACTIVITY_BEGIN), most_ends = count_kind(rows, n, IFM_ACTIVITY_END);
    struct ifm_names *names = ifm_names_create(arena);
    struct range_end *ends = IFM_ARENA_ARRAY(arena, struct range_end, most_ends + 1);
    struct range_spans out = {IFM_ARENA_ARRAY(arena, struct range_span, begins + 1), 0};
    size_t n_ends = 0;
    *texts = IFM_ARENA_ARRAY(arena, const char *, begins + 1);
    for (size_t i = 0; i < n; i++)
        if (rows[i].kind == IFM_ACTIVITY_END)
            ends[n_ends++] = (struct range_end){rows[i].correlation, rows[i].start};
    qsort(ends, n_ends, sizeof *ends, by_id);
    for (size_t i = 0; i < n; i++) {
        const struct range_end key = {rows[i].correlation, 0}, *end = NULL;
        if (rows[i].kind == IFM_ACTIVITY_BEGIN && rows[i].name[0] != '\0')
            end = bsearch(&key, ends, n_ends, sizeof *ends, by_id);
        if (end == NULL || end->at < rows[i].start)
            continue;
        if (strcmp(rows[i].name, ifm_activity_nameless) == 0) {
            ++*nameless;
            continue;
        }
        const size_t name = ifm_names_add(names, rows[i].name);
        (*texts)[name] = rows[i].name;
        out.items[out.n++] = (struct range_span){name, rows[i].place, rows[i].start, end->at, 1};
    }
    qsort(out.items, out.n, sizeof *out.items, by_place);
    join_spans(&out);
    return out;
}

/* ---- what is inside ---- */

static int by_time(const void *key, const void *item)
{
    const struct range_span *at = key, *s = item;
    if (at->thread != s->thread)
        return at->thread < s->thread ? -1 : 1;
    return at->from < s->from ? -1 : at->from >= s->to;
}

static bool is_call_inside(const struct ifm_activity_row *row, const struct range_spans *spans)
{
    const struct range_span at = {.thread = row->place, .from = row->start};
    return (row->kind == IFM_ACTIVITY_CALL || row->kind == IFM_ACTIVITY_RUNTIME) &&
           bsearch(&at, spans->items, spans->n, sizeof *spans->items, by_time) != NULL;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Room for n rows in `rest` and for n numbers in `calls`, which are used again. */
static struct ifm_activity_counts count_inside(const struct ifm_activity_row *rows, size_t n,
                                               const struct range_spans *spans, struct ifm_activity_row *rest,
                                               uint32_t *calls)
{
    size_t n_calls = 0, n_rest = 0;
    for (size_t i = 0; i < n; i++)
        if (is_call_inside(&rows[i], spans))
            calls[n_calls++] = rows[i].correlation;
    qsort(calls, n_calls, sizeof *calls, by_number);
    for (size_t i = 0; i < n; i++)
        if (is_call_inside(&rows[i], spans) ||
            (rows[i].kind <= IFM_ACTIVITY_WAIT &&
             bsearch(&rows[i].correlation, calls, n_calls, sizeof *calls, by_number) != NULL))
            rest[n_rest++] = rows[i];
    return ifm_activity_count(rest, n_rest, 0, UINT64_MAX);
}

/* ---- of a name ---- */

struct ranges_of {
    struct range_spans spans;
    size_t times;
    int64_t ns;
};

static int by_length(const void *a, const void *b)
{
    const struct ranges_of *x = a, *y = b;
    return x->ns > y->ns ? -1 : x->ns < y->ns;
}

/* The spans of each name, the longest together first. */
static size_t share_out(const struct range_spans *spans, struct ranges_of *out)
{
    size_t names = 0;
    for (size_t i = 0; i < spans->n; i++) {
        const struct range_span *s = &spans->items[i];
        if (i == 0 || s->name != s[-1].name)
            out[names++] = (struct ranges_of){{&spans->items[i], 0}, 0, 0};
        out[names - 1].spans.n++;
        out[names - 1].times += s->times;
        out[names - 1].ns += (int64_t)(s->to - s->from);
    }
    qsort(out, names, sizeof *out, by_length);
    return names;
}

size_t ifm_activity_ranges(const struct ifm_activity_row *rows, size_t n, struct ifm_activity_range *out, size_t most,
                           struct ifm_activity_untold *untold)
{
    struct ifm_arena *arena = ifm_arena_create();
    const char **texts;
    *untold = (struct ifm_activity_untold){0, 0, 0};
    const struct range_spans spans = find_spans(rows, n, &texts, &untold->nameless, arena);
    struct ranges_of *of = IFM_ARENA_ARRAY(arena, struct ranges_of, spans.n + 1);
    const size_t names = share_out(&spans, of), told = names < most ? names : most, room = told == 0 ? 0 : n;
    struct ifm_activity_row *rest = IFM_ARENA_ARRAY(arena, struct ifm_activity_row, room);
    uint32_t *calls = IFM_ARENA_ARRAY(arena, uint32_t, room);
    for (size_t i = 0; i < told; i++)
        out[i] =
            (struct ifm_activity_range){texts[of[i].spans.items->name], of[i].times, of[i].ns,
                                        of[i].times > of[i].spans.n, count_inside(rows, n, &of[i].spans, rest, calls)};
    for (size_t i = told; i < names; i++) {
        untold->names++;
        untold->times += of[i].times;
    }
    ifm_arena_destroy(arena);
    return told;
}
