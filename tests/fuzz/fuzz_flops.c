/* Any bytes as what `flops` reads of a model: a GGUF file ("GGUF..."), a config.json ("{..."), else a safetensors file;
 * and a folder of files, where a line "=== NAME" begins one. One error with a way out, or sizes whose parameters and
 * operations are numbers. */
#include "cli/flops_model.h"
#include "tree.h"
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_shape(const struct ifm_transformer *shape)
{
    const struct ifm_flops_tokens tokens = {1 << 24, 1 << 24, 1 << 20};
    const struct ifm_flops prompt = ifm_flops_prompt(shape, &tokens), rest = ifm_flops_generated(shape, &tokens);
    double gaps[IFM_GAPS], sum = 0;
    require(shape->family != NULL && shape->layers > 0 && shape->hidden > 0 && shape->vocabulary > 0);
    require(ifm_transformer_parameters(shape) > 0 && isfinite(ifm_transformer_parameters(shape)));
    require(ifm_transformer_active(shape) > 0 && ifm_transformer_active(shape) < 1e40);
    for (size_t i = 0; i < IFM_FLOPS_PARTS; i++)
        require(prompt.parts[i] >= 0 && rest.parts[i] >= 0);
    require(ifm_flops_sum(&prompt) > 0 && isfinite(ifm_flops_sum(&prompt)) && isfinite(ifm_flops_sum(&rest)));
    ifm_flops_gaps(shape, &tokens, gaps);
    for (size_t i = 0; i < IFM_GAPS; i++)
        sum += gaps[i];
    require(isfinite(sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_flops_model model;
    struct ifm_error error = {0};
    char path[TREE_PATH];
    const char *name = "model.safetensors";
    if (size > 3 && memcmp(data, "===", 3) == 0) {
        tree_make(data, size);
        name = NULL;
    } else {
        name = size > 3 && memcmp(data, "GGUF", 4) == 0 ? "model.gguf"
               : size > 0 && data[0] == '{'             ? "config.json"
                                                        : name;
        require(tree_write(name, (const char *)data, size));
    }
    snprintf(path, sizeof path, "%s%s%s", tree_root(), name == NULL ? "" : "/", name == NULL ? "" : name);
    if (ifm_flops_model_read(path, arena, &model, &error) == IFM_OK) {
        require(model.has_shape || (model.no_shape[0] != '\0' && model.has_parameters));
        require(model.name[0] != '\0' && !signbit(model.parameters));
        if (model.has_shape)
            check_shape(&model.shape);
    } else {
        require(error.code == IFM_USAGE && error.message[0] != '\0' && error.hint[0] != '\0');
    }
    tree_clear();
    ifm_arena_destroy(arena);
    return 0;
}
