/* Rows of a trace: what is read has the same values when it is written and read again. The first byte says whether rows
 * begin with an arm. */
#include "base/error.h"
#include "sample/activity.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy that ends exactly behind its NUL, so that a read beyond it is seen. */
static char *copy_of(const char *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

static bool is_plain(const char *name)
{
    for (; *name != '\0'; name++)
        if ((unsigned char)*name < ' ' || *name == '"')
            return false;
    return true;
}

static void write_row(FILE *file, const struct ifm_activity_line *line, bool with_arm)
{
    const uint64_t numbers[6] = {line->start, line->end, line->correlation, line->place, line->graph, line->bytes};
    if (with_arm)
        fprintf(file, "%u,", line->arm);
    ifm_activity_write(file, line->kind, numbers, line->name);
}

static void check_again(const struct ifm_activity_file *read, bool with_arm, struct ifm_arena *arena)
{
    struct ifm_activity_file again;
    struct ifm_error error;
    char *data = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&data, &size);
    if (file == NULL)
        abort();
    fprintf(file, "%s\n", with_arm ? IFM_ACTIVITY_HEADER : IFM_ACTIVITY_COLUMNS);
    for (size_t i = 0; i < read->n; i++)
        write_row(file, &read->lines[i], with_arm);
    if (fclose(file) != 0 || ifm_activity_parse(data, "again", with_arm, arena, &again, &error) != IFM_OK ||
        again.n != read->n)
        abort();
    for (size_t i = 0; i < read->n; i++) {
        const struct ifm_activity_line *a = &read->lines[i], *b = &again.lines[i];
        if (a->arm != b->arm || a->start != b->start || a->end != b->end || a->end < a->start ||
            a->correlation != b->correlation || a->place != b->place || a->graph != b->graph || a->bytes != b->bytes ||
            strcmp(a->kind, b->kind) != 0 || (is_plain(a->name) && strcmp(a->name, b->name) != 0))
            abort();
    }
    free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_activity_file read;
    struct ifm_error error;
    if (size == 0)
        return 0;
    const bool with_arm = data[0] == 'a';
    char *text = copy_of((const char *)data + 1, size - 1);
    struct ifm_arena *arena = ifm_arena_create();
    if (ifm_activity_parse(text, "fuzz", with_arm, arena, &read, &error) == IFM_OK)
        check_again(&read, with_arm, arena);
    ifm_arena_destroy(arena);
    free(text);
    return 0;
}
