/* Hashes: SHA-256 names artifacts (checkable with sha256sum), XXH3 names buffers. */
#ifndef IFM_BASE_HASH_H
#define IFM_BASE_HASH_H

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

struct ifm_sha256 {
    char hex[65];
};
struct ifm_sha256 ifm_sha256_bytes(const void *data, size_t size);
IFM_CHECKED enum ifm_status ifm_sha256_file(const char *path, struct ifm_sha256 *out, struct ifm_error *error);
uint64_t ifm_xxh3(const void *data, size_t size);

#endif
