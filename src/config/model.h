/* Shapes of models: the public ones of data/models, and any config.json of Hugging Face.
 *
 * Reads a file, and nothing of the machine. Thread rule: no shared state. */
#ifndef IFM_CONFIG_MODEL_H
#define IFM_CONFIG_MODEL_H

#include "base/arena.h"
#include "base/error.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the name of a model begins that was read from a file: there is none to look up. */
#define IFM_MODEL_OF_FILE "config.json of "

struct ifm_model {
    const char *name; /* "llama-3-8b"; of a file its name and type: the folder that it lies in is nobody's business */
    uint64_t layers, q_heads, kv_heads, head_dim; /* layers 0, as weights: not all of them attend to the whole cache */
    /* Weights that each token reads: matrices alone, of experts those that one token takes, without the table of
     * embeddings, of which it reads a row. No implementation reads fewer bytes in this format. */
    uint64_t weight_bits; /* of one weight */
    uint64_t weight_bytes;
};

/* The config.json itself; `of_file`: it was read from a file, else known by its name. The root is the caller's. */
IFM_CHECKED enum ifm_status ifm_model_read(const char *text, const char *where, struct ifm_arena *arena, json_t **out,
                                           bool *of_file, struct ifm_error *error);
/* `text` is a known name or the path of a file whose name ends in .json. An unknown name is an error that lists those
 * that are known. Texts live in the arena. */
IFM_CHECKED enum ifm_status ifm_model_find(const char *text, const char *where, struct ifm_arena *arena,
                                           struct ifm_model *out, struct ifm_error *error);

#endif
