/* The rows of a trace. */
#include "sample/activity.h"

#include "base/file.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t)1 << 30)
enum { NUMBERS = 6, FIELDS = NUMBERS + 3 };

char *ifm_activity_path(const char *dir, unsigned cell, struct ifm_arena *arena)
{
    return ifm_path_join(arena, dir, ifm_arena_printf(arena, "samples/%u-trace-activity.csv", cell));
}

/* The fields of a line, cut at its commas; false where there are more or fewer. */
static bool cut(char *line, const char **fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fields[i] = line;
        char *comma = strchr(line, ',');
        if ((comma == NULL) != (i + 1 == n))
            return false;
        if (comma == NULL)
            return true;
        *comma = '\0';
        line = comma + 1;
    }
    return true;
}

static bool parse_line(char *line, bool with_arm, struct ifm_activity_line *out)
{
    const char *fields[FIELDS] = {"0"};
    uint64_t arm = 0;
    uint64_t *const numbers[NUMBERS] = {&out->start, &out->end,   &out->correlation,
                                        &out->place, &out->graph, &out->bytes};
    if (!cut(line, fields + !with_arm, FIELDS - !with_arm) || !ifm_parse_u64(fields[0], &arm) || arm > UINT32_MAX)
        return false;
    out->arm = (unsigned)arm;
    out->kind = fields[1];
    for (size_t i = 0; i < NUMBERS; i++)
        if (!ifm_parse_u64(fields[2 + i], numbers[i]))
            return false;
    out->name = fields[FIELDS - 1];
    return out->end >= out->start;
}

enum ifm_status ifm_activity_parse(char *text, const char *where, bool with_arm, struct ifm_arena *arena,
                                   struct ifm_activity_file *out, struct ifm_error *error)
{
    const char *header = with_arm ? IFM_ACTIVITY_HEADER : IFM_ACTIVITY_COLUMNS;
    size_t rows = 0, number = 1;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        rows++;
    *out = (struct ifm_activity_file){IFM_ARENA_ARRAY(arena, struct ifm_activity_line, rows + 1), 0};
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1, number++) {
        *end = '\0';
        const bool fits = number == 1 ? strcmp(line, header) == 0 : parse_line(line, with_arm, &out->lines[out->n]);
        if (!fits)
            return ifm_fail(error, IFM_INVALID, where, "measure again", "line %zu is no row of a trace", number);
        out->n += number > 1;
    }
    return number > 1 ? IFM_OK : ifm_fail(error, IFM_INVALID, where, "measure again", "it has no header");
}

enum ifm_status ifm_activity_read(const char *path, bool with_arm, struct ifm_arena *arena,
                                  struct ifm_activity_file *out, struct ifm_sha256 *sha256, struct ifm_error *error)
{
    char *data, *kept;
    size_t size;
    IFM_TRY(ifm_file_read(path, MOST_BYTES, &data, &size, error));
    if (sha256 != NULL)
        *sha256 = ifm_sha256_bytes(data, size);
    kept = IFM_ARENA_ARRAY(arena, char, size + 1);
    memcpy(kept, data, size + 1);
    free(data);
    return ifm_activity_parse(kept, path, with_arm, arena, out, error);
}
