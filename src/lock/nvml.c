/* Knobs of NVIDIA GPUs. Only this file calls NVML functions that set or reset something. */
#include "lock/private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLOCKS = 512 };

void ifm_lock_nvml_open(struct ifm_lock_machine *machine, const char *file)
{
    if (file != NULL)
        machine->nvml = ifm_nvml_open(file, &machine->own, machine->room, &machine->nvml_reason, &machine->nvml_remedy)
                            ? &machine->own
                            : NULL;
    else if (machine->root[0] == '\0')
        machine->nvml = ifm_nvml_load(&machine->nvml_reason, &machine->nvml_remedy);
    else { /* under another root, the GPUs of this machine do not count */
        machine->nvml_reason = "a tree of files has no GPU";
        machine->nvml_remedy = "leave out --root";
    }
}

unsigned ifm_lock_gpus(const struct ifm_lock_machine *machine)
{
    unsigned n = 0;
    const struct ifm_nvml *nvml = machine->nvml;
    return nvml != NULL && IFM_NVML_ASK(nvml->nvmlDeviceGetCount_v2, &n) == IFM_NVML_SUCCESS ? n : 0;
}

/* What came of the function `name`, which is about `what`. */
static enum ifm_status told(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row, int result,
                            const char *name, const char *what, struct ifm_error *error)
{
    if (result == IFM_NVML_SUCCESS)
        return IFM_OK;
    if (result == IFM_NVML_LACKS)
        return ifm_fail(error, IFM_MISSING, row->target, "install a newer NVIDIA driver",
                        "the management library of driver %s has no %s", machine->nvml->driver, name);
    return ifm_fail(error, IFM_MISSING, row->target,
                    result == IFM_NVML_NO_PERMISSION
                        ? "run it as root, or ask the administrator of this machine to"
                        : "look at `nvidia-smi -q`; virtual and shared GPUs leave their settings to the host",
                    "%s: %s", what, ifm_nvml_error(machine->nvml, result));
}

static enum ifm_status open_card(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row, unsigned index,
                                 ifm_nvml_device *out, struct ifm_error *error)
{
    int result = machine->nvml->nvmlDeviceGetHandleByIndex_v2(index, out);
    return told(machine, row, result, "", "it cannot be opened", error);
}

static enum ifm_status no_library(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                  struct ifm_error *error)
{
    return ifm_fail(error, IFM_MISSING, row->target, machine->nvml_remedy, "%s", machine->nvml_reason);
}

enum ifm_status ifm_lock_gpu_id(const struct ifm_lock_machine *machine, unsigned index, char id[static IFM_LOCK_ID],
                                struct ifm_error *error)
{
    ifm_nvml_device device;
    struct ifm_lock_row row = {0};
    snprintf(row.target, sizeof row.target, "gpu%u", index);
    id[0] = '\0';
    if (machine->nvml == NULL)
        return no_library(machine, &row, error);
    IFM_TRY(open_card(machine, &row, index, &device, error));
    if (IFM_NVML_ASK(machine->nvml->nvmlDeviceGetUUID, device, id, IFM_LOCK_ID) != IFM_NVML_SUCCESS)
        id[0] = '\0';
    return IFM_OK;
}

/* By UUID where the card has one, because its index may have changed. */
static enum ifm_status find(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                            ifm_nvml_device *out, struct ifm_error *error)
{
    char id[IFM_LOCK_ID];
    struct ifm_error ignored;
    unsigned index = (unsigned)strtoul(row->target + strlen("gpu"), NULL, 10), n = ifm_lock_gpus(machine);
    if (machine->nvml == NULL)
        return no_library(machine, row, error);
    for (unsigned i = 0; row->id[0] != '\0' && i < n; i++)
        if (ifm_lock_gpu_id(machine, i, id, &ignored) == IFM_OK && strcmp(id, row->id) == 0) {
            index = i;
            break;
        } else if (i + 1 == n)
            return ifm_fail(error, IFM_MISSING, row->target, "look at `nvidia-smi -L`",
                            "the card that was locked does not answer here");
    return open_card(machine, row, index, out, error);
}

