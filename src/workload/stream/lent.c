/* Pieces of memory that arms of the cell have lent. */
#include "workload/stream/lent.h"
#include <stdlib.h>
#include <string.h>

enum { TOLERANCE_PERCENT = 1 };

enum ifm_status ifm_stream_borrow(struct ifm_device *device, uint64_t bytes, uint64_t piece,
                                  struct ifm_stream_lent *out, struct ifm_error *error)
{
    const uint64_t most = bytes / piece;
    const void *data;
    size_t lent;
    *out = (struct ifm_stream_lent){NULL, 0};
    if (device->ops->lent == NULL || most == 0)
        return IFM_OK;
    out->pieces = calloc(most, sizeof *out->pieces);
    if (out->pieces == NULL)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "out of memory");
    for (size_t i = 0; out->n < most && device->ops->lent(device, i, &data, &lent); i++)
        for (uint64_t at = 0; out->n < most && at + piece <= lent; at += piece)
            out->pieces[out->n++] = (const unsigned char *)data + at;
    if (out->n * piece < bytes - bytes / 100 * TOLERANCE_PERCENT)
        ifm_stream_give_back(out);
    return IFM_OK;
}

uint64_t ifm_stream_sum(const unsigned char *from, uint64_t bytes)
{
    uint64_t sum = 0, word = 0;
    for (; bytes >= sizeof word; from += sizeof word, bytes -= sizeof word) {
        memcpy(&word, from, sizeof word);
        sum += word;
    }
    word = 0;
    memcpy(&word, from, bytes);
    return sum + word;
}

void ifm_stream_give_back(struct ifm_stream_lent *lent)
{
    free(lent->pieces);
    *lent = (struct ifm_stream_lent){NULL, 0};
}
