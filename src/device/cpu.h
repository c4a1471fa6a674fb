/* Facts of an open cpu device, for the run's log. */
#ifndef IFM_DEVICE_CPU_H
#define IFM_DEVICE_CPU_H

#include "device/device.h"

/* {"device": "cpu", "threads", "cpus": [ids, driver first], "huge_pages_asked", "huge_page_bytes": backing this process
 * now, or absent, "buffer_bytes": mapped} (new reference); NULL when `device` is not a cpu device. */
json_t *ifm_cpu_facts(struct ifm_device *device);
/* The affinity mask that the driving thread had before the device pinned it, as sched_setaffinity takes it: what a
 * program that is measured is started with. NULL when `device` is not a cpu device. Borrowed from the device. */
const void *ifm_cpu_affinity_before(const struct ifm_device *device, size_t *bytes);

#endif
