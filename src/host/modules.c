/* What the modules of memory carry together, by the firmware's table of them (SMBIOS type 17), which only root may
 * read.
 *
 * Several modules of a channel take turns, and count as often: the sum is a limit, not a rate. Source: DMTF DSP0134. */
#include "base/file.h"
#include "host/probe.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TABLE = 1 << 20, MEMORY_DEVICE = 17, END_OF_TABLE = 127 };
enum { DATA_WIDTH = 0x0a, SIZE = 0x0c, SPEED = 0x15, CONFIGURED = 0x20, EXTENDED = 0x58 };

static uint32_t number_at(const unsigned char *item, size_t length, size_t at, size_t bytes)
{
    uint32_t number = 0;
    for (size_t i = 0; at + bytes <= length && i < bytes; i++)
        number |= (uint32_t)item[at + i] << 8 * i;
    return number;
}

/* Bytes a second of one module: its width times its transfers; 0 = an empty slot, or one that says nothing. */
static double rate_of(const unsigned char *item, size_t length)
{
    const uint32_t bits = number_at(item, length, DATA_WIDTH, 2), size = number_at(item, length, SIZE, 2);
    uint32_t mega = number_at(item, length, CONFIGURED, 2);
    if (mega == 0)
        mega = number_at(item, length, SPEED, 2);
    if (mega == 0xffff) /* too many for 16 bits */
        mega = number_at(item, length, EXTENDED, 4) & 0x7fffffff;
    return size == 0 || bits == 0xffff ? 0 : bits / 8.0 * mega * 1e6;
}

/* Behind the strings of a structure, which end with an empty one. */
static size_t behind(const unsigned char *table, size_t size, size_t at)
{
    at += table[at + 1];
    while (at + 1 < size && (table[at] != 0 || table[at + 1] != 0))
        at++;
    return at + 2;
}

json_t *ifm_probe_modules(const char *root)
{
    char *table = NULL;
    size_t size = 0, modules = 0;
    double total = 0;
    if (ifm_file_read(IFM_PROBE_PATH(root, "/sys/firmware/dmi/tables/DMI"), MOST_TABLE, &table, &size, NULL) != IFM_OK)
        return ifm_probe_absent("the firmware's table of memory modules cannot be read", "ask as root, on the host");
    const unsigned char *items = (const unsigned char *)table;
    for (size_t at = 0; at + 4 <= size && items[at] != END_OF_TABLE && items[at + 1] >= 4;
         at = behind(items, size, at)) {
        const size_t length = items[at + 1] < size - at ? items[at + 1] : size - at;
        const double rate = items[at] == MEMORY_DEVICE ? rate_of(items + at, length) : 0;
        modules += rate > 0;
        total += rate;
    }
    free(table);
    return modules == 0 ? ifm_probe_absent("the firmware names no memory module with its speed", "measure on the host")
                        : json_pack("{s:I, s:f}", "count", (json_int_t)modules, "bytes_per_s", total);
}
