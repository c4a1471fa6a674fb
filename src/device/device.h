/* Device: where a cell runs. One vtable; the members are `cpu`, `cuda` and `fake`.
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
#include <stdint.h>

struct ifm_device;

/* What a device says of its own clock over the last slot; IFM_ABSENT where it does not. */
struct ifm_device_clock {
    int64_t cycles, span_ns; /* of one multiprocessor of a GPU, from before the first mark to behind the last: the real
                                mean clock is their ratio */
    int64_t reported_mhz;    /* as the driver reads it when the slot's work is done */
    const char *why;         /* there are no cycles; "" when there are */
};

/* What worker `index` of `count` does; index 0 is the thread that drives the device. */
typedef void ifm_work_fn(void *arg, unsigned index, unsigned count);

/* In the order of the choices of device.kernels. */
enum ifm_device_kernels { IFM_KERNELS_AUTO = 0, IFM_KERNELS_BUILT, IFM_KERNELS_NVRTC };

struct ifm_device_options {
    unsigned threads; /* workers, pinned one per CPU of the affinity mask; cuda: the driving thread alone */
    bool no_graphs;   /* cuda: launch every step by itself, instead of replaying graphs of them */
    enum ifm_device_kernels kernels; /* cuda: whose code runs */
    bool huge_pages;                 /* ask for transparent huge pages */
    const char *script;              /* fake device: its scripted durations, see device/fake.h; else NULL */
    bool resumed;                    /* fake device: the script's die_after_slots has happened already */
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
    /* Marks: the time now on the device's clock. No system call, no allocation. A device that works apart from the host
     * (`resolve` below) gives tickets between hold and release: the place of the mark among its work. Elsewhere it
     * waits for its work, and gives the time. */
    struct ifm_instant (*mark)(struct ifm_device *device);
    /* NULL: marks are times at once. Else turn the first `n` tickets since `hold` into times, in place; waits for all
     * work. Fails with what failed since `hold`: the work of a step has no other way to say so. */
    IFM_CHECKED enum ifm_status (*resolve)(struct ifm_device *device, struct ifm_instant *marks, size_t n,
                                           struct ifm_error *error);
    /* NULL: always well. Else IFM_OK, or what failed for good: nothing works on the device until it is closed, which
     * ends its context, and opened again. */
    IFM_CHECKED enum ifm_status (*health)(struct ifm_device *device, struct ifm_error *error);
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
    /* NULL: none is lent. `lend` says that nobody writes into the buffer at `data` once its workload is open, so
     * that a ceiling may read it too. `lent` gives the i-th such buffer, false when there is none. */
    void (*lend)(struct ifm_device *device, const void *data);
    bool (*lent)(struct ifm_device *device, size_t i, const void **data, size_t *bytes);
    /* What the run records of it once a cell's memory is there (new reference); NULL: nothing. */
    json_t *(*facts)(struct ifm_device *device);
    /* Its clock over the slot that was resolved last; NULL: it counts nothing of its own. */
    void (*clock)(struct ifm_device *device, struct ifm_device_clock *out);
    /* Thousandths of a degree Celsius, now and cheaply; IFM_ABSENT. NULL: not its business. */
    int64_t (*temperature_mc)(struct ifm_device *device);
};

/* Every implementation starts with this member. */
struct ifm_device {
    const struct ifm_device_ops *ops;
    char bus[32]; /* PCI bus id of a GPU, "0000:00:06.0"; "" elsewhere, and where the driver does not say */
    unsigned set; /* buffers of one name are other memory in another set; run sets it around a workload's open */
};

extern const struct ifm_device_ops ifm_device_cpu, ifm_device_cuda, ifm_device_fake;
/* The registry: NULL-terminated. */
extern const struct ifm_device_ops *const ifm_devices[];
const struct ifm_device_ops *ifm_device_find(const char *name);
/* IFM_OK, or what failed for good; see `health`. */
IFM_CHECKED enum ifm_status ifm_device_health(struct ifm_device *device, struct ifm_error *error);

#endif
