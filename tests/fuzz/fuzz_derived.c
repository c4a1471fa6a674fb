/* Any JSON as derived.json: one error that names the file, or numbers that are written as what they were read from. */
#include "base/arena.h"
#include "derive/derive.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static json_t *read_and_write(const json_t *json, struct ifm_arena *arena)
{
    struct ifm_derived *derived = NULL;
    struct ifm_error error = {0};
    if (ifm_derived_from_json(json, "derived.json", arena, &derived, &error) != IFM_OK) {
        if (error.code != IFM_INVALID || error.message[0] == '\0' || strncmp(error.where, "derived.json", 12) != 0)
            abort();
        return NULL;
    }
    for (size_t i = 0; i < derived->n_numbers; i++) {
        const struct ifm_number *number = &derived->numbers[i];
        if (ifm_derived_find(derived, number->cell, number->arm, number->metric) == NULL)
            abort();
    }
    json_t *written = ifm_derived_to_json(derived);
    if (written == NULL)
        abort();
    return written;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_arena *arena = ifm_arena_create();
    json_t *json = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    json_t *once = json == NULL ? NULL : read_and_write(json, arena);
    json_t *twice = once == NULL ? NULL : read_and_write(once, arena);
    /* Not `json` itself: 1 and 1.0 are the same number. */
    if (once != NULL && !json_equal(once, twice))
        abort();
    json_decref(json);
    json_decref(once);
    json_decref(twice);
    ifm_arena_destroy(arena);
    return 0;
}
