/* Readers of small procfs and sysfs files under a root. */
#include "base/file.h"
#include "host/cpus.h"
#include "host/probe.h"
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_LIMIT ((size_t)8 << 20) /* /proc/cpuinfo of a machine with thousands of CPUs */

bool ifm_probe_live(const char *root)
{
    return root[0] == '\0';
}

const char *ifm_probe_path(char path[static PATH_MAX], const char *root, const char *format, ...)
{
    va_list arguments;
    int head = snprintf(path, PATH_MAX, "%s", root);
    if (head < 0 || head >= PATH_MAX)
        return NULL;
    va_start(arguments, format);
    int tail = vsnprintf(path + head, (size_t)(PATH_MAX - head), format, arguments);
    va_end(arguments);
    return tail >= 0 && tail < PATH_MAX - head ? path : NULL;
}

/* Replaces everything but printable ASCII by '?', because the text goes into JSON and onto terminals. */
static void make_plain(char *text)
{
    for (; *text != '\0'; text++)
        if ((*text < ' ' && *text != '\t') || *text > '~')
            *text = '?';
}

bool ifm_probe_line_of(const char *path, char *buffer, size_t size)
{
    if (path == NULL || !ifm_file_line(path, buffer, size))
        return false;
    make_plain(buffer);
    return true;
}

bool ifm_probe_i64_of(const char *path, int64_t *out)
{
    char line[64];
    return path != NULL && ifm_file_line(path, line, sizeof line) && ifm_parse_i64(line, out);
}

/* Sizes of procfs files read as zero, so the file is read to its end. */
static char *read_all(int fd)
{
    size_t size = 0, capacity = 16384;
    char *data = malloc(capacity);
    while (data != NULL) {
        ssize_t got = read(fd, data + size, capacity - size - 1);
        if (got <= 0) {
            data[size] = '\0';
            if (got == 0)
                return data;
            break;
        }
        size += (size_t)got;
        if (capacity - size > 4096)
            continue;
        capacity *= 2;
        char *larger = capacity > TEXT_LIMIT ? NULL : realloc(data, capacity);
        if (larger == NULL)
            break;
        data = larger;
    }
    free(data);
    return NULL;
}

char *ifm_probe_text_of(const char *path)
{
    int fd;
    struct ifm_error ignored;
    if (path == NULL || ifm_file_open(path, &fd, NULL, &ignored) != IFM_OK)
        return NULL;
    char *data = read_all(fd);
    close(fd);
    return data;
}

bool ifm_probe_exists_of(const char *path)
{
    return path != NULL && access(path, F_OK) == 0;
}

DIR *ifm_probe_folder_of(const char *path)
{
    return path != NULL ? opendir(path) : NULL;
}

bool ifm_probe_field(const char *text, const char *key, char *buffer, size_t size)
{
    size_t length = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) != 0)
            continue;
        const char *value = line + length;
        value += strspn(value, " \t");
        if (*value != ':')
            continue;
        value++;
        value += strspn(value, " \t");
        size_t n = strcspn(value, "\n");
        if (!ifm_probe_copy(value, n < size ? n : size - 1, buffer, size))
            return false;
        make_plain(buffer);
        return true;
    }
    return false;
}

bool ifm_probe_has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = strstr(words, word); at != NULL; at = strstr(at + 1, word))
        if ((at == words || at[-1] == ' ') && (at[n] == '\0' || at[n] == ' '))
            return true;
    return false;
}

bool ifm_probe_copy(const char *from, size_t n, char *out, size_t size)
{
    if (n == 0 || n >= size)
        return false;
    memcpy(out, from, n);
    out[n] = '\0';
    return true;
}

json_t *ifm_probe_absent(const char *reason, const char *remedy)
{
    json_t *absent = json_pack("{s:s}", "absent", reason);
    if (remedy != NULL)
        json_object_set_new(absent, "remedy", json_string(remedy));
    return absent;
}

unsigned ifm_probe_cpu_list(const char *list, unsigned *cpus, unsigned limit)
{
    unsigned n = 0;
    while (*list >= '0' && *list <= '9') {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (last >= IFM_CPUS_MAX)
            return n;
        for (unsigned long cpu = first; cpu <= last && n < limit; cpu++)
            cpus[n++] = (unsigned)cpu;
        if (*end != ',')
            break;
        list = end + 1;
    }
    return n;
}

bool ifm_probe_virtual(const char *root)
{
    char *text = ifm_probe_text(root, "/proc/cpuinfo"), flags[8192];
    bool found = text != NULL && ifm_probe_field(text, "flags", flags, sizeof flags);
    free(text);
    return found && strstr(flags, " hypervisor") != NULL;
}

const char *ifm_probe_powercap_remedy(const char *root)
{
    return ifm_probe_virtual(root) ? "measure on the host or on bare metal: a virtual machine seldom has it"
                                   : "modprobe intel_rapl_msr (of AMD too)";
}
