/* Device: where a cell runs. One vtable; the members are `cpu`, `fake` and, later, `cuda`.
 *
 * Owns worker threads, buffers and marks. It must never interpret a measurement.
 * Thread rule: one thread drives a device; its workers are its own business. */
#ifndef IFM_DEVICE_DEVICE_H
#define IFM_DEVICE_DEVICE_H

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "model/machine.h"
#include <stdbool.h>
#include <stddef.h>

struct ifm_device;

/* What worker `index` of `count` does; index 0 is the thread that drives the device. */
typedef void ifm_work_fn(void *arg, unsigned index, unsigned count);

struct ifm_device_options {
    unsigned threads;   /* workers, pinned one per CPU of the affinity mask */
    bool huge_pages;    /* ask for transparent huge pages */
    const char *script; /* fake device: its scripted durations, see device/fake.h; else NULL */
    bool resumed;       /* fake device: the script's die_after_slots has happened already */
    uint64_t seed;
};

struct ifm_device_ops {
    const char *name;
    IFM_CHECKED enum ifm_status (*open)(const struct ifm_device_options *options, struct ifm_device **out,
                                        struct ifm_error *error);
    void (*close)(struct ifm_device *device);
    /* What planning needs; callable without an open device. `threads` as asked for, 0 = all allowed. Fails when the
     * affinity mask has fewer CPUs than threads asked for. */
    IFM_CHECKED enum ifm_status (*describe)(unsigned threads, struct ifm_machine *out, struct ifm_error *error);
    /* Marks: the time now on the device's clock. No system call, no allocation. */
    struct ifm_instant (*mark)(struct ifm_device *device);
    /* Run `work` on `threads` workers and wait. No system call while the device is held. */
    void (*parallel)(struct ifm_device *device, unsigned threads, ifm_work_fn *work, void *arg);
    /* Between hold and release the workers spin and never park: a timed slot lies inside. */
    void (*hold)(struct ifm_device *device, unsigned threads);
    void (*release)(struct ifm_device *device);
    /* Evict every cache level: cold mode, between samples. */
    IFM_CHECKED enum ifm_status (*flush)(struct ifm_device *device, struct ifm_error *error);
    /* Named, zeroed, touched memory, each page touched by a worker that will read it (first touch): the same name
     * and size give the same memory, so that arms of a cell can share inputs. `fresh` says whether it is new. Freed
     * by drop_buffers or close. Fails before allocating when memory does not suffice, with the size needed and
     * available. */
    IFM_CHECKED enum ifm_status (*buffer)(struct ifm_device *device, const char *name, size_t bytes, void **out,
                                          bool *fresh, struct ifm_error *error);
    void (*drop_buffers)(struct ifm_device *device);
};

/* Every implementation starts with this member. */
struct ifm_device {
    const struct ifm_device_ops *ops;
    unsigned set; /* buffers of one name are other memory in another set; run sets it around a workload's open */
};

extern const struct ifm_device_ops ifm_device_cpu, ifm_device_fake;
/* The registry: NULL-terminated. */
extern const struct ifm_device_ops *const ifm_devices[];
const struct ifm_device_ops *ifm_device_find(const char *name);

#endif
