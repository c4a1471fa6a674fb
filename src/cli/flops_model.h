/* What `flops` reads of a model: its shape and its parameters, each or the reason why not. */
#ifndef IFM_CLI_FLOPS_MODEL_H
#define IFM_CLI_FLOPS_MODEL_H

#include "transformer/transformer.h"

struct ifm_flops_model {
    const char *name; /* a known name, or the base name of what was named */
    bool has_shape, has_parameters;
    struct ifm_transformer shape;
    const char *no_shape, *no_shape_remedy; /* why it has none */
    double parameters;                      /* of the tensors where they can be counted, else of the shape */
    double counted;                         /* of the tensors; 0 = there are none, or they cannot be counted */
    const char *packed;                     /* a tensor of which it is not known how many it holds; NULL = none */
    bool tensors_alone;                     /* the shape is that of tensors without a config */
};

/* `text` is a known name, a config.json, a GGUF or safetensors file, or a folder with such files. Texts live in the
 * arena. */
IFM_CHECKED enum ifm_status ifm_flops_model_read(const char *text, struct ifm_arena *arena, struct ifm_flops_model *out,
                                                 struct ifm_error *error);

#endif