enum ifm_status ifm_lock_gpu_at(const struct ifm_lock_machine *machine, const char *bus, unsigned *index,
                                struct ifm_error *error)
{
    struct ifm_lock_row row = {.target = "gpu"};
    ifm_nvml_device wanted, device;
    unsigned n = ifm_lock_gpus(machine);
    *index = 0;
    if (machine->nvml == NULL)
        return no_library(machine, &row, error);
    if (bus == NULL || bus[0] == '\0') {
        if (n == 1)
            return IFM_OK;
        return ifm_fail(error, IFM_MISSING, "gpu", "hide the others from this machine's driver",
                        "NVML lists %u GPUs, and it is unknown which one is measured", n);
    }
    int result = IFM_NVML_ASK(machine->nvml->nvmlDeviceGetHandleByPciBusId_v2, bus, &wanted);
    IFM_TRY(told(machine, &row, result, "nvmlDeviceGetHandleByPciBusId_v2",
                 "the measured GPU cannot be found by its bus", error));
    for (; *index < n; ++*index)
        if (machine->nvml->nvmlDeviceGetHandleByIndex_v2(*index, &device) == IFM_NVML_SUCCESS && device == wanted)
            return IFM_OK;
    return ifm_fail(error, IFM_MISSING, "gpu", "look at `nvidia-smi -L`", "the measured GPU has no index");
}

/* ---- persistence mode ---- */

static enum ifm_status read_persistence(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                        char value[static IFM_LOCK_TEXT], struct ifm_error *error)
{
    ifm_nvml_device device;
    int mode = 0;
    IFM_TRY(find(machine, row, &device, error));
    int result = IFM_NVML_ASK(machine->nvml->nvmlDeviceGetPersistenceMode, device, &mode);
    snprintf(value, IFM_LOCK_TEXT, "%s", mode != 0 ? "on" : "off");
    return told(machine, row, result, "nvmlDeviceGetPersistenceMode", "its persistence mode", error);
}

static enum ifm_status write_persistence(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                         const char *value, struct ifm_error *error)
{
    ifm_nvml_device device;
    IFM_TRY(find(machine, row, &device, error));
    int result = IFM_NVML_ASK(machine->nvml->nvmlDeviceSetPersistenceMode, device, strcmp(value, "on") == 0);
    return told(machine, row, result, "nvmlDeviceSetPersistenceMode", "its persistence mode", error);
}

/* ---- power limit ---- */

static void write_watts(double watts, char value[static IFM_LOCK_TEXT])
{
    snprintf(value, IFM_LOCK_TEXT, "%.7g W", watts);
}

static bool is_watts(const char *text)
{
    char same[IFM_LOCK_TEXT];
    double watts = strtod(text, NULL);
    write_watts(watts, same);
    return watts > 0 && isfinite(watts) && strcmp(text, same) == 0;
}

static enum ifm_status read_power(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                  char value[static IFM_LOCK_TEXT], struct ifm_error *error)
{
    ifm_nvml_device device;
    unsigned milliwatts = 0;
    IFM_TRY(find(machine, row, &device, error));
    int result = IFM_NVML_ASK(machine->nvml->nvmlDeviceGetPowerManagementLimit, device, &milliwatts);
    write_watts(milliwatts / 1e3, value);
    return told(machine, row, result, "nvmlDeviceGetPowerManagementLimit", "its power limit", error);
}

static enum ifm_status write_power(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                   const char *value, struct ifm_error *error)
{
    ifm_nvml_device device;
    unsigned milliwatts = (unsigned)lround(strtod(value, NULL) * 1e3);
    IFM_TRY(find(machine, row, &device, error));
    int result = IFM_NVML_ASK(machine->nvml->nvmlDeviceSetPowerManagementLimit, device, milliwatts);
    return told(machine, row, result, "nvmlDeviceSetPowerManagementLimit", "its power limit", error);
}

