/* GPUs: facts that do not change during a run. */
#include "host/gpu.h"

#include "base/hash.h"
#include "base/text.h"
#include "host/host.h"
#include "host/probe.h"
#include <stdio.h>
#include <string.h>

enum { MOST_GPUS = 64, MOST_LINKS = 36 };

json_t *ifm_gpu_lack(const struct ifm_nvml *nvml, int result)
{
    if (result == IFM_NVML_LACKS) {
        char reason[160];
        snprintf(reason, sizeof reason, "the management library of driver %s has no such reading",
                 nvml->driver[0] != '\0' ? nvml->driver : "(unnamed)");
        return ifm_probe_absent(reason, "install a newer NVIDIA driver");
    }
    const char *remedy = result == IFM_NVML_NO_PERMISSION   ? "ask as root, or have the administrator allow it"
                         : result == IFM_NVML_GPU_IS_LOST   ? "look at `dmesg` for an Xid; reset the GPU, or reboot"
                         : result == IFM_NVML_NOT_SUPPORTED ? NULL
                                                            : "look at `nvidia-smi` and `dmesg`";
    return ifm_probe_absent(ifm_nvml_error(nvml, result), remedy);
}

json_t *ifm_gpu_answer(const struct ifm_nvml *nvml, int result, json_t *value)
{
    if (result == IFM_NVML_SUCCESS)
        return value;
    json_decref(value);
    return ifm_gpu_lack(nvml, result);
}

json_t *ifm_gpu_number(const struct ifm_nvml *nvml, ifm_gpu_number_fn *function, ifm_nvml_device device)
{
    unsigned value = 0;
    int result = IFM_NVML_ASK(function, device, &value);
    return ifm_gpu_answer(nvml, result, json_integer((json_int_t)value));
}

json_t *ifm_gpu_choice(const struct ifm_nvml *nvml, ifm_gpu_choice_fn *function, ifm_nvml_device device, int which)
{
    unsigned value = 0;
    int result = IFM_NVML_ASK(function, device, which, &value);
    return ifm_gpu_answer(nvml, result, json_integer((json_int_t)value));
}

json_t *ifm_gpu_watts(const struct ifm_nvml *nvml, ifm_gpu_number_fn *function, ifm_nvml_device device)
{
    unsigned milliwatts = 0;
    int result = IFM_NVML_ASK(function, device, &milliwatts);
    return ifm_gpu_answer(nvml, result, json_real(milliwatts / 1000.0));
}

json_t *ifm_gpu_pcie(const struct ifm_nvml *nvml, ifm_gpu_number_fn *generation, ifm_gpu_number_fn *width,
                     ifm_nvml_device device)
{
    return json_pack("{s:o, s:o}", "generation", ifm_gpu_number(nvml, generation, device), "width",
                     ifm_gpu_number(nvml, width, device));
}

int ifm_gpu_field(const struct ifm_nvml *nvml, ifm_nvml_device device, struct ifm_nvml_field *field)
{
    int result = IFM_NVML_ASK(nvml->nvmlDeviceGetFieldValues, device, 1, field);
    return result == IFM_NVML_SUCCESS ? field->result : result;
}

bool ifm_gpu_open(const struct ifm_nvml *nvml, unsigned index, ifm_nvml_device *device, json_t *object)
{
    int result = nvml->nvmlDeviceGetHandleByIndex_v2(index, device);
    if (result == IFM_NVML_SUCCESS)
        return true;
    json_t *lack = ifm_gpu_lack(nvml, result);
    json_object_update(object, lack);
    json_decref(lack);
    return false;
}

json_t *ifm_gpu_list(int n)
{
    return n > 0 ? json_array()
                 : ifm_probe_absent(n == 0 ? "NVML names no GPU" : "NVML does not count its GPUs",
                                    "in a container, start it with `--gpus all`; else look at `nvidia-smi`");
}

int ifm_gpu_count(const struct ifm_nvml *nvml)
{
    unsigned n;
    if (nvml->nvmlDeviceGetCount_v2 == NULL || nvml->nvmlDeviceGetCount_v2(&n) != IFM_NVML_SUCCESS)
        return -1;
    return n < MOST_GPUS ? (int)n : MOST_GPUS;
}

