/* Pieces of memory that arms of the cell have lent: a reading ceiling passes over these instead of over as many bytes
 * of its own, whose making would take longer than all that is measured in them.
 *
 * Lent memory is never written again, whatever lies in it: what a pass over a piece must give is its sum at any time.
 * Owns its table. Thread rule: one thread makes it, any may read it. */
#ifndef IFM_WORKLOAD_STREAM_LENT_H
#define IFM_WORKLOAD_STREAM_LENT_H

#include "device/device.h"

struct ifm_stream_lent {
    const unsigned char **pieces; /* NULL: there is not enough of it */
    uint64_t n;
};

/* As many whole pieces as make `bytes`, to within a percent. IFM_INTERNAL: no memory for the table. */
IFM_CHECKED enum ifm_status ifm_stream_borrow(struct ifm_device *device, uint64_t bytes, uint64_t piece,
                                              struct ifm_stream_lent *out, struct ifm_error *error);
/* The sum of the 64-bit words from `from` on, zeros behind the last byte; modulo 2^64. */
uint64_t ifm_stream_sum(const unsigned char *from, uint64_t bytes);
void ifm_stream_give_back(struct ifm_stream_lent *lent);

#endif
