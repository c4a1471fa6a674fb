/* The named buffers of a device: the same name and size give the same memory. Private to src/device. */
#ifndef IFM_DEVICE_BUFFERS_H
#define IFM_DEVICE_BUFFERS_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ifm_buffer {
    struct ifm_buffer *next;
    void *data;
    size_t bytes;  /* as asked for */
    size_t mapped; /* as taken from the system */
    unsigned set;
    bool lent; /* never written again */
    char name[];
};

/* NULL when there is none. */
struct ifm_buffer *ifm_buffer_find(struct ifm_buffer *list, unsigned set, const char *name, size_t bytes);
/* Put a buffer in front of `*list`; NULL when memory runs out. */
struct ifm_buffer *ifm_buffer_add(struct ifm_buffer **list, const char *name, size_t bytes);
/* Mark the buffer at `data` as lent. */
void ifm_buffer_lend(struct ifm_buffer *list, const void *data);
/* The i-th buffer that is lent; NULL when there is none. */
const struct ifm_buffer *ifm_buffer_lent(const struct ifm_buffer *list, size_t i);
/* Sum of `mapped`. */
size_t ifm_buffer_total(const struct ifm_buffer *list);
/* IFM_MISSING when `needed` is more than `available`, naming both: other arms may fit. */
IFM_CHECKED enum ifm_status ifm_buffer_check(const char *name, uint64_t needed, uint64_t available,
                                             struct ifm_error *error);

#endif
