/* Mappings of files of tensors. */
#include "tensor/map.h"

#include "base/file.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum ifm_status ifm_tensor_map(const char *path, const unsigned char **bytes, size_t *size, struct ifm_error *error)
{
    int fd;
    *bytes = NULL;
    *size = 0;
    enum ifm_status status = ifm_file_open(path, &fd, size, error);
    if (status != IFM_OK) {
        if (error != NULL)
            snprintf(error->where, sizeof error->where, "%s", ifm_path_base(path));
        return status;
    }
    if (*size > 0) {
        void *mapped = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (mapped == MAP_FAILED)
            status = ifm_fail(error, IFM_INTERNAL, ifm_path_base(path), "", "cannot map %zu bytes: %s", *size,
                              strerror(errno));
        else
            *bytes = mapped;
    }
    close(fd);
    return status;
}

void ifm_tensor_unmap(const unsigned char *bytes, size_t size)
{
    if (size > 0)
        munmap((void *)bytes, size);
}
