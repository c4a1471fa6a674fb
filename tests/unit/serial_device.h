/* A device without threads: "workers" run one after the other, the last first, and buffers stand in a list.
 *
 * For tests of workloads. Include after cmocka. */
#ifndef IFM_TEST_SERIAL_DEVICE_H
#define IFM_TEST_SERIAL_DEVICE_H

#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct serial {
    struct ifm_device device;
    struct slot {
        char name[160];
        size_t bytes;
        void *memory;
        bool lent;
    } slots[64];
    size_t n;
    unsigned parallels;
};

static void serial_parallel(struct ifm_device *device, unsigned threads, ifm_work_fn *work, void *arg)
{
    ((struct serial *)device)->parallels++;
    for (unsigned i = threads; i-- > 0;)
        work(arg, i, threads);
}

static enum ifm_status serial_buffer(struct ifm_device *device, const char *name, size_t bytes, void **out, bool *fresh,
                                     struct ifm_error *error)
{
    struct serial *serial = (struct serial *)device;
    *fresh = false;
    for (size_t i = 0; i < serial->n; i++)
        if (strcmp(serial->slots[i].name, name) == 0 && serial->slots[i].bytes == bytes) {
            *out = serial->slots[i].memory;
            return IFM_OK;
        }
    if (serial->n == sizeof serial->slots / sizeof serial->slots[0])
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "too many buffers");
    struct slot *slot = &serial->slots[serial->n++];
    snprintf(slot->name, sizeof slot->name, "%s", name);
    slot->bytes = bytes;
    slot->lent = false;
    slot->memory = *out = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(*out);
    memset(*out, 0, bytes);
    *fresh = true;
    return IFM_OK;
}

static void serial_lend(struct ifm_device *device, const void *data)
{
    struct serial *serial = (struct serial *)device;
    for (size_t i = 0; i < serial->n; i++)
        serial->slots[i].lent = serial->slots[i].lent || serial->slots[i].memory == data;
}

static bool serial_lent(struct ifm_device *device, size_t i, const void **data, size_t *bytes)
{
    const struct serial *serial = (struct serial *)device;
    for (size_t k = 0; k < serial->n; k++)
        if (serial->slots[k].lent && i-- == 0) {
            *data = serial->slots[k].memory;
            *bytes = serial->slots[k].bytes;
            return true;
        }
    return false;
}

static const struct ifm_device_ops serial_ops = {.name = "serial",
                                                 .parallel = serial_parallel,
                                                 .buffer = serial_buffer,
                                                 .lend = serial_lend,
                                                 .lent = serial_lent};

static void serial_free(struct serial *serial)
{
    for (size_t i = 0; i < serial->n; i++)
        free(serial->slots[i].memory);
    serial->n = 0;
}

#endif
