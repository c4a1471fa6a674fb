/* The named buffers of a device. */
#include "device/buffers.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

struct ifm_buffer *ifm_buffer_find(struct ifm_buffer *list, unsigned set, const char *name, size_t bytes)
{
    while (list != NULL && (list->set != set || list->bytes != bytes || strcmp(list->name, name) != 0))
        list = list->next;
    return list;
}

struct ifm_buffer *ifm_buffer_add(struct ifm_buffer **list, const char *name, size_t bytes)
{
    size_t length = strlen(name) + 1;
    struct ifm_buffer *buffer = calloc(1, sizeof *buffer + length);
    if (buffer == NULL)
        return NULL;
    memcpy(buffer->name, name, length);
    buffer->bytes = bytes;
    buffer->next = *list;
    *list = buffer;
    return buffer;
}

void ifm_buffer_lend(struct ifm_buffer *list, const void *data)
{
    for (; list != NULL; list = list->next)
        list->lent = list->lent || list->data == data;
}

const struct ifm_buffer *ifm_buffer_lent(const struct ifm_buffer *list, size_t i)
{
    for (; list != NULL; list = list->next)
        if (list->lent && i-- == 0)
            return list;
    return NULL;
}

size_t ifm_buffer_total(const struct ifm_buffer *list)
{
    size_t total = 0;
    for (; list != NULL; list = list->next)
        total += list->mapped;
    return total;
}

enum ifm_status ifm_buffer_check(const char *name, uint64_t needed, uint64_t available, struct ifm_error *error)
{
    char need[48], have[48];
    if (needed <= available)
        return IFM_OK;
    return ifm_fail(error, IFM_MISSING, NULL, "choose a smaller shape, free memory, or raise the memory limit",
                    "buffer '%s' needs %s (%llu B), %s (%llu B) available", name,
                    ifm_format_human((double)needed, "B", need), (unsigned long long)needed,
                    ifm_format_human((double)available, "B", have), (unsigned long long)available);
}
