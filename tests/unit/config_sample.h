/* Two invented workload tables, enough to exercise every kind of row. */
#ifndef TESTS_UNIT_CONFIG_SAMPLE_H
#define TESTS_UNIT_CONFIG_SAMPLE_H

#include "config/config.h"

struct sample_decode {
    uint64_t batch, kv_len, kv_heads, chunk;
    int layout;
    double scale, pause;
    bool check;
    const char *label;
    struct ifm_list shapes;
};

#define SAMPLE(field) offsetof(struct sample_decode, field)
static const struct ifm_param sample_decode_rows[] = {
    {"decode.batch", "batch", IFM_TYPE_U64, IFM_SWEEP, "sequences", "8", 1, 4096, NULL, "Sequences in a step",
     SAMPLE(batch)},
    {"decode.kv_len", "kv-len", IFM_TYPE_U64, IFM_SWEEP, "tokens", "4096", 1, 1048576, NULL,
     "Tokens in the cache of each sequence", SAMPLE(kv_len)},
    {"decode.kv_heads", "kv-heads", IFM_TYPE_U64, IFM_SWEEP | IFM_PER_ARM, "heads", "8", 1, 256, NULL,
     "Key and value heads", SAMPLE(kv_heads)},
    {"decode.chunk", "chunk", IFM_TYPE_BYTES, IFM_SWEEP | IFM_PER_ARM, "B", "64KiB", 64, 0x1p40, NULL,
     "Bytes that a worker takes at once", SAMPLE(chunk)},
    {"decode.layout", "layout", IFM_TYPE_CHOICE, IFM_SWEEP | IFM_PER_ARM, "", "split", 0, 0, "split|paged",
     "Layout of the cache", SAMPLE(layout)},
    {"decode.scale", NULL, IFM_TYPE_F64, IFM_SWEEP, "1", "0.125", 1, 0, NULL, "Scale of the scores", SAMPLE(scale)},
    {"decode.pause", "pause", IFM_TYPE_SECONDS, 0, "s", "0", 0, 1, NULL, "Pause between steps", SAMPLE(pause)},
    {"decode.check", "check", IFM_TYPE_BOOL, 0, "", "true", 0, 0, NULL, "Compare with the oracle", SAMPLE(check)},
    {"decode.label", "label", IFM_TYPE_TEXT, IFM_PER_ARM, "", "", 0, 0, NULL, "A word for the reader", SAMPLE(label)},
    {"decode.shapes", "shapes", IFM_TYPE_U64, IFM_LIST | IFM_PER_ARM, "", "", 1, 64, NULL,
     "Sizes that one step takes together", SAMPLE(shapes)},
};
#undef SAMPLE

struct sample_copy {
    uint64_t size;
    int kind;
};
static const struct ifm_param sample_copy_rows[] = {
    {"copy_test.size", "size", IFM_TYPE_BYTES, IFM_SWEEP, "B", "1MiB", 1, 0x1p40, NULL, "Bytes in the buffer",
     offsetof(struct sample_copy, size)},
    {"copy_test.kind", "kind", IFM_TYPE_CHOICE, IFM_SWEEP, "", "write,read", 0, 0, "read|write|copy",
     "What is done; the default is an axis", offsetof(struct sample_copy, kind)},
};

static const struct ifm_section sample_decode = {"decode",
                                                 "One query token over a cache",
                                                 sample_decode_rows,
                                                 sizeof sample_decode_rows / sizeof *sample_decode_rows,
                                                 sizeof(struct sample_decode),
                                                 NULL};
static const struct ifm_section sample_copy = {
    "copy_test", "Copy a buffer", sample_copy_rows, 2, sizeof(struct sample_copy), NULL};
static const struct ifm_section *const sample_sections[] = {&sample_decode, &sample_copy, NULL};

#endif
