/* Any bytes as an external meter's file: what is before the first zero byte stands when it is opened, the rest comes
 * after. Readings are watts that can be, in ascending order of time; each bad line is one error, and reading ends. */
#include "power/power.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void read_all(struct ifm_power *power, size_t lines)
{
    enum { ROOM = 5 };
    struct ifm_power_point points[ROOM];
    int64_t last_ns = INT64_MIN;
    size_t n, quiet = 0;
    for (size_t reads = 0; quiet < 2; reads++) {
        struct ifm_error error = {0};
        require(reads <= 2 * lines + 4);
        enum ifm_status status = ifm_power_read(power, 0, points, ROOM, &n, &error);
        require(status == IFM_OK || (status == IFM_INVALID && n == 0 && error.message[0] != '\0'));
        for (size_t i = 0; i < n; i++) {
            require(points[i].value >= 0 && points[i].value <= 1e6 && points[i].half_ns >= 0);
            require(points[i].t_ns >= last_ns || last_ns - points[i].t_ns < 1000000); /* the wall clock is slewed */
            last_ns = points[i].t_ns;
        }
        quiet = status == IFM_OK && n == 0 ? quiet + 1 : 0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    const uint8_t *zero = size == 0 ? NULL : memchr(data, 0, size);
    size_t first = zero == NULL ? size : (size_t)(zero - data), rest = zero == NULL ? 0 : size - first - 1;
    size_t lines = 1 + size / 256; /* a line without an end is cut */
    char path[32];
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    require(fd >= 0 && write(fd, data, first) == (ssize_t)first);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct ifm_power *power = ifm_power_open(&(struct ifm_power_options){.root = "/nowhere", .meter = path});
    const struct ifm_power_list *list = ifm_power_list(power);
    if (list->n_sensors == 1) {
        require(list->sensors[0].every_ms > 0);
        if (rest > 0)
            require(write(fd, zero + 1, rest) == (ssize_t)rest);
        read_all(power, lines);
    } else {
        require(list->n_sensors == 0 && list->n_absences > 0);
    }
    ifm_power_close(power);
    close(fd);
    return 0;
}
