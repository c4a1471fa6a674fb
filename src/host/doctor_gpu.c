/* The rows of doctor about GPUs. Reads only. */
#include "base/text.h"
#include "host/gpu.h"
#include "host/probe.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CONTAINER "in a container, start it with --gpus all; else look at `nvidia-smi`"

struct reporter {
    const struct ifm_nvml *nvml;
    ifm_doctor_add_fn *add;
    json_t *rows;
    bool many; /* each row then names its GPU */
    long long index;
};

/* Steals `detail`. */
static void say(const struct reporter *to, const char *what, enum ifm_doctor_state state, json_t *detail,
                const char *remedy)
{
    if (to->many) {
        json_t *named = json_sprintf("gpu%lld: %s", to->index, json_string_value(detail));
        json_decref(detail);
        detail = named;
    }
    to->add(to->rows, what, state, detail, remedy);
}

/* True when the member is {"absent": ...}, and then the row says so. */
static bool is_absent(const struct reporter *to, const char *what, const json_t *member)
{
    const char *reason = json_string_value(json_object_get(member, "absent"));
    const char *remedy = json_string_value(json_object_get(member, "remedy"));
    if (reason != NULL)
        say(to, what, IFM_DOCTOR_ABSENT, json_string(reason),
            remedy != NULL ? remedy : "this GPU does not offer it: values that need it stay absent");
    return reason != NULL;
}

static double real_of(const json_t *object, const char *key)
{
    const json_t *member = json_object_get(object, key);
    return json_is_number(member) ? json_number_value(member) : NAN;
}

static void say_name(const struct reporter *to, const json_t *facts)
{
    const char *name = json_string_value(json_object_get(facts, "name"));
    const char *capability = json_string_value(json_object_get(facts, "compute_capability"));
    char bytes[48] = "memory unknown";
    if (json_is_number(json_object_get(facts, "memory_bytes")))
        ifm_format_human(json_number_value(json_object_get(facts, "memory_bytes")), "B", bytes);
    say(to, "GPU", IFM_DOCTOR_OK,
        json_sprintf("%s, compute capability %s, %s", name != NULL ? name : "unnamed",
                     capability != NULL ? capability : "unknown", bytes),
        "");
}

static void say_power_limit(const struct reporter *to, const json_t *facts)
{
    static const char what[] = "GPU power limit";
    const json_t *limits = json_object_get(facts, "power_limit_w");
    double enforced = real_of(limits, "enforced"), usual = real_of(limits, "default");
    if (is_absent(to, what, json_object_get(limits, "enforced")))
        return;
    if (!(enforced < usual))
        say(to, what, IFM_DOCTOR_OK, json_sprintf("%.0f W", enforced), "");
    else
        say(to, what, IFM_DOCTOR_WARN, json_sprintf("%.0f W, below the default of %.0f W", enforced, usual),
            "nvidia-smi --power-limit=WATTS as root, unless the cap is intended");
}

static void say_modes(const struct reporter *to, const json_t *facts)
{
    const json_t *persistence = json_object_get(facts, "persistence"), *ecc = json_object_get(facts, "ecc");
    const json_t *mig = json_object_get(facts, "mig");
    if (!is_absent(to, "GPU persistence", persistence))
        say(to, "GPU persistence", json_is_true(persistence) ? IFM_DOCTOR_OK : IFM_DOCTOR_WARN,
            json_string(json_is_true(persistence)
                            ? "on"
                            : "off: the driver unloads when nobody uses the GPU, and its counters restart at zero"),
            json_is_true(persistence) ? "" : "nvidia-smi --persistence-mode=1 as root, or run nvidia-persistenced");
    if (!is_absent(to, "GPU ECC", ecc)) {
        bool on = json_is_true(json_object_get(ecc, "current")), next = json_is_true(json_object_get(ecc, "pending"));
        say(to, "GPU ECC", on == next ? IFM_DOCTOR_OK : IFM_DOCTOR_WARN,
            json_sprintf("%s%s", on ? "on" : "off",
                         on == next ? ""
                         : next     ? ", on from the next reset"
                                    : ", off from "
                                      "the next reset"),
            on == next ? "" : "reset the GPU before a study, so that it does not change during it");
    }
    if (!is_absent(to, "GPU MIG", mig)) {
        bool on = json_is_true(json_object_get(mig, "current"));
        say(to, "GPU MIG", on ? IFM_DOCTOR_WARN : IFM_DOCTOR_OK,
            json_string(on ? "on: power and energy are of the whole board, which other instances share" : "off"),
            on ? "nvidia-smi --multi-instance-gpu=0 as root, to measure the energy of one program" : "");
    }
}

static void say_throttling(const struct reporter *to, ifm_nvml_device gpu)
{
    static const char what[] = "GPU throttling";
    json_t *reasons = ifm_gpu_event_reasons(to->nvml, gpu), *reason;
    size_t i;
    struct ifm_text held = {0};
    if (is_absent(to, what, reasons)) {
        json_decref(reasons);
        return;
    }
    json_array_foreach(reasons, i, reason)
    {
        const char *name = json_string_value(reason);
        if (strcmp(name, "gpu_idle") != 0) /* an idle GPU: nothing reduces its clock */
            ifm_text_printf(&held, "%s%s", held.size > 0 ? ", " : "", name);
    }
    if (held.size == 0)
        say(to, what, IFM_DOCTOR_OK, json_string("nothing reduces the clock now"), "");
    else
        say(to, what, IFM_DOCTOR_WARN, json_sprintf("the clock is reduced now: %s", held.data),
            "let it cool down, raise the power limit, or stop what runs on it");
    ifm_text_free(&held);
    json_decref(reasons);
}

void ifm_doctor_gpus(const struct ifm_nvml *nvml, const char *reason, const char *remedy, ifm_doctor_add_fn *add,
                     json_t *rows)
{
    struct reporter to = {nvml, add, rows, false, 0};
    if (nvml == NULL) {
        add(rows, "GPU", IFM_DOCTOR_ABSENT, json_string(reason), remedy);
        return;
    }
    json_t *facts = ifm_gpu_facts(nvml), *devices = json_object_get(facts, "devices"), *device;
    size_t i;
    if (!json_is_array(devices))
        add(rows, "GPU", IFM_DOCTOR_ABSENT, json_string(json_string_value(json_object_get(devices, "absent"))),
            CONTAINER);
    to.many = json_array_size(devices) > 1;
    json_array_foreach(devices, i, device)
    {
        ifm_nvml_device gpu;
        to.index = (long long)i;
        if (is_absent(&to, "GPU", device) || nvml->nvmlDeviceGetHandleByIndex_v2((unsigned)i, &gpu) != IFM_NVML_SUCCESS)
            continue;
        say_name(&to, device);
        say_power_limit(&to, device);
        say_modes(&to, device);
        say_throttling(&to, gpu);
    }
    json_decref(facts);
}
