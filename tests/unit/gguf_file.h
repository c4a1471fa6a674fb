/* Writes headers of GGUF files for tests, piece by piece. Include cmocka.h first. */
#ifndef IFM_UNIT_GGUF_FILE_H
#define IFM_UNIT_GGUF_FILE_H

#include "base/text.h"
#include <string.h>

enum { GGUF_U32 = 4, GGUF_I32 = 5, GGUF_F32 = 6, GGUF_TEXT = 8, GGUF_LIST = 9, GGUF_U64 = 10 };

static inline void gguf_number(struct ifm_text *out, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        const char byte = (char)(number >> 8 * i);
        ifm_text_append(out, &byte, 1);
    }
}

static inline void gguf_text(struct ifm_text *out, const char *text)
{
    gguf_number(out, strlen(text), 8);
    ifm_text_add(out, text);
}

static inline void gguf_begin(struct ifm_text *out, uint64_t tensors, uint64_t values)
{
    ifm_text_add(out, "GGUF");
    gguf_number(out, 3, 4);
    gguf_number(out, tensors, 8);
    gguf_number(out, values, 8);
}

static inline void gguf_u32(struct ifm_text *out, const char *key, uint32_t value)
{
    gguf_text(out, key);
    gguf_number(out, GGUF_U32, 4);
    gguf_number(out, value, 4);
}

static inline void gguf_word(struct ifm_text *out, const char *key, const char *value)
{
    gguf_text(out, key);
    gguf_number(out, GGUF_TEXT, 4);
    gguf_text(out, value);
}

/* Up to two dimensions, the inner one first; `outer` 0 = one alone. */
static inline void gguf_tensor(struct ifm_text *out, const char *name, uint64_t inner, uint64_t outer, uint32_t type)
{
    gguf_text(out, name);
    gguf_number(out, outer > 0 ? 2 : 1, 4);
    gguf_number(out, inner, 8);
    if (outer > 0)
        gguf_number(out, outer, 8);
    gguf_number(out, type, 4);
    gguf_number(out, 0, 8);
}

enum { GGUF_SMALL_TENSORS = 23, GGUF_SMALL_VALUES = 9 };

/* A llama: hidden 8, 2 layers, 4 heads of 2, one of keys, inner 16, 10 words; `type` of its matrices. */
static inline void gguf_small(struct ifm_text *out, uint32_t type)
{
    gguf_begin(out, GGUF_SMALL_TENSORS, GGUF_SMALL_VALUES);
    gguf_word(out, "general.architecture", "llama");
    gguf_u32(out, "llama.block_count", 2);
    gguf_u32(out, "llama.embedding_length", 8);
    gguf_u32(out, "llama.feed_forward_length", 16);
    gguf_u32(out, "llama.attention.head_count", 4);
    gguf_text(out, "llama.attention.head_count_kv"); /* a list, as where layers may differ */
    gguf_number(out, GGUF_LIST, 4);
    gguf_number(out, GGUF_I32, 4);
    gguf_number(out, 2, 8);
    gguf_number(out, 1, 4);
    gguf_number(out, 1, 4);
    gguf_text(out, "tokenizer.ggml.tokens");
    gguf_number(out, GGUF_LIST, 4);
    gguf_number(out, GGUF_TEXT, 4);
    gguf_number(out, 3, 8);
    for (unsigned i = 0; i < 3; i++)
        gguf_text(out, "word");
    gguf_text(out, "llama.rope.freq_base");
    gguf_number(out, GGUF_F32, 4);
    gguf_number(out, 0x461c4000, 4);
    gguf_word(out, "general.name", "small");
    gguf_tensor(out, "token_embd.weight", 8, 10, type);
    gguf_tensor(out, "output.weight", 8, 10, type);
    gguf_tensor(out, "output_norm.weight", 8, 0, 0);
    gguf_tensor(out, "rope_freqs.weight", 1, 0, 0); /* no parameter */
    for (unsigned i = 0; i < 2; i++) {
        static const struct {
            const char *name;
            uint64_t inner, outer;
        } of_layer[] = {{"attn_norm", 8, 0}, {"attn_q", 8, 8},      {"attn_k", 8, 2},
                        {"attn_v", 8, 2},    {"attn_output", 8, 8}, {"ffn_norm", 8, 0},
                        {"ffn_gate", 8, 16}, {"ffn_up", 8, 16},     {"ffn_down", 16, 8}};
        for (size_t k = 0; k < sizeof of_layer / sizeof *of_layer; k++) {
            char name[64];
            snprintf(name, sizeof name, "blk.%u.%s.weight", i, of_layer[k].name);
            gguf_tensor(out, name, of_layer[k].inner, of_layer[k].outer, of_layer[k].outer > 0 ? type : 0);
        }
    }
    gguf_tensor(out, "blk.0.attn_rot.inv_freq", 4, 0, 0); /* no parameter either */
}

#endif
