/* Any bytes as the config.json that --model names: one error with a way out, or a shape that can be measured and a name
 * that can be written down. */
#include "config/model.h"
#include "tree.h"
#include <jansson.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool is_size(uint64_t number)
{
    return number >= 1 && number <= 1 << 24;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_model model;
    struct ifm_error error = {0};
    char path[TREE_PATH];
    require(tree_write("config.json", (const char *)data, size));
    snprintf(path, sizeof path, "%s/config.json", tree_root());
    if (ifm_model_find(path, "--model", arena, &model, &error) == IFM_OK) {
        json_t *name = json_string(model.name); /* NULL where it is no UTF-8 */
        require(is_size(model.layers) && is_size(model.q_heads) && is_size(model.kv_heads) && is_size(model.head_dim));
        require(model.weight_bytes > 0 && model.weight_bytes < UINT64_C(1) << 53);
        require(name != NULL && json_string_length(name) > 0 && strstr(model.name, tree_root()) == NULL);
        json_decref(name);
    } else {
        require(error.code == IFM_USAGE && error.message[0] != '\0' && error.hint[0] != '\0');
    }
    ifm_arena_destroy(arena);
    return 0;
}
