/* Any text as the script of the fake device: one error, or a device whose clock never goes backwards and whose columns
 * are absent or zero and more. */
#include "device/device.h"
#include "device/fake.h"
#include "device/script.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_slot(struct ifm_device *device, const char *arm)
{
    int64_t columns[IFM_FAKE_COLUMNS], last = 0;
    double quality, error_rel;
    device->ops->hold(device, 1);
    for (uint64_t n = 1; n <= 1000; n *= 10) {
        struct ifm_instant before = device->ops->mark(device);
        ifm_fake_advance(device, arm, n);
        struct ifm_instant after = device->ops->mark(device);
        if (before.ns < last || after.ns < before.ns)
            abort();
        last = after.ns;
    }
    ifm_fake_columns(device, columns);
    for (size_t i = 0; i < IFM_FAKE_COLUMNS; i++)
        if (columns[i] < 0 && columns[i] != INT64_MIN)
            abort();
    ifm_fake_check(device, arm, &quality, &error_rel);
    if (isnan(quality) || isnan(error_rel))
        abort();
    device->ops->release(device);
}

static void use(const char *text, const struct ifm_script *script)
{
    const struct ifm_device_options options = {.threads = 1, .script = text, .seed = 7};
    struct ifm_device *device = NULL;
    struct ifm_error error;
    if (ifm_device_fake.open(&options, &device, &error) != IFM_OK)
        abort();
    for (size_t i = 0; i < script->n_arms; i++)
        check_slot(device, script->arms[i].name);
    check_slot(device, "an arm without a line");
    ifm_device_fake.close(device);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_script script;
    struct ifm_error error = {0};
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    (void)ifm_fake_script_has_columns(text);
    if (ifm_script_parse(text, &script, &error) == IFM_OK) {
        if (script.die_after_slots == 0) /* it would */
            use(text, &script);
        ifm_script_free(&script);
    } else if (error.code != IFM_USAGE || error.message[0] == '\0' || script.n_arms != 0) {
        abort();
    }
    free(text);
    return 0;
}
