/* Caches of decode, filled in the processor's memory with the tokens of the cell: those that the form keeps.
 *
 * Thread rule: called by the thread that drives the device, whose workers fill. */
#ifndef IFM_WORKLOAD_DECODE_FILL_H
#define IFM_WORKLOAD_DECODE_FILL_H

#include "device/device.h"
#include "workload/decode/source.h"

struct ifm_decode_filling {
    struct ifm_device *device;
    unsigned threads;
    const struct ifm_decode_settings *settings;
    const struct ifm_decode_form *form;
    const struct ifm_data_source *source;
    const char *arm;
};

/* `cache`: empty, of the shape that the settings and the form give. */
IFM_CHECKED enum ifm_status ifm_decode_fill(const struct ifm_decode_filling *filling, struct ifm_kv_cache *cache,
                                            struct ifm_error *error);

#endif
