/* The rows of a record as text, its headers, and the names of its files. */
#include "base/text.h"
#include "sample/record_private.h"
#include <string.h>

/* ---- rows as text ---- */

static char *put_u64(char *at, uint64_t number)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434"
        "44546474849505152535455565758596061626364656667686970717273747576777879808182838485868788"
        "8990919293949596979899";
    char digits[20];
    char *end = digits + sizeof digits, *first = end;
    for (; number >= 100; number /= 100)
        memcpy(first -= 2, pairs + 2 * (number % 100), 2);
    if (number >= 10)
        memcpy(first -= 2, pairs + 2 * number, 2);
    else
        *--first = (char)('0' + number);
    memcpy(at, first, (size_t)(end - first));
    return at + (end - first);
}

static char *put_field(char *at, uint64_t number, char separator)
{
    at = put_u64(at, number);
    *at = separator;
    return at + 1;
}

char *ifm_record_put_samples(char *at, uint64_t first_slot, const struct ifm_slot *slots, size_t n_slots,
                             const struct ifm_sample *samples)
{
    for (size_t k = 0; k < n_slots; k++) {
        for (const struct ifm_sample *end = samples + slots[k].samples; samples < end; samples++) {
            at = put_field(at, first_slot + k, ',');
            at = put_field(at, (uint64_t)samples->start_ns, ',');
            at = put_field(at, (uint64_t)samples->duration_ns, '\n');
        }
    }
    return at;
}

static char *put_column(char *at, int64_t number)
{
    *at++ = ',';
    if (number == IFM_ABSENT)
        return at;
    if (number < 0)
        *at++ = '-';
    return put_u64(at, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

char *ifm_record_put_slot(char *at, const struct ifm_slot *slot, size_t n_columns)
{
    at = put_field(at, slot->block, ',');
    at = put_field(at, slot->phase, ',');
    at = put_field(at, slot->arm, ',');
    at = put_field(at, slot->samples, ',');
    at = put_field(at, slot->inner, ',');
    at = put_field(at, (uint64_t)slot->start_ns, ',');
    at = put_u64(at, (uint64_t)slot->end_ns);
    for (size_t c = 0; c < n_columns; c++)
        at = put_column(at, slot->columns[c]);
    *at = '\n';
    return at + 1;
}

/* ---- names ---- */

char *ifm_record_path(const char *dir, unsigned cell, const char *pass, const char *suffix)
{
    struct ifm_text path = {0};
    ifm_text_printf(&path, "%s/samples/%u-%s%s", dir, cell, pass, suffix);
    return path.data;
}

char *ifm_slots_header(const char *const *columns, size_t n_columns)
{
    struct ifm_text header = {0};
    ifm_text_add(&header, IFM_SLOTS_HEADER);
    for (size_t c = 0; c < n_columns; c++)
        ifm_text_printf(&header, ",%s", columns[c]);
    ifm_text_add(&header, "\n");
    return header.data;
}
