/* Facts of an open cpu device, for the run's log. */
#ifndef IFM_DEVICE_CPU_H
#define IFM_DEVICE_CPU_H

#include "device/device.h"
#include "host/cpus.h"

/* The CPUs that this process might use before the device pinned it; false when `device` is not a cpu device. */
bool ifm_cpu_mask_before(const struct ifm_device *device, struct ifm_cpu_mask *out);
/* What those CPUs were busy since the system's start (host/cpus.h); false when `device` is not a cpu device, or it
 * cannot be read. */
bool ifm_cpu_busy(const struct ifm_device *device, struct ifm_host_busy *out);
/* Let the driving thread run on those CPUs, or pin it again, once for each time that it was let: one that shares a CPU
 * with the program it has started takes it off that CPU once, and waits a turn of the scheduler itself, however idle
 * the others are. Nothing when `device` is not a cpu device. */
void ifm_cpu_roam(struct ifm_device *device, bool roams);
/* A CPU that a thread of the device was pinned to and is not any more, or -1; such threads are sent back. `*back`: all
 * are in their places again. A call of the system a thread: not for inside a slot. -1 when `device` is not a cpu
 * device. */
int ifm_cpu_displaced(struct ifm_device *device, bool *back);

#endif
