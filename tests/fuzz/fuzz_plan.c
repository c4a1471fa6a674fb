/* Any JSON as plan.json: one error that names a place, or a plan that is written as what it was read from. */
#include "base/arena.h"
#include "model/plan_json.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static json_t *read_and_write(const json_t *json, struct ifm_arena *arena)
{
    struct ifm_plan *plan = NULL;
    struct ifm_error error = {0};
    if (ifm_plan_from_json(json, "plan.json", arena, &plan, &error) != IFM_OK) {
        if (error.code != IFM_INVALID || error.message[0] == '\0' || strncmp(error.where, "plan.json", 9) != 0)
            abort();
        return NULL;
    }
    json_t *written = ifm_plan_to_json(plan);
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
