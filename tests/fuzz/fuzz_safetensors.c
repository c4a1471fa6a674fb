/* Any bytes as a safetensors file: one error with a way out, or tensors that lie inside the file, cover its data and
 * can be read to their last element; and the same bytes as a file of keys and values. */
#include "tensor/safetensors.h"
#include "workload/data/kv_file.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void read_all(const struct ifm_tensor *tensor)
{
    enum { PIECE = 100 };
    float out[PIECE];
    for (uint64_t at = 0; ifm_dtype_is_float(tensor->dtype) && at < tensor->elements; at += PIECE)
        ifm_tensor_read(tensor, at, tensor->elements - at < PIECE ? (size_t)(tensor->elements - at) : PIECE, out);
}

static void check_tensors(const struct ifm_safetensors *file, const uint8_t *data, size_t size)
{
    const uint8_t *at = NULL;
    for (size_t i = 0; i < ifm_safetensors_count(file); i++) {
        const struct ifm_tensor *tensor = ifm_safetensors_at(file, i);
        uint64_t elements = 1;
        char shown[240];
        require(tensor->rank <= IFM_TENSOR_RANK_MOST);
        for (unsigned d = 0; d < tensor->rank; d++)
            elements *= tensor->shape[d];
        require(elements == tensor->elements && tensor->bytes == elements * ifm_dtype_bytes(tensor->dtype));
        require(tensor->data >= data + 8 && tensor->bytes <= (uint64_t)(data + size - tensor->data));
        require(at == NULL || tensor->data == at);
        at = tensor->data + tensor->bytes;
        require(ifm_safetensors_find(file, tensor->name) == tensor);
        require(strlen(ifm_tensor_shown(tensor, shown)) < sizeof shown);
        read_all(tensor);
    }
    require(at == NULL || at == data + size);
}

/* The bytes as a file that can be named, without a disk. */
static void open_as_kv(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    char path[32];
    struct ifm_kv_file *file;
    struct ifm_error error = {0};
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (ifm_kv_file_open(path, &file, &error) == IFM_OK) {
        const struct ifm_kv_file_shape shape = ifm_kv_file_shape(file);
        const uint64_t sequence = shape.sequences > 0 ? shape.sequences - 1 : 7;
        const size_t row = (size_t)(shape.tokens * shape.head_dim);
        float *k = malloc(row * sizeof *k), *v = malloc(row * sizeof *v);
        require(k != NULL && v != NULL && ifm_kv_file_require(file, &shape, NULL) == IFM_OK);
        if (ifm_kv_file_rows(file, sequence, shape.kv_heads - 1, 0, shape.tokens, k, v, &error) != IFM_OK)
            require(error.code == IFM_USAGE && error.hint[0] != '\0');
        if (shape.query_heads > 0 &&
            ifm_kv_file_queries(file, sequence, shape.query_heads - 1, shape.query_tokens - 1, 1, k, &error) != IFM_OK)
            require(error.code == IFM_USAGE && error.hint[0] != '\0');
        free(k);
        free(v);
        ifm_kv_file_close(file);
    } else {
        require(error.code == IFM_USAGE && error.message[0] != '\0' && error.hint[0] != '\0');
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_safetensors *file;
    struct ifm_error error = {0};
    if (ifm_safetensors_parse(data, size, "fuzz", &file, &error) == IFM_OK) {
        check_tensors(file, data, size);
        ifm_safetensors_close(file);
        open_as_kv(data, size);
    } else {
        require(file == NULL && error.code == IFM_USAGE && error.message[0] != '\0' && error.hint[0] != '\0');
    }
    return 0;
}
