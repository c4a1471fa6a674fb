/* Two published texts, apart at the first zero byte: the comparison ends, is the same in both directions, and a text is
 * the same as itself; so are the tables and trees that are read from them. */
#include "publish/same.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same_texts(const char *a, size_t size_a, const char *b, size_t size_b)
{
    struct ifm_error error = {0};
    const struct ifm_same how = {.file = "report.csv", .words = true};
    const struct ifm_text record = {.data = (char *)b, .size = size_b};
    return ifm_same_texts(&how, a, size_a, &record, &error) == IFM_OK;
}

static bool same_trees(const json_t *a, const json_t *b, bool words)
{
    struct ifm_error error = {0};
    const struct ifm_same how = {.file = "report.csv", .words = words, .arena = ifm_arena_create()};
    bool same = ifm_same_trees(&how, a, b, &error) == IFM_OK;
    ifm_arena_destroy(how.arena);
    return same;
}

static void must(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *a = (const char *)data, *gap = size == 0 ? NULL : memchr(a, '\0', size);
    size_t size_a = gap == NULL ? size : (size_t)(gap - a), size_b = gap == NULL ? 0 : size - size_a - 1;
    const char *b = gap == NULL ? "" : gap + 1;
    if (size == 0)
        a = "";
    must(same_texts(a, size_a, b, size_b) == same_texts(b, size_b, a, size_a));
    must(same_texts(a, size_a, a, size_a));
    json_t *table_a = ifm_same_table(a, size_a), *table_b = ifm_same_table(b, size_b);
    if (table_a != NULL && table_b != NULL) {
        must(same_trees(table_a, table_b, true) == same_trees(table_b, table_a, true));
        (void)same_trees(table_a, table_b, false);
        must(same_trees(table_a, table_a, true) && same_trees(table_b, table_b, false));
    }
    json_decref(table_a);
    json_decref(table_b);
    return 0;
}
