/* Knobs of the CPUs: files of cpufreq. The only file of the lab that writes to sysfs. */
#include "host/probe.h"
#include "lock/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSFS_CPU "/sys/devices/system/cpu"
#define NO_TURBO SYSFS_CPU "/intel_pstate/no_turbo"
#define BOOST SYSFS_CPU "/cpufreq/boost"

static const char *remedy_of(int code)
{
    return code == EACCES || code == EPERM ? "run it as root, or ask the administrator of this machine to"
           : code == EROFS                 ? "/sys is read-only here: run it on the host, outside the container"
           : code == EINVAL || code == EBUSY
               ? "the driver refuses this value: scaling_available_governors and cpuinfo_*_freq list what it takes"
               : "look at the file named above";
}

static enum ifm_status write_file(const char *root, const char *name, const char *value, struct ifm_error *error)
{
    char path[PATH_MAX];
    size_t length = strlen(value);
    if (ifm_probe_path(path, root, "%s", name) == NULL)
        return ifm_fail(error, IFM_USAGE, name, "choose a shorter root", "the path is too long");
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK), code = 0; /* a FIFO in its place must not hang */
    if (fd < 0 || write(fd, value, length) != (ssize_t)length)
        code = errno == 0 ? EIO : errno;
    if (fd >= 0 && close(fd) != 0 && code == 0)
        code = errno;
    if (code == 0)
        return IFM_OK;
    return ifm_fail(error, IFM_MISSING, name, remedy_of(code), "cannot write \"%s\": %s", value, strerror(code));
}

static enum ifm_status cannot_read(const struct ifm_lock_machine *machine, const char *name, struct ifm_error *error)
{
    return ifm_fail(error, IFM_MISSING, name,
                    ifm_probe_virtual(machine->root) ? "measure on the host or on bare metal"
                                                     : "load a cpufreq driver such as acpi-cpufreq",
                    "this machine has no such knob that can be read");
}

/* ---- files of one CPU ---- */

static void file_of(const struct ifm_lock_row *row, const char *file, char name[static 128])
{
    snprintf(name, 128, SYSFS_CPU "/%.32s/cpufreq/%s", row->target, file);
}

static enum ifm_status read_cpu(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                char value[static IFM_LOCK_TEXT], struct ifm_error *error)
{
    char name[128];
    int64_t khz;
    file_of(row, row->kind->file, name);
    if (!ifm_probe_line(machine->root, value, IFM_LOCK_TEXT - 8, "%s", name) || value[0] == '\0')
        return cannot_read(machine, name, error);
    if (!row->kind->is_khz)
        return IFM_OK;
    if (!ifm_parse_i64(value, &khz))
        return ifm_fail(error, IFM_MISSING, row->target, "", "%s is no number of kHz: \"%s\"", row->kind->file, value);
    snprintf(value, IFM_LOCK_TEXT, "%lld kHz", (long long)khz);
    return IFM_OK;
}

static bool is_khz(const char *text)
{
    char same[IFM_LOCK_TEXT];
    long long khz = strtoll(text, NULL, 10);
    snprintf(same, sizeof same, "%lld kHz", khz);
    return khz > 0 && strcmp(text, same) == 0;
}

static bool is_governor(const char *text)
{
    return text[0] != '\0' && text[strcspn(text, " /\t\n")] == '\0';
}

static enum ifm_status write_cpu(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                 const char *value, struct ifm_error *error)
{
    char name[128], bare[IFM_LOCK_TEXT];
    file_of(row, row->kind->file, name);
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(value, " "), value); /* without its unit */
    return write_file(machine->root, name, bare, error);
}

/* ---- turbo, of all CPUs at once ---- */

/* The two drivers' files mean the opposite of each other. */
static const char *turbo_file(const struct ifm_lock_machine *machine, bool *inverse)
{
    *inverse = ifm_probe_exists(machine->root, NO_TURBO);
    return *inverse ? NO_TURBO : BOOST;
}

static enum ifm_status read_turbo(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                  char value[static IFM_LOCK_TEXT], struct ifm_error *error)
{
    bool inverse;
    int64_t number;
    (void)row;
    const char *file = turbo_file(machine, &inverse);
    if (!ifm_probe_i64(machine->root, &number, "%s", file))
        return cannot_read(machine, file, error);
    snprintf(value, IFM_LOCK_TEXT, "%s", (number != 0) != inverse ? "on" : "off");
    return IFM_OK;
}

static enum ifm_status write_turbo(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                   const char *value, struct ifm_error *error)
{
    bool inverse;
    (void)row;
    const char *file = turbo_file(machine, &inverse);
    return write_file(machine->root, file, (strcmp(value, "on") == 0) != inverse ? "1" : "0", error);
}

/* ---- what a CPU can have ---- */

static enum ifm_status check_governor(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                      struct ifm_error *error)
{
    char name[128], list[512];
    file_of(row, "scaling_available_governors", name);
    if (!ifm_probe_line(machine->root, list, sizeof list, "%s", name) || ifm_probe_has_word(list, row->wanted))
        return IFM_OK; /* of a list that cannot be read the kernel decides */
    char hint[560];
    snprintf(hint, sizeof hint, "it has: %s", list);
    return ifm_fail(error, IFM_USAGE, "--governor", hint, "%s has no governor \"%s\"", row->target, row->wanted);
}

static enum ifm_status check_frequency(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                                       struct ifm_error *error)
{
    char low_file[128], high_file[128];
    int64_t low, high, wanted = 0;
    char digits[IFM_LOCK_TEXT];
    snprintf(digits, sizeof digits, "%.*s", (int)strcspn(row->wanted, " "), row->wanted);
    file_of(row, "cpuinfo_min_freq", low_file);
    file_of(row, "cpuinfo_max_freq", high_file);
    if (!ifm_parse_i64(digits, &wanted) || !ifm_probe_i64(machine->root, &low, "%s", low_file) ||
        !ifm_probe_i64(machine->root, &high, "%s", high_file) || (wanted >= low && wanted <= high))
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, "--frequency", "", "%s runs from %lld to %lld MHz, not at %lld", row->target,
                    (long long)low / 1000, (long long)high / 1000, (long long)wanted / 1000);
}

const struct ifm_lock_kind ifm_lock_frequency_min = {.knob = "frequency_min",
                                                     .read = read_cpu,
                                                     .write = write_cpu,
                                                     .check = check_frequency,
                                                     .is_value = is_khz,
                                                     .file = "scaling_min_freq",
                                                     .is_khz = true};
const struct ifm_lock_kind ifm_lock_frequency_max = {.knob = "frequency_max",
                                                     .read = read_cpu,
                                                     .write = write_cpu,
                                                     .check = check_frequency,
                                                     .is_value = is_khz,
                                                     .file = "scaling_max_freq",
                                                     .is_khz = true};
const struct ifm_lock_kind ifm_lock_governor = {.knob = "governor",
                                                .read = read_cpu,
                                                .write = write_cpu,
                                                .check = check_governor,
                                                .is_value = is_governor,
                                                .file = "scaling_governor"};
const struct ifm_lock_kind ifm_lock_turbo = {
    .knob = "turbo", .read = read_turbo, .write = write_turbo, .is_value = ifm_lock_is_switch};
