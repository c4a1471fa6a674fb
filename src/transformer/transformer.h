/* The shape of a transformer, and what follows from it: its parameters, and the operations of a prompt and of generated
 * tokens.
 *
 * Counted are products of matrices and attention, a multiplication with its addition as two operations; left out are
 * norms, softmax, activations, rotations and biases, together below 1 % of a model of any size that is used. Operations
 * do not depend on how weights are stored: quantized ones are multiplied at compute precision.
 *
 * Reads no file and nothing of the machine. Numbers are doubles: whole ones up to 2^53. Thread rule: no shared state.
 */
#ifndef IFM_TRANSFORMER_TRANSFORMER_H
#define IFM_TRANSFORMER_TRANSFORMER_H

#include "base/arena.h"
#include "base/error.h"
#include "tensor/gguf.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes are below 2^24, widths below 2^48. */
struct ifm_transformer {
    const char *family;    /* "llama", as its config or header says */
    bool encoder;          /* each token sees all others, and none is generated */
    bool text_part;        /* of a model of text and images; nothing else of it is counted */
    const char *quantized; /* how weights are stored where that is no plain number; NULL = as numbers */
    uint64_t layers, hidden;
    uint64_t q_width, kv_width; /* heads x size of a head, of queries, and of keys or values */
    uint64_t windowed, window;  /* layers whose tokens see the last `window` tokens alone, themselves included */
    uint64_t matrices;          /* of a feed-forward layer: 3 = gated, 2 = not */
    uint64_t inner;             /* of the feed-forward layers that have no experts */
    uint64_t moe_layers, experts, active; /* layers with experts, how many there are, how many a token goes through */
    uint64_t expert_inner, shared_inner;  /* of one expert; of what every token goes through beside them, 0 = nothing */
    uint64_t router;                      /* elements of the matrix that chooses experts, of one layer */
    uint64_t vocabulary;
    bool tied;                /* the LM head is the table of embeddings */
    uint64_t head, transform; /* elements of the LM head, and of the matrix before it; 0 = it has none */
    uint64_t pooler;          /* elements of a matrix that multiplies one token of a sequence */
    double vectors;           /* parameters in no product: biases, norms, tables of positions */
};

/* All parameters of the shape. */
double ifm_transformer_parameters(const struct ifm_transformer *model);
/* Those that a token is multiplied by: without the table of embeddings and experts that it does not go through, with
 * the LM head. */
double ifm_transformer_active(const struct ifm_transformer *model);

/* ---- operations ---- */

/* The pass over the prompt makes the first generated token; each of the others takes a pass of its own. */
struct ifm_flops_tokens {
    uint64_t prompt, generated, batch; /* of each sequence; sequences */
};

enum ifm_flops_part {
    IFM_FLOPS_SCORES = 0,  /* queries times keys, and weights times values */
    IFM_FLOPS_PROJECTIONS, /* of queries, keys, values and outputs of attention */
    IFM_FLOPS_FORWARD,     /* feed-forward layers, with what chooses experts */
    IFM_FLOPS_HEAD,        /* LM head, or pooler */
    IFM_FLOPS_PARTS
};

/* Of a phase; all sequences of the batch together. */
struct ifm_flops {
    double parts[IFM_FLOPS_PARTS];
    double tokens; /* that went through the model */
};
double ifm_flops_sum(const struct ifm_flops *flops);
/* The prompt's pass, and the passes for generated tokens after the first. */
struct ifm_flops ifm_flops_prompt(const struct ifm_transformer *model, const struct ifm_flops_tokens *tokens);
struct ifm_flops ifm_flops_generated(const struct ifm_transformer *model, const struct ifm_flops_tokens *tokens);

void ifm_flops_add(struct ifm_flops *sum, const struct ifm_flops *more);
/* The batch in which sequences of several lengths are computed together: each is padded to the longest prompt, and goes
 * on until the longest answer has ended. */
struct ifm_flops_tokens ifm_flops_padded(const struct ifm_flops_tokens *sequences, size_t n);

/* What 2 x parameters x tokens has that the shape has not (above 0), and the other way round. */
enum ifm_flops_gap {
    IFM_GAP_TABLE = 0, /* embeddings and positions are looked up, not multiplied; vectors are no product */
    IFM_GAP_EXPERTS,   /* experts that a token does not go through */
    IFM_GAP_HEAD,      /* tokens of which no scores of the vocabulary are made */
    IFM_GAP_SCORES,    /* attention has products without parameters */
    IFM_GAPS
};
/* Whose sum is 2 x parameters x tokens - all operations, with the shape's own parameters. */
void ifm_flops_gaps(const struct ifm_transformer *model, const struct ifm_flops_tokens *tokens, double gaps[IFM_GAPS]);

/* ---- from what is known of a model ---- */

/* A config.json of Hugging Face, of the families in ifm_transformer_families. IFM_USAGE, with what to do: a family that
 * is not known, or a size that is missing or none. Texts live in the arena. */
IFM_CHECKED enum ifm_status ifm_transformer_of_config(const json_t *root, const char *where, struct ifm_arena *arena,
                                                      struct ifm_transformer *out, struct ifm_error *error);
/* "llama, mistral, ..." in the arena. */
const char *ifm_transformer_families(struct ifm_arena *arena);

/* A tensor of a file of weights, in the order of its format: GGUF has the inner dimension first, others last. */
struct ifm_weight {
    const char *name;
    const uint64_t *shape;
    unsigned rank;
    uint64_t elements;
    bool packed; /* several parameters in one element: their number is not known */
};

/* What the tensors of a model hold. */
struct ifm_weights {
    double parameters;  /* without what is no parameter: masks, numbers of positions, frequencies of rotations */
    double vectors;     /* those of them that are in no product */
    const char *packed; /* a tensor whose number of parameters is not known; NULL = there is none */
};
struct ifm_weights ifm_weights_count(const struct ifm_weight *weights, size_t n);

/* By the names and shapes of tensors alone, as safetensors files have them. IFM_USAGE: names that are not known, or a
 * size that no tensor has. */
IFM_CHECKED enum ifm_status ifm_transformer_of_weights(const struct ifm_weight *weights, size_t n, const char *where,
                                                       struct ifm_transformer *out, struct ifm_error *error);
/* By the header of a GGUF file; `n` = its tensors. */
IFM_CHECKED enum ifm_status ifm_transformer_of_gguf(const struct ifm_gguf *file, const struct ifm_weight *weights,
                                                    size_t n, struct ifm_arena *arena, struct ifm_transformer *out,
                                                    struct ifm_error *error);

#endif
