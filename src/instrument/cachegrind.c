/* Cachegrind: its arguments and its file. */
#include "instrument/cachegrind.h"

#include "base/param.h"
#include "base/subprocess.h"
#include "base/text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_MOST (UINT64_C(1) << 30)

static const char events_line[] = "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw";
static const char AGAIN[] = "run it again";

/* ---- what to run ---- */

static bool is_power(uint64_t number)
{
    return number > 0 && (number & (number - 1)) == 0;
}

enum ifm_status ifm_cachegrind_cache_parse(const char *text, const char *where, struct ifm_arena *arena,
                                           struct ifm_cachegrind_cache *out, struct ifm_error *error)
{
    const struct ifm_list parts = ifm_param_split(text, arena);
    char shown[72];
    const bool read = parts.n == 3 && ifm_parse_bytes(parts.items[0], &out->bytes) &&
                      ifm_parse_u64(parts.items[1], &out->ways) && ifm_parse_u64(parts.items[2], &out->line);
    if (read && out->bytes <= CACHE_MOST && out->ways >= 1 && out->ways <= 1024 && is_power(out->line) &&
        out->line >= 32 && out->line <= 4096 && out->bytes % (out->ways * out->line) == 0 &&
        is_power(out->bytes / (out->ways * out->line)))
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, where, "give size, ways and bytes of a line, such as 1MiB,16,64",
                    "\"%s\" is no cache: its sets must be a power of two", ifm_param_shown(text, shown));
}

enum ifm_status ifm_cachegrind_find(char *path, size_t size, struct ifm_error *error)
{
    if (ifm_subprocess_find("valgrind", path, size, NULL) == IFM_OK)
        return IFM_OK;
    return ifm_fail(error, IFM_MISSING, "", "apt-get install valgrind", "valgrind is not installed");
}

static const char *level(const char *name, const struct ifm_cachegrind_cache *cache, struct ifm_arena *arena)
{
    return ifm_arena_printf(arena, "--%s=%" PRIu64 ",%" PRIu64 ",%" PRIu64, name, cache->bytes, cache->ways,
                            cache->line);
}

const char **ifm_cachegrind_arguments(const char *valgrind, const struct ifm_cachegrind_geometry *geometry,
                                      const char *out, struct ifm_arena *arena)
{
    const char *const words[] = {
        valgrind,
        "--tool=cachegrind",
        "--log-file=/dev/null", /* its own messages; the program's are on its standard error */
        "--cache-sim=yes",
        "--branch-sim=no",
        level("I1", &geometry->first, arena),
        level("D1", &geometry->first, arena),
        level("LL", &geometry->last, arena),
        ifm_arena_printf(arena, "--cachegrind-out-file=%s", out),
        NULL,
    };
    const char **list = IFM_ARENA_ARRAY(arena, const char *, sizeof words / sizeof *words);
    memcpy(list, words, sizeof words);
    return list;
}

/* ---- its file ---- */

/* Where the reading stands. */
struct output_reading {
    const char *at, *end;
    bool events, summary, counts_here; /* counts_here: in the function that is asked for */
    struct ifm_cachegrind_counts sum, own, said;
};

static bool begins(const char *line, size_t length, const char *word)
{
    const size_t own = strlen(word);
    return length >= own && memcmp(line, word, own) == 0;
}

/* A whole number and the blanks behind it. */
static bool take_number(const char **at, const char *end, uint64_t *out)
{
    const char *from = *at;
    *out = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
        if (__builtin_mul_overflow(*out, UINT64_C(10), out) ||
            __builtin_add_overflow(*out, (uint64_t)(**at - '0'), out))
            return false;
    const bool any = *at > from;
    while (*at < end && **at == ' ')
        (*at)++;
    return any;
}

/* Nine numbers to the end of the line; those at the end that are 0 may be left out. */
static bool take_counts(const char *at, const char *end, struct ifm_cachegrind_counts *out)
{
    *out = (struct ifm_cachegrind_counts){{0}};
    for (size_t i = 0; i < IFM_CG_EVENTS && at < end; i++)
        if (!take_number(&at, end, &out->events[i]))
            return false;
    return at == end;
}

static bool add(struct ifm_cachegrind_counts *sum, const struct ifm_cachegrind_counts *more)
{
    bool fits = true;
    for (size_t i = 0; i < IFM_CG_EVENTS; i++)
        fits &= !__builtin_add_overflow(sum->events[i], more->events[i], &sum->events[i]);
    return fits;
}

/* False: no line of such a file. */
static bool read_line(struct output_reading *r, const char *line, size_t length, const char *function)
{
    const char *at = line, *end = line + length;
    struct ifm_cachegrind_counts counts;
    uint64_t number;
    if (length == 0 || begins(line, length, "desc:") || begins(line, length, "cmd:") || begins(line, length, "fl="))
        return !r->summary;
    if (begins(line, length, "events: ")) {
        while (end > line && end[-1] == ' ')
            end--;
        const bool known =
            (size_t)(end - line) == 8 + strlen(events_line) && memcmp(line + 8, events_line, strlen(events_line)) == 0;
        const bool first = !r->events;
        r->events = true;
        return known && first;
    }
    if (begins(line, length, "fn=")) {
        r->counts_here =
            function != NULL && length == 3 + strlen(function) && memcmp(line + 3, function, length - 3) == 0;
        return r->events && !r->summary;
    }
    if (begins(line, length, "summary: ")) {
        const bool first = !r->summary;
        r->summary = true;
        return r->events && first && take_counts(line + 9, end, &r->said);
    }
    return r->events && !r->summary && take_number(&at, end, &number) && take_counts(at, end, &counts) &&
           add(&r->sum, &counts) && (!r->counts_here || add(&r->own, &counts));
}

enum ifm_status ifm_cachegrind_read(const char *text, size_t size, const char *function,
                                    struct ifm_cachegrind_counts *out, struct ifm_error *error)
{
    struct output_reading r = {.at = text, .end = text + size};
    size_t number = 1;
    for (; r.at < r.end; number++) {
        const char *line = r.at, *newline = memchr(line, '\n', (size_t)(r.end - line));
        const size_t length = (size_t)((newline == NULL ? r.end : newline) - line);
        r.at = newline == NULL ? r.end : newline + 1;
        if (newline == NULL || !read_line(&r, line, length, function))
            return ifm_fail(error, IFM_INVALID, "cachegrind", AGAIN, "line %zu of its file is none that it writes",
                            number);
    }
    if (!r.summary)
        return ifm_fail(error, IFM_INVALID, "cachegrind", AGAIN, "its file has no summary: it was cut");
    if (memcmp(&r.sum, &r.said, sizeof r.sum) != 0)
        return ifm_fail(error, IFM_INVALID, "cachegrind", AGAIN, "the summary of its file is not the sum of its lines");
    *out = function == NULL ? r.said : r.own;
    return IFM_OK;
}

/* Valgrind puts a library of its own in front of every program that it runs. */
bool ifm_cachegrind_is_around(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded != NULL && strstr(preloaded, "vgpreload_") != NULL;
}
