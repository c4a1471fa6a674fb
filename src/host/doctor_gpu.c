/* The rows of doctor about GPUs. Reads only. */
#include "base/text.h"
#include "host/gpu.h"
#include "host/probe.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* True when the member is {"absent": ...}, and then the row says so. */
static bool is_absent(const struct ifm_doctor *d, const json_t *member)
{
    const char *reason = json_string_value(json_object_get(member, "absent"));
    const char *remedy = json_string_value(json_object_get(member, "remedy"));
    if (reason != NULL)
        ifm_doctor_absent(d, remedy != NULL ? remedy : "this GPU does not offer it: values that need it stay absent",
                          "%s", reason);
    return reason != NULL;
}

static double real_of(const json_t *object, const char *key)
{
    const json_t *member = json_object_get(object, key);
    return json_is_number(member) ? json_number_value(member) : NAN;
}

static void say_name(struct ifm_doctor *d, const json_t *facts)
{
    const char *name = json_string_value(json_object_get(facts, "name"));
    const char *capability = json_string_value(json_object_get(facts, "compute_capability"));
    char bytes[48] = "memory unknown";
    if (json_is_number(json_object_get(facts, "memory_bytes")))
        ifm_format_human(json_number_value(json_object_get(facts, "memory_bytes")), "B", bytes);
    ifm_doctor_ok(d, "%s, compute capability %s, %s", name != NULL ? name : "unnamed",
                  capability != NULL ? capability : "unknown", bytes);
}

static void say_power_limit(struct ifm_doctor *d, const json_t *facts)
{
    const json_t *limits = json_object_get(facts, "power_limit_w");
    double enforced = real_of(limits, "enforced"), usual = real_of(limits, "default");
    d->what = "GPU power limit";
    if (is_absent(d, json_object_get(limits, "enforced")))
        return;
    if (enforced < usual)
        ifm_doctor_warn(d, "nvidia-smi --power-limit=WATTS as root, unless the cap is intended",
                        "%.0f W, below the default of %.0f W", enforced, usual);
    else
        ifm_doctor_ok(d, "%.0f W", enforced);
}

static void say_modes(struct ifm_doctor *d, const json_t *facts)
{
    const json_t *persistence = json_object_get(facts, "persistence"), *ecc = json_object_get(facts, "ecc");
    const json_t *mig = json_object_get(facts, "mig");
    bool on = json_is_true(json_object_get(ecc, "current")), next = json_is_true(json_object_get(ecc, "pending"));
    d->what = "GPU persistence";
    if (json_is_true(persistence))
        ifm_doctor_ok(d, "on");
    else if (!is_absent(d, persistence))
        ifm_doctor_warn(d, "nvidia-smi --persistence-mode=1 as root, or run nvidia-persistenced",
                        "off: the driver unloads when nobody uses the GPU, and its counters restart at zero");
    d->what = "GPU ECC";
    if (!is_absent(d, ecc) && on == next)
        ifm_doctor_ok(d, "%s", on ? "on" : "off");
    else if (on != next)
        ifm_doctor_warn(d, "reset the GPU before a study, so that it does not change during it",
                        "%s, %s from the next reset", on ? "on" : "off", next ? "on" : "off");
    d->what = "GPU MIG";
    if (json_is_true(json_object_get(mig, "current")))
        ifm_doctor_warn(d, "nvidia-smi --multi-instance-gpu=0 as root, to measure the energy of one program",
                        "on: power and energy are of the whole board, which other instances share");
    else if (!is_absent(d, mig))
        ifm_doctor_ok(d, "off");
}

static void say_throttling(struct ifm_doctor *d, const struct ifm_nvml *nvml, ifm_nvml_device gpu)
{
    json_t *reasons = ifm_gpu_event_reasons(nvml, gpu), *reason;
    size_t i;
    struct ifm_text held = {0};
    d->what = "GPU throttling";
    json_array_foreach(reasons, i, reason)
    {
        const char *name = json_string_value(reason);
        if (strcmp(name, "gpu_idle") != 0) /* an idle GPU: nothing reduces its clock */
            ifm_text_printf(&held, "%s%s", held.size > 0 ? ", " : "", name);
    }
    if (held.size > 0)
        ifm_doctor_warn(d, "let it cool down, raise the power limit, or stop what runs on it",
                        "the clock is reduced now: %s", held.data);
    else if (!is_absent(d, reasons))
        ifm_doctor_ok(d, "nothing reduces the clock now");
    ifm_text_free(&held);
    json_decref(reasons);
}

void ifm_doctor_gpus(struct ifm_doctor *doctor, const struct ifm_nvml *nvml, const char *reason, const char *remedy)
{
    doctor->what = "GPU";
    if (nvml == NULL) {
        ifm_doctor_absent(doctor, remedy, "%s", reason);
        return;
    }
    json_t *facts = ifm_gpu_facts(nvml), *devices = json_object_get(facts, "devices"), *device;
    size_t i;
    (void)is_absent(doctor, devices);
    json_array_foreach(devices, i, device)
    {
        ifm_nvml_device gpu;
        doctor->what = "GPU";
        if (json_array_size(devices) > 1)
            snprintf(doctor->of, sizeof doctor->of, "gpu%zu: ", i);
        if (is_absent(doctor, device) || nvml->nvmlDeviceGetHandleByIndex_v2((unsigned)i, &gpu) != IFM_NVML_SUCCESS)
            continue;
        say_name(doctor, device);
        say_power_limit(doctor, device);
        say_modes(doctor, device);
        say_throttling(doctor, nvml, gpu);
    }
    doctor->of[0] = '\0';
    json_decref(facts);
}
