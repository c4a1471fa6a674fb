/* Tensors of a safetensors file, read-only.
 *
 * The format: 8 bytes, little-endian, the length of the header; the header, a JSON object of name: {"dtype", "shape",
 * "data_offsets": [begin, end]}, and "__metadata__" of strings; then the tensors' bytes, without holes, which the
 * offsets count from the first of them. Source: https://huggingface.co/docs/safetensors.
 *
 * A file is not trusted: header length, JSON, duplicate names, types, shapes, offsets, overlaps, holes and trailing
 * bytes are checked before any view is handed out; the error names the file and the tensor. An open file is mapped:
 * views point into it until it is closed. Truncating the file meanwhile ends the process with SIGBUS, as with every
 * mapping. Thread rule: an open file never changes; any thread may read it. */
#ifndef IFM_TENSOR_SAFETENSORS_H
#define IFM_TENSOR_SAFETENSORS_H

#include "base/error.h"
#include "tensor/dtype.h"
#include <stddef.h>
#include <stdint.h>

#define IFM_TENSOR_RANK_MOST 8
#define IFM_SAFETENSORS_HEADER_MOST (4U << 20) /* bytes; the header of a model of 40000 tensors */

struct ifm_tensor {
    const char *name;
    enum ifm_dtype dtype;
    unsigned rank; /* 0 = a single number */
    uint64_t shape[IFM_TENSOR_RANK_MOST];
    uint64_t elements, bytes;
    const unsigned char *data; /* little-endian, of any alignment */
};

struct ifm_safetensors;

/* Map and check a file. Errors are IFM_USAGE (IFM_INTERNAL where the system is at fault) and name the file by its base
 * name. */
IFM_CHECKED enum ifm_status ifm_safetensors_open(const char *path, struct ifm_safetensors **out,
                                                 struct ifm_error *error);
/* The same for bytes that the caller owns and keeps; `name` is the file's, for errors. */
IFM_CHECKED enum ifm_status ifm_safetensors_parse(const void *bytes, size_t size, const char *name,
                                                  struct ifm_safetensors **out, struct ifm_error *error);
void ifm_safetensors_close(struct ifm_safetensors *file); /* NULL is allowed */

const char *ifm_safetensors_name(const struct ifm_safetensors *file); /* base name */
size_t ifm_safetensors_count(const struct ifm_safetensors *file);
/* By number, in the order of their bytes. */
const struct ifm_tensor *ifm_safetensors_at(const struct ifm_safetensors *file, size_t index);
const struct ifm_tensor *ifm_safetensors_find(const struct ifm_safetensors *file, const char *name); /* or NULL */

/* Elements first .. first + n of a floating-point tensor as f32; the range must lie inside the tensor. */
void ifm_tensor_read(const struct ifm_tensor *tensor, uint64_t first, size_t n, float *out);
/* "F16 [8, 4096, 128]", for messages. */
const char *ifm_tensor_shown(const struct ifm_tensor *tensor, char buffer[240]);

#endif
