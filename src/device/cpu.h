/* Facts of an open cpu device, for the run's log. */
#ifndef IFM_DEVICE_CPU_H
#define IFM_DEVICE_CPU_H

#include "device/device.h"
#include "host/cpus.h"

/* The CPUs that this process might use before the device pinned it; false when `device` is not a cpu device. */
bool ifm_cpu_mask_before(const struct ifm_device *device, struct ifm_cpu_mask *out);
/* A CPU that a thread of the device was pinned to and is not any more, or -1; such threads are sent back. `*back`: all
 * are in their places again. A call of the system a thread: not for inside a slot. -1 when `device` is not a cpu
 * device. */
int ifm_cpu_displaced(struct ifm_device *device, bool *back);

#endif
