/* Files of any content as a machine's /proc and /sys: a fingerprint that is JSON, and a doctor each of whose rows says
 * what, in which state, and why. */
#include "host/host.h"
#include "host/probe.h"
#include "tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* What jansson cannot make of bytes is NULL, and would be missing where it was to stand. */
static void check_printable(json_t *value)
{
    struct ifm_text text = {0};
    json_t *again = NULL;
    must(value != NULL);
    ifm_json_print(value, false, &text);
    must(ifm_json_parse(text.data, text.size, "fuzz", &again, NULL) == IFM_OK);
    must(json_equal(value, again));
    json_decref(again);
    ifm_text_free(&text);
}

static void check_rows(const json_t *rows)
{
    size_t i;
    const json_t *row;
    must(json_array_size(rows) >= 10);
    json_array_foreach(rows, i, row)
    {
        const char *state = json_string_value(json_object_get(row, "state"));
        must(json_string_value(json_object_get(row, "what")) != NULL && state != NULL);
        must(strcmp(state, "ok") == 0 || strcmp(state, "warn") == 0 || strcmp(state, "absent") == 0);
        must(json_string_length(json_object_get(row, "detail")) > 0);
        must(json_is_string(json_object_get(row, "remedy")));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tree_make(data, size);
    json_t *fingerprint = ifm_host_fingerprint(tree_root()), *rows = ifm_host_doctor(tree_root());
    json_t *load = ifm_probe_load(tree_root()), *locks = ifm_host_locks(tree_root());
    check_printable(fingerprint);
    check_printable(load);
    check_printable(locks);
    check_printable(rows);
    check_rows(rows);
    json_decref(fingerprint);
    json_decref(load);
    json_decref(locks);
    json_decref(rows);
    tree_clear();
    return 0;
}
