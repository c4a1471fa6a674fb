/* Writes small safetensors files for tests. Include cmocka.h first. */
#ifndef IFM_UNIT_TENSOR_FILE_H
#define IFM_UNIT_TENSOR_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file's bytes: length, header, data; malloc'd. */
static inline unsigned char *tensor_bytes(const char *header, const void *data, size_t size, size_t *total)
{
    const size_t length = strlen(header);
    *total = 8 + length + size;
    unsigned char *bytes = malloc(*total);
    assert_non_null(bytes);
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)length >> 8 * i);
    memcpy(bytes + 8, header, length);
    if (size > 0)
        memcpy(bytes + 8 + length, data, size);
    return bytes;
}

/* A fresh file of these bytes; `path` becomes its name. The caller unlinks it. */
static inline void tensor_write(char path[64], const void *bytes, size_t size)
{
    snprintf(path, 64, "/tmp/ifm_tensor_XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    assert_int_equal(close(fd), 0);
}

#endif
