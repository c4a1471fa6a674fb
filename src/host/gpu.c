/* GPUs: facts that do not change during a run. */
#include "host/gpu.h"

#include "base/hash.h"
#include "base/text.h"
#include "host/host.h"
#include "host/probe.h"
#include <stdio.h>
#include <string.h>

enum { MOST_GPUS = 64, MOST_LINKS = 36 };

typedef int unsigned_fn(ifm_nvml_device device, unsigned *value);

json_t *ifm_gpu_lack(const struct ifm_nvml *nvml, bool has_function, int result)
{
    if (!has_function) {
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

static json_t *number(const struct ifm_nvml *nvml, unsigned_fn *function, ifm_nvml_device device)
{
    unsigned value = 0;
    int result = function == NULL ? IFM_NVML_SUCCESS : function(device, &value);
    if (function == NULL || result != IFM_NVML_SUCCESS)
        return ifm_gpu_lack(nvml, function != NULL, result);
    return json_integer((json_int_t)value);
}

static json_t *watts(const struct ifm_nvml *nvml, unsigned_fn *function, ifm_nvml_device device)
{
    json_t *value = number(nvml, function, device);
    if (!json_is_integer(value))
        return value;
    json_t *watts = json_real((double)json_integer_value(value) / 1000);
    json_decref(value);
    return watts;
}

static json_t *text_of(const struct ifm_nvml *nvml, int (*function)(ifm_nvml_device, char *, unsigned),
                       ifm_nvml_device device)
{
    char text[128] = "";
    int result = function == NULL ? IFM_NVML_SUCCESS : function(device, text, sizeof text);
    if (function == NULL || result != IFM_NVML_SUCCESS)
        return ifm_gpu_lack(nvml, function != NULL, result);
    text[sizeof text - 1] = '\0';
    return plain(text);
}

/* The only place that reads a UUID; only its hash is kept. */
static json_t *identity(const struct ifm_nvml *nvml, ifm_nvml_device device, struct ifm_text *all)
{
    char uuid[128] = "";
    int result =
        nvml->nvmlDeviceGetUUID == NULL ? IFM_NVML_SUCCESS : nvml->nvmlDeviceGetUUID(device, uuid, sizeof uuid);
    if (nvml->nvmlDeviceGetUUID == NULL || result != IFM_NVML_SUCCESS)
        return ifm_gpu_lack(nvml, nvml->nvmlDeviceGetUUID != NULL, result);
    uuid[sizeof uuid - 1] = '\0';
    struct ifm_sha256 hash = ifm_sha256_bytes(uuid, strlen(uuid));
    ifm_text_add(all, hash.hex);
    return json_string(hash.hex);
}

static json_t *architecture(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    static const char *const names[] = {NULL,     NULL,     "Kepler", "Maxwell", "Pascal",   "Volta",
                                        "Turing", "Ampere", "Ada",    "Hopper",  "Blackwell"};
    json_t *value = number(nvml, nvml->nvmlDeviceGetArchitecture, device);
    json_int_t which = json_integer_value(value);
    if (!json_is_integer(value))
        return value;
    json_decref(value);
    if (which < 2 || which >= (json_int_t)(sizeof names / sizeof *names))
        return json_sprintf("number %lld of NVML", (long long)which);
    return json_string(names[which]);
}

static json_t *capability(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    int major = 0, minor = 0, result = IFM_NVML_SUCCESS;
    bool has = nvml->nvmlDeviceGetCudaComputeCapability != NULL;
    if (has)
        result = nvml->nvmlDeviceGetCudaComputeCapability(device, &major, &minor);
    return has && result == IFM_NVML_SUCCESS ? json_sprintf("%d.%d", major, minor) : ifm_gpu_lack(nvml, has, result);
}

static json_t *memory(const struct ifm_nvml *nvml, int (*function)(ifm_nvml_device, struct ifm_nvml_memory *),
                      ifm_nvml_device device)
{
    struct ifm_nvml_memory bytes = {0};
    int result = function == NULL ? IFM_NVML_SUCCESS : function(device, &bytes);
    if (function == NULL || result != IFM_NVML_SUCCESS)
        return ifm_gpu_lack(nvml, function != NULL, result);
    return json_integer((json_int_t)bytes.total);
}

static json_t *clocks(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    static const struct {
        const char *name;
        int clock;
    } kinds[] = {{"graphics", IFM_NVML_CLOCK_GRAPHICS}, {"sm", IFM_NVML_CLOCK_SM}, {"memory", IFM_NVML_CLOCK_MEMORY}};
    json_t *clocks = json_object();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        unsigned mhz = 0;
        bool has = nvml->nvmlDeviceGetMaxClockInfo != NULL;
        int result = has ? nvml->nvmlDeviceGetMaxClockInfo(device, kinds[i].clock, &mhz) : IFM_NVML_SUCCESS;
        json_object_set_new(clocks, kinds[i].name,
                            has && result == IFM_NVML_SUCCESS ? json_integer((json_int_t)mhz)
                                                              : ifm_gpu_lack(nvml, has, result));
    }
    return clocks;
}

static json_t *power_limits(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    unsigned low = 0, high = 0;
    bool has = nvml->nvmlDeviceGetPowerManagementLimitConstraints != NULL;
    int result = has ? nvml->nvmlDeviceGetPowerManagementLimitConstraints(device, &low, &high) : IFM_NVML_SUCCESS;
    bool known = has && result == IFM_NVML_SUCCESS;
    json_t *limits = json_object();
    json_object_set_new(limits, "default", watts(nvml, nvml->nvmlDeviceGetPowerManagementDefaultLimit, device));
    json_object_set_new(limits, "set", watts(nvml, nvml->nvmlDeviceGetPowerManagementLimit, device));
    json_object_set_new(limits, "enforced", watts(nvml, nvml->nvmlDeviceGetEnforcedPowerLimit, device));
    json_object_set_new(limits, "min", known ? json_real(low / 1000.0) : ifm_gpu_lack(nvml, has, result));
    json_object_set_new(limits, "max", known ? json_real(high / 1000.0) : ifm_gpu_lack(nvml, has, result));
    return limits;
}

static json_t *slowdown_temperature(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    enum { SLOWDOWN = 1 };
    unsigned celsius = 0;
    bool has = nvml->nvmlDeviceGetTemperatureThreshold != NULL;
    int result = has ? nvml->nvmlDeviceGetTemperatureThreshold(device, SLOWDOWN, &celsius) : IFM_NVML_SUCCESS;
    return has && result == IFM_NVML_SUCCESS ? json_integer((json_int_t)celsius) : ifm_gpu_lack(nvml, has, result);
}

static json_t *persistence(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    int on = 0, result = IFM_NVML_SUCCESS;
    bool has = nvml->nvmlDeviceGetPersistenceMode != NULL;
    if (has)
        result = nvml->nvmlDeviceGetPersistenceMode(device, &on);
    return has && result == IFM_NVML_SUCCESS ? json_boolean(on != 0) : ifm_gpu_lack(nvml, has, result);
}

static json_t *compute_mode(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    static const char *const names[] = {"default", "exclusive thread", "prohibited", "exclusive process"};
    int mode = 0, result = IFM_NVML_SUCCESS;
    bool has = nvml->nvmlDeviceGetComputeMode != NULL;
    if (has)
        result = nvml->nvmlDeviceGetComputeMode(device, &mode);
    if (!has || result != IFM_NVML_SUCCESS)
        return ifm_gpu_lack(nvml, has, result);
    return mode >= 0 && mode < 4 ? json_string(names[mode]) : json_sprintf("number %d of NVML", mode);
}

static json_t *pair(json_t *current, json_t *pending)
{
    return json_pack("{s:o, s:o}", "current", current, "pending", pending);
}

static json_t *ecc(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    int current = 0, pending = 0, result = IFM_NVML_SUCCESS;
    bool has = nvml->nvmlDeviceGetEccMode != NULL;
    if (has)
        result = nvml->nvmlDeviceGetEccMode(device, &current, &pending);
    if (!has || result != IFM_NVML_SUCCESS)
        return ifm_gpu_lack(nvml, has, result);
    return pair(json_boolean(current != 0), json_boolean(pending != 0));
}

static json_t *mig(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    unsigned current = 0, pending = 0;
    bool has = nvml->nvmlDeviceGetMigMode != NULL;
    int result = has ? nvml->nvmlDeviceGetMigMode(device, &current, &pending) : IFM_NVML_SUCCESS;
    if (!has || result != IFM_NVML_SUCCESS)
        return ifm_gpu_lack(nvml, has, result);
    return pair(json_boolean(current != 0), json_boolean(pending != 0));
}

/* One field gives the number of links; a call for each tells whether it is up. */
static json_t *links(const struct ifm_nvml *nvml, ifm_nvml_device device)
{
    struct ifm_nvml_field field = {.id = IFM_NVML_FIELD_NVLINKS};
    bool has = nvml->nvmlDeviceGetFieldValues != NULL;
    int result = has ? nvml->nvmlDeviceGetFieldValues(device, 1, &field) : IFM_NVML_SUCCESS;
    result = result == IFM_NVML_SUCCESS ? field.result : result;
    if (!has || result != IFM_NVML_SUCCESS)
        return ifm_gpu_lack(nvml, has, result);
    unsigned n = field.value.u < MOST_LINKS ? field.value.u : MOST_LINKS, up = 0;
    bool asked = nvml->nvmlDeviceGetNvLinkState != NULL;
    for (unsigned i = 0; asked && i < n; i++) {
        int active = 0;
        up += nvml->nvmlDeviceGetNvLinkState(device, i, &active) == IFM_NVML_SUCCESS && active != 0;
    }
    return json_pack("{s:I, s:o}", "links", (json_int_t)n, "active",
                     asked || n == 0 ? json_integer((json_int_t)up) : ifm_gpu_lack(nvml, false, 0));
}

static json_t *facts_of(const struct ifm_nvml *nvml, unsigned index, struct ifm_text *identities)
{
    ifm_nvml_device gpu;
    json_t *facts = json_pack("{s:I}", "index", (json_int_t)index);
    int result = nvml->nvmlDeviceGetHandleByIndex_v2(index, &gpu);
    if (result != IFM_NVML_SUCCESS) {
        json_t *lack = ifm_gpu_lack(nvml, true, result);
        json_object_update(facts, lack);
        json_decref(lack);
        ifm_text_add(identities, "absent");
        return facts;
    }
    json_object_set_new(facts, "name", text_of(nvml, nvml->nvmlDeviceGetName, gpu));
    json_object_set_new(facts, "architecture", architecture(nvml, gpu));
    json_object_set_new(facts, "compute_capability", capability(nvml, gpu));
    json_object_set_new(facts, "uuid_sha256", identity(nvml, gpu, identities));
    json_object_set_new(facts, "pcie_max",
                        json_pack("{s:o, s:o}", "generation",
                                  number(nvml, nvml->nvmlDeviceGetMaxPcieLinkGeneration, gpu), "width",
                                  number(nvml, nvml->nvmlDeviceGetMaxPcieLinkWidth, gpu)));
    json_object_set_new(facts, "vbios", text_of(nvml, nvml->nvmlDeviceGetVbiosVersion, gpu));
    json_object_set_new(facts, "memory_bytes", memory(nvml, nvml->nvmlDeviceGetMemoryInfo, gpu));
    json_object_set_new(facts, "bar1_bytes", memory(nvml, nvml->nvmlDeviceGetBAR1MemoryInfo, gpu));
    json_object_set_new(facts, "max_clock_mhz", clocks(nvml, gpu));
    json_object_set_new(facts, "power_limit_w", power_limits(nvml, gpu));
    json_object_set_new(facts, "slowdown_temperature_c", slowdown_temperature(nvml, gpu));
    json_object_set_new(facts, "persistence", persistence(nvml, gpu));
    json_object_set_new(facts, "compute_mode", compute_mode(nvml, gpu));
    json_object_set_new(facts, "ecc", ecc(nvml, gpu));
    json_object_set_new(facts, "mig", mig(nvml, gpu));
    json_object_set_new(facts, "nvlinks", links(nvml, gpu));
    return facts;
}

static json_t *driver_api(const struct ifm_nvml *nvml)
{
    int version = 0, result = IFM_NVML_SUCCESS;
    bool has = nvml->nvmlSystemGetCudaDriverVersion_v2 != NULL;
    if (has)
        result = nvml->nvmlSystemGetCudaDriverVersion_v2(&version);
    return has && result == IFM_NVML_SUCCESS ? json_sprintf("%d.%d", version / 1000, version % 1000 / 10)
                                             : ifm_gpu_lack(nvml, has, result);
}

json_t *ifm_gpu_facts(const struct ifm_nvml *nvml)
{
    int n = ifm_gpu_count(nvml);
    json_t *devices = n <= 0 ? ifm_probe_absent(n == 0 ? "NVML names no GPU" : "NVML does not count its GPUs",
                                                "in a container, start it with --gpus all; else look at `nvidia-smi`")
                             : json_array();
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
