/* A file of tensors, mapped read-only: nothing of it is read before it is looked at.
 *
 * Truncating the file meanwhile ends the process with SIGBUS, as with every mapping. Thread rule: no shared state. */
#ifndef IFM_TENSOR_MAP_H
#define IFM_TENSOR_MAP_H

#include "base/error.h"
#include <stddef.h>

/* An empty file gives no bytes. Errors name the file by its base name: its folder is private. */
IFM_CHECKED enum ifm_status ifm_tensor_map(const char *path, const unsigned char **bytes, size_t *size,
                                           struct ifm_error *error);
void ifm_tensor_unmap(const unsigned char *bytes, size_t size); /* size 0 is allowed */

#endif