static enum ifm_status check_power(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                   struct ifm_error *error)
{
    ifm_nvml_device device;
    unsigned least = 0, most = 0;
    double wanted = strtod(row->wanted, NULL) * 1e3;
    IFM_TRY(find(machine, row, &device, error));
    int result = IFM_NVML_ASK(machine->nvml->nvmlDeviceGetPowerManagementLimitConstraints, device, &least, &most);
    if (result != IFM_NVML_SUCCESS || (wanted >= least && wanted <= most))
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, "--power-cap", "", "%s takes a power limit from %.7g to %.7g W, not %s",
                    row->target, least / 1e3, most / 1e3, row->wanted);
}

/* ---- clocks ---- */

static bool is_unread(const char *text)
{
    return strcmp(text, IFM_LOCK_NOT_READABLE) == 0;
}

static enum ifm_status read_clock(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                  char value[static IFM_LOCK_TEXT], struct ifm_error *error)
{
    ifm_nvml_device device;
    unsigned mhz = 0;
    int clock = row->kind == &ifm_lock_gpu_clock ? IFM_NVML_CLOCK_SM : IFM_NVML_CLOCK_MEMORY;
    IFM_TRY(find(machine, row, &device, error));
    int result = IFM_NVML_ASK(machine->nvml->nvmlDeviceGetClockInfo, device, clock, &mhz);
    snprintf(value, IFM_LOCK_TEXT, "%u MHz", mhz);
    return told(machine, row, result, "nvmlDeviceGetClockInfo", "its clock", error);
}

/* The previous lock cannot be read, so only a reset can restore it. */
static enum ifm_status write_clock(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                   const char *value, struct ifm_error *error)
{
    ifm_nvml_device device;
    bool memory = row->kind == &ifm_lock_memory_clock;
    unsigned mhz = (unsigned)strtoul(value, NULL, 10);
    IFM_TRY(find(machine, row, &device, error));
    const struct ifm_nvml *nvml = machine->nvml;
    int (*set)(ifm_nvml_device, unsigned, unsigned) =
        memory ? nvml->nvmlDeviceSetMemoryLockedClocks : nvml->nvmlDeviceSetGpuLockedClocks;
    int (*reset)(ifm_nvml_device) =
        memory ? nvml->nvmlDeviceResetMemoryLockedClocks : nvml->nvmlDeviceResetGpuLockedClocks;
    int result = IFM_NVML_LACKS; /* a value that could not be restored later is not set */
    if (set != NULL && reset != NULL)
        result = mhz == 0 ? reset(device) : set(device, mhz, mhz);
    return told(machine, row, result, memory ? "nvmlDeviceSetMemoryLockedClocks" : "nvmlDeviceSetGpuLockedClocks",
                mhz == 0 ? "the reset of its clock" : "the lock of its clock", error);
}

void ifm_lock_why_slow(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                       char reason[static IFM_LOCK_SENTENCE])
{
    ifm_nvml_device device;
    struct ifm_error ignored;
    unsigned long long bits = 0;
    const struct ifm_nvml *nvml = machine->nvml;
    if (find(machine, row, &device, &ignored) != IFM_OK ||
        IFM_NVML_ASK(nvml->nvmlDeviceGetCurrentClocksEventReasons, device, &bits) != IFM_NVML_SUCCESS)
        bits = 0;
    const char *why = bits & IFM_NVML_REASON_IDLE        ? "it is idle; the locked clock shows only under load"
                      : bits & IFM_NVML_REASON_POWER_CAP ? "its power cap keeps it below the lock"
                      : bits & IFM_NVML_REASON_THERMAL   ? "its temperature keeps it below the lock"
                      : bits & IFM_NVML_REASON_HARDWARE  ? "a hardware slow-down keeps it below the lock"
                                                         : "the driver does not say why";
    snprintf(reason, IFM_LOCK_SENTENCE, "the driver accepted the lock at %.24s, but the clock now is %.24s: %s",
             row->wanted, row->seen, why);
}

/* ---- what a GPU can have ---- */