/* A text from the driver, reduced to printable ASCII. */
static json_t *plain(const char *text)
{
    char copy[128];
    size_t n = 0;
    for (; text[n] != '\0' && n < sizeof copy - 1; n++)
        copy[n] = text[n];
    copy[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (copy[i] < ' ' || copy[i] > '~')
            copy[i] = '?';
    return n > 0 ? json_string(copy) : ifm_probe_absent("the driver gives an empty text", NULL);
}

static json_t *text_of(const struct ifm_nvml *nvml, int (*function)(ifm_nvml_device, char *, unsigned),
                       ifm_nvml_device device)
{
    char text[128] = "";
    int result = IFM_NVML_ASK(function, device, text, sizeof text);
    text[sizeof text - 1] = '\0';
    return ifm_gpu_answer(nvml, result, plain(text));
}

/* The only place that reads a UUID; only its hash is kept. */
static json_t *identity(const struct ifm_nvml *nvml, ifm_nvml_device device, struct ifm_text *all)
{
    char uuid[128] = "";
    int result = IFM_NVML_ASK(nvml->nvmlDeviceGetUUID, device, uuid, sizeof uuid);
    if (result != IFM_NVML_SUCCESS)
        return ifm_gpu_lack(nvml, result);
    uuid[sizeof uuid - 1] = '\0';
    struct ifm_sha256 hash = ifm_sha256_bytes(uuid, strlen(uuid));
    ifm_text_add(all, hash.hex);
    return json_string(hash.hex);
}

/* The name of what NVML numbers. */
static json_t *named(const char *const *names, size_t n, long long which)
{
    bool known = which >= 0 && which < (long long)n && names[which] != NULL;
    return known ? json_string(names[which]) : json_sprintf("number %lld of NVML", which);
}

static json_t *architecture(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    static const char *const names[] = {NULL,     NULL,     "Kepler", "Maxwell", "Pascal",   "Volta",
                                        "Turing", "Ampere", "Ada",    "Hopper",  "Blackwell"};
    unsigned which = 0;
    int result = IFM_NVML_ASK(nvml->nvmlDeviceGetArchitecture, device, &which);
    return ifm_gpu_answer(nvml, result, named(names, sizeof names / sizeof *names, which));
}

static json_t *compute_mode(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    static const char *const names[] = {"default", "exclusive thread", "prohibited", "exclusive process"};
    int mode = 0, result = IFM_NVML_ASK(nvml->nvmlDeviceGetComputeMode, device, &mode);
    return ifm_gpu_answer(nvml, result, named(names, sizeof names / sizeof *names, mode));
}

static json_t *capability(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    int major = 0, minor = 0, result = IFM_NVML_ASK(nvml->nvmlDeviceGetCudaComputeCapability, device, &major, &minor);
    return ifm_gpu_answer(nvml, result, json_sprintf("%d.%d", major, minor));
}

static json_t *memory(const struct ifm_nvml *nvml, int (*function)(ifm_nvml_device, struct ifm_nvml_memory *),
                      ifm_nvml_device device)
{
    struct ifm_nvml_memory bytes = {0};
    int result = IFM_NVML_ASK(function, device, &bytes);
    return ifm_gpu_answer(nvml, result, json_integer((json_int_t)bytes.total));
}

static json_t *max_clocks(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    ifm_gpu_choice_fn *clock = nvml->nvmlDeviceGetMaxClockInfo;
    return json_pack("{s:o, s:o, s:o}", "graphics", ifm_gpu_choice(nvml, clock, device, IFM_NVML_CLOCK_GRAPHICS), "sm",
                     ifm_gpu_choice(nvml, clock, device, IFM_NVML_CLOCK_SM), "memory",
                     ifm_gpu_choice(nvml, clock, device, IFM_NVML_CLOCK_MEMORY));
}

static json_t *power_limits(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    unsigned low = 0, high = 0;
    int result = IFM_NVML_ASK(nvml->nvmlDeviceGetPowerManagementLimitConstraints, device, &low, &high);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "default",
                     ifm_gpu_watts(nvml, nvml->nvmlDeviceGetPowerManagementDefaultLimit, device), "set",
                     ifm_gpu_watts(nvml, nvml->nvmlDeviceGetPowerManagementLimit, device), "enforced",
                     ifm_gpu_watts(nvml, nvml->nvmlDeviceGetEnforcedPowerLimit, device), "min",
                     ifm_gpu_answer(nvml, result, json_real(low / 1000.0)), "max",
                     ifm_gpu_answer(nvml, result, json_real(high / 1000.0)));
}

static json_t *persistence(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    int on = 0, result = IFM_NVML_ASK(nvml->nvmlDeviceGetPersistenceMode, device, &on);
    return ifm_gpu_answer(nvml, result, json_boolean(on != 0));
}

static json_t *ecc(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    int current = 0, pending = 0, result = IFM_NVML_ASK(nvml->nvmlDeviceGetEccMode, device, &current, &pending);
    return ifm_gpu_answer(nvml, result, json_pack("{s:b, s:b}", "current", current != 0, "pending", pending != 0));
}

static json_t *mig(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    unsigned current = 0, pending = 0;
    int result = IFM_NVML_ASK(nvml->nvmlDeviceGetMigMode, device, &current, &pending);
    return ifm_gpu_answer(nvml, result, json_pack("{s:b, s:b}", "current", current != 0, "pending", pending != 0));
}

