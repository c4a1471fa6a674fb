/* Facts of an open cpu device, for the run's log. */
#ifndef IFM_DEVICE_CPU_H
#define IFM_DEVICE_CPU_H

#include "device/device.h"
#include "host/cpus.h"

/* {"device": "cpu", "threads", "cpus": [ids, driver first], "huge_pages_asked", "huge_page_bytes": backing this process
 * now, or absent, "buffer_bytes": mapped} (new reference); NULL when `device` is not a cpu device. */
json_t *ifm_cpu_facts(struct ifm_device *device);
/* The CPUs that this process might use before the device pinned it; false when `device` is not a cpu device. */
bool ifm_cpu_mask_before(const struct ifm_device *device, struct ifm_cpu_mask *out);

#endif
