/* Keys, values and queries of a user's model, from a safetensors file (docs/model-data.md).
 *
 *   "k" or "keys", "v" or "values"   [kv_heads, tokens, head_dim] or [sequences, kv_heads, tokens, head_dim]
 *   "q" or "queries" (optional)      the same axes with query heads for KV heads, [.., heads, tokens, head_dim], or
 *                                    without the axis of tokens, [.., heads, head_dim]: one query of each head
 *
 * of any floating-point type; every value is rounded to f16, the reference of the cache. A file without the axis of
 * sequences is read by every sequence alike. Keys are as the cache holds them: after RoPE.
 *
 * Thread rule: opened and closed by one thread; an open file never changes, so any thread may read rows. */
#ifndef IFM_WORKLOAD_DATA_KV_FILE_H
#define IFM_WORKLOAD_DATA_KV_FILE_H

#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>

struct ifm_kv_file;

/* 0 sequences: the file has no such axis. 0 query heads: it has no queries. */
struct ifm_kv_file_shape {
    uint64_t sequences, kv_heads, tokens, head_dim;
    uint64_t query_heads, query_tokens; /* query_tokens is 1 for queries without the axis */
};

/* `path` is a path, or the token of a private parameter that stands for one (base/private.h). Errors are IFM_USAGE,
 * name the file by its base name, and say what was found. */
IFM_CHECKED enum ifm_status ifm_kv_file_open(const char *path, struct ifm_kv_file **out, struct ifm_error *error);
void ifm_kv_file_close(struct ifm_kv_file *file); /* NULL is allowed */

/* What may be published of a file: its base name and the SHA-256 of its bytes, which reads it whole. */
const char *ifm_kv_file_name(const struct ifm_kv_file *file);

struct ifm_kv_file_shape ifm_kv_file_shape(const struct ifm_kv_file *file);
/* Whether the file has what is asked for: as many KV heads, query heads and head_dim, at least as many sequences,
 * tokens and query tokens. A member that is 0 is not looked at, nor is any of the queries where the file has none. */
IFM_CHECKED enum ifm_status ifm_kv_file_require(const struct ifm_kv_file *file, const struct ifm_kv_file_shape *asked,
                                                struct ifm_error *error);

/* Keys and values of tokens first .. first + tokens of a KV head, rows [tokens][head_dim], rounded to f16. `k` or `v`
 * may be NULL: not wanted. The range must lie inside the shape. A value that is no finite f16 is an error that names
 * its place; the rows are then not complete. */
IFM_CHECKED enum ifm_status ifm_kv_file_rows(const struct ifm_kv_file *file, uint64_t sequence, uint64_t head,
                                             uint64_t first, uint64_t tokens, float *k, float *v,
                                             struct ifm_error *error);
/* The same for the queries of one query head; the file must have some. */
IFM_CHECKED enum ifm_status ifm_kv_file_queries(const struct ifm_kv_file *file, uint64_t sequence, uint64_t head,
                                                uint64_t first, uint64_t tokens, float *q, struct ifm_error *error);

#endif