/* One field gives the number of links; a call for each tells whether it is up. */
static json_t *links(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    struct ifm_nvml_field field = {.id = IFM_NVML_FIELD_NVLINKS};
    int result = ifm_gpu_field(nvml, device, &field);
    if (result != IFM_NVML_SUCCESS)
        return ifm_gpu_lack(nvml, result);
    unsigned n = field.value.u < MOST_LINKS ? field.value.u : MOST_LINKS, up = 0;
    bool asked = nvml->nvmlDeviceGetNvLinkState != NULL;
    for (unsigned i = 0; asked && i < n; i++) {
        int active = 0;
        up += nvml->nvmlDeviceGetNvLinkState(device, i, &active) == IFM_NVML_SUCCESS && active != 0;
    }
    return json_pack("{s:I, s:o}", "links", (json_int_t)n, "active",
                     asked || n == 0 ? json_integer((json_int_t)up) : ifm_gpu_lack(nvml, IFM_NVML_LACKS));
}

static json_t *facts_of(const struct ifm_nvml *nvml, unsigned index, struct ifm_text *identities)
{
    enum { SLOWDOWN = 1 };
    ifm_nvml_device gpu;
    json_t *facts = json_pack("{s:I}", "index", (json_int_t)index);
    if (!ifm_gpu_open(nvml, index, &gpu, facts)) {
        ifm_text_add(identities, "absent");
        return facts;
    }
    json_object_set_new(facts, "name", text_of(nvml, nvml->nvmlDeviceGetName, gpu));
    json_object_set_new(facts, "architecture", architecture(nvml, gpu));
    json_object_set_new(facts, "compute_capability", capability(nvml, gpu));
    json_object_set_new(facts, "uuid_sha256", identity(nvml, gpu, identities));
    json_object_set_new(
        facts, "pcie_max",
        ifm_gpu_pcie(nvml, nvml->nvmlDeviceGetMaxPcieLinkGeneration, nvml->nvmlDeviceGetMaxPcieLinkWidth, gpu));
    json_object_set_new(facts, "vbios", text_of(nvml, nvml->nvmlDeviceGetVbiosVersion, gpu));
    json_object_set_new(facts, "memory_bytes", memory(nvml, nvml->nvmlDeviceGetMemoryInfo, gpu));
    json_object_set_new(facts, "bar1_bytes", memory(nvml, nvml->nvmlDeviceGetBAR1MemoryInfo, gpu));
    json_object_set_new(facts, "max_clock_mhz", max_clocks(nvml, gpu));
    json_object_set_new(facts, "power_limit_w", power_limits(nvml, gpu));
    json_object_set_new(facts, "slowdown_temperature_c",
                        ifm_gpu_choice(nvml, nvml->nvmlDeviceGetTemperatureThreshold, gpu, SLOWDOWN));
    json_object_set_new(facts, "persistence", persistence(nvml, gpu));
    json_object_set_new(facts, "compute_mode", compute_mode(nvml, gpu));
    json_object_set_new(facts, "ecc", ecc(nvml, gpu));
    json_object_set_new(facts, "mig", mig(nvml, gpu));
    json_object_set_new(facts, "nvlinks", links(nvml, gpu));
    return facts;
}

static json_t *driver_api(const struct ifm_nvml *nvml)
{
    int version = 0, result = IFM_NVML_ASK(nvml->nvmlSystemGetCudaDriverVersion_v2, &version);
    return ifm_gpu_answer(nvml, result, json_sprintf("%d.%d", version / 1000, version % 1000 / 10));
}

json_t *ifm_gpu_facts(const struct ifm_nvml *nvml)
{
    int n = ifm_gpu_count(nvml);
    json_t *devices = ifm_gpu_list(n);
    struct ifm_text identities = {0};
    for (int i = 0; i < n; i++)
        json_array_append_new(devices, facts_of(nvml, (unsigned)i, &identities));
    json_t *facts = json_pack("{s:o, s:o, s:o, s:o}", "driver", plain(nvml->driver), "nvml", plain(nvml->version),
                              "cuda_driver_api", driver_api(nvml), "devices", devices);
    if (n > 0) /* a resumed run must have the same: other GPUs, or a different order, count as another machine */
        json_object_set_new(facts, "devices_sha256",
                            json_string(ifm_sha256_bytes(identities.data, identities.size).hex));
    ifm_text_free(&identities);
    return facts;
}

json_t *ifm_probe_gpu(const char *root)
{
    const char *reason, *remedy;
    if (!ifm_probe_live(root))
        return ifm_probe_absent("only the live machine can be asked", NULL);
    const struct ifm_nvml *nvml = ifm_nvml_load(&reason, &remedy);
    return nvml == NULL ? ifm_probe_absent(reason, remedy) : ifm_gpu_facts(nvml);
}
