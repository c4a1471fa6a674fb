/* The header of a GGUF file: its metadata, and names and shapes of its tensors.
 *
 * The format, little-endian: "GGUF", a version (2 or 3 are read), the number of tensors and of metadata; metadata, each
 * a key, a type and a value; tensors, each a name, dimensions with the inner one first, a type and an offset; then the
 * tensors' bytes, which are not read: a file that was cut behind its header is fine here. Source:
 * https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
 *
 * A file is not trusted: each length is held against what is left of the file before it is used, numbers of things
 * against IFM_GGUF_MOST, and duplicates are refused. An open file is mapped; texts are copied. Thread rule: an open
 * file never changes; any thread may read it, but that texts come from the caller's arena. */
#ifndef IFM_TENSOR_GGUF_H
#define IFM_TENSOR_GGUF_H

#include "base/arena.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IFM_GGUF_RANK_MOST 4
#define IFM_GGUF_MOST (1U << 17) /* of tensors, and of metadata */

struct ifm_gguf_tensor {
    const char *name;
    unsigned rank;
    uint64_t shape[IFM_GGUF_RANK_MOST]; /* the inner one first */
    uint64_t elements;
    uint32_t type;
};

struct ifm_gguf;

/* Errors are IFM_USAGE (IFM_INTERNAL where the system is at fault) and name the file by its base name. */
IFM_CHECKED enum ifm_status ifm_gguf_open(const char *path, struct ifm_gguf **out, struct ifm_error *error);
/* The same for bytes that the caller owns and keeps; `name` is the file's, for errors. */
IFM_CHECKED enum ifm_status ifm_gguf_parse(const void *bytes, size_t size, const char *name, struct ifm_gguf **out,
                                           struct ifm_error *error);
void ifm_gguf_close(struct ifm_gguf *file); /* NULL is allowed */

const char *ifm_gguf_name(const struct ifm_gguf *file); /* base name */
size_t ifm_gguf_count(const struct ifm_gguf *file);
const struct ifm_gguf_tensor *ifm_gguf_at(const struct ifm_gguf *file, size_t index);
const struct ifm_gguf_tensor *ifm_gguf_find(const struct ifm_gguf *file, const char *name); /* or NULL */

/* A text of the metadata; NULL: there is none of this key. */
const char *ifm_gguf_text(const struct ifm_gguf *file, const char *key, struct ifm_arena *arena);
/* A number of the metadata: an integer of at least 0, or a list of such that are all equal, as where each layer has one
 * of its own. `*there` false: the file has none. IFM_USAGE: it is no such number. */
IFM_CHECKED enum ifm_status ifm_gguf_number(const struct ifm_gguf *file, const char *key, bool *there, uint64_t *out,
                                            struct ifm_error *error);
/* "Q4_K", or "type 99" of one that is not known. */
const char *ifm_gguf_type_name(uint32_t type, char buffer[24]);
/* Elements share scales, or are of less than 16 bits. */
bool ifm_gguf_is_quantized(uint32_t type);

#endif
