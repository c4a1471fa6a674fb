/* The devices that exist: one row each. */
#include "device/device.h"
#include <string.h>

const struct ifm_device_ops *const ifm_devices[] = {&ifm_device_cpu, &ifm_device_cuda, &ifm_device_fake, NULL};

const struct ifm_device_ops *ifm_device_find(const char *name)
{
    for (size_t i = 0; ifm_devices[i] != NULL; i++)
        if (strcmp(ifm_devices[i]->name, name) == 0)
            return ifm_devices[i];
    return NULL;
}

enum ifm_status ifm_device_health(struct ifm_device *device, struct ifm_error *error)
{
    return device->ops->health == NULL ? IFM_OK : device->ops->health(device, error);
}