static unsigned memory_clocks(const struct ifm_nvml *nvml, ifm_nvml_device device, unsigned clocks[static MOST_CLOCKS])
{
    unsigned n = MOST_CLOCKS;
    if (IFM_NVML_ASK(nvml->nvmlDeviceGetSupportedMemoryClocks, device, &n, clocks) != IFM_NVML_SUCCESS)
        return 0;
    return n < MOST_CLOCKS ? n : MOST_CLOCKS;
}

unsigned ifm_lock_only_memory_clock(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row)
{
    unsigned clocks[MOST_CLOCKS];
    ifm_nvml_device device;
    struct ifm_error ignored;
    if (find(machine, row, &device, &ignored) != IFM_OK || memory_clocks(machine->nvml, device, clocks) != 1)
        return 0;
    return clocks[0];
}

unsigned ifm_lock_application_clock(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row)
{
    unsigned mhz = 0;
    ifm_nvml_device device;
    struct ifm_error ignored;
    if (find(machine, row, &device, &ignored) != IFM_OK ||
        IFM_NVML_ASK(machine->nvml->nvmlDeviceGetApplicationsClock, device, IFM_NVML_CLOCK_SM, &mhz) !=
            IFM_NVML_SUCCESS)
        return 0;
    return mhz;
}

/* The driver silently rounds to its nearest clock. */
static enum ifm_status check_clock(const struct ifm_lock_row *row, const unsigned *clocks, unsigned n,
                                   struct ifm_error *error)
{
    unsigned wanted = (unsigned)strtoul(row->wanted, NULL, 10), below = 0, above = 0;
    char hint[IFM_LOCK_SENTENCE];
    for (unsigned i = 0; i < n; i++) {
        if (clocks[i] == wanted)
            return IFM_OK;
        if (clocks[i] < wanted && clocks[i] > below)
            below = clocks[i];
        if (clocks[i] > wanted && (above == 0 || clocks[i] < above))
            above = clocks[i];
    }
    if (n == 0) /* the driver then decides */
        return IFM_OK;
    if (below != 0 && above != 0)
        snprintf(hint, sizeof hint, "the nearest are %u and %u MHz", below, above);
    else
        snprintf(hint, sizeof hint, "the nearest is %u MHz", below != 0 ? below : above);
    return ifm_fail(error, IFM_USAGE, row->kind == &ifm_lock_gpu_clock ? "--gpu-clock" : "--memory-clock", hint,
                    "%s has no clock of %u MHz", row->target, wanted);
}

static enum ifm_status check_clocks(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                    struct ifm_error *error)
{
    unsigned clocks[MOST_CLOCKS], now = 0, graphics = MOST_CLOCKS;
    ifm_nvml_device device;
    IFM_TRY(find(machine, row, &device, error));
    unsigned n = memory_clocks(machine->nvml, device, clocks);
    if (row->kind == &ifm_lock_memory_clock)
        return check_clock(row, clocks, n, error);
    for (unsigned i = 0; i < n; i++)
        now = clocks[i] > now ? clocks[i] : now;
    if (now == 0 || IFM_NVML_ASK(machine->nvml->nvmlDeviceGetSupportedGraphicsClocks, device, now, &graphics, clocks) !=
                        IFM_NVML_SUCCESS)
        return IFM_OK;
    return check_clock(row, clocks, graphics < MOST_CLOCKS ? graphics : MOST_CLOCKS, error);
}

const struct ifm_lock_kind ifm_lock_persistence = {"persistence", .on_gpu = true, .read = read_persistence,
                                                   .write = write_persistence, .is_value = ifm_lock_is_switch};
const struct ifm_lock_kind ifm_lock_power_limit = {"power_limit",        .on_gpu = true,       .read = read_power,
                                                   .write = write_power, .check = check_power, .is_value = is_watts};
const struct ifm_lock_kind ifm_lock_memory_clock = {
    "memory_clock",       true, .is_clock = true, .read = read_clock, .write = write_clock, .check = check_clocks,
    .is_value = is_unread};
const struct ifm_lock_kind ifm_lock_gpu_clock = {
    "gpu_clock",          true, .is_clock = true, .read = read_clock, .write = write_clock, .check = check_clocks,
    .is_value = is_unread};
