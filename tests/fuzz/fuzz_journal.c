/* Any bytes as run.log: one error that names the file, or events that are still the same when the journal was opened
 * again, its torn last line cut off, and one more event written. */
#include "sample/journal.h"
#include "tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static json_t *read_events(enum ifm_status *status)
{
    struct ifm_error error = {0};
    json_t *events = NULL;
    *status = ifm_journal_read(tree_root(), &events, &error);
    if (*status != IFM_OK && (*status != IFM_INVALID || error.message[0] == '\0' || events != NULL ||
                              strncmp(error.where, tree_root(), strlen(tree_root())) != 0))
        abort();
    return events;
}

static void go_on(const json_t *before, enum ifm_status status)
{
    struct ifm_journal *journal = NULL;
    struct ifm_error error = {0};
    enum ifm_status after;
    if (ifm_journal_open(tree_root(), &journal, &error) != IFM_OK ||
        ifm_journal_add_new(journal, "fuzz", true, NULL, &error) != IFM_OK)
        abort();
    ifm_journal_close(journal);
    json_t *events = read_events(&after);
    if (after != status || (status == IFM_OK && json_array_size(events) != json_array_size(before) + 1))
        abort();
    for (size_t i = 0; i < json_array_size(before); i++)
        if (!json_equal(json_array_get(before, i), json_array_get(events, i)))
            abort();
    json_decref(events);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum ifm_status status;
    tree_root();
    if (!tree_write("run.log", (const char *)data, size))
        abort();
    json_t *events = read_events(&status);
    go_on(events, status);
    json_decref(events);
    return 0;
}
