/* Numbers in and out of text. */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* strtoll and friends skip spaces and accept signs and "nan"; a parameter must not. */
static bool starts_number(const char *text, bool negative_allowed)
{
    if (negative_allowed && text[0] == '-')
        text++;
    return isdigit((unsigned char)text[0]) || (text[0] == '.' && isdigit((unsigned char)text[1]));
}

bool ifm_parse_i64(const char *text, int64_t *out)
{
    if (!starts_number(text, true) || strchr(text, '.') != NULL)
        return false;
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    *out = number;
    return true;
}

bool ifm_parse_u64(const char *text, uint64_t *out)
{
    if (!starts_number(text, false) || strchr(text, '.') != NULL)
        return false;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    *out = number;
    return true;
}

/* The number at the start of `text`; `*end` is what follows it. Hexadecimal and overflow are refused. */
static bool leading_f64(const char *text, double *out, const char **end)
{
    if (!starts_number(text, true))
        return false;
    const char *digits = text[0] == '-' ? text + 1 : text;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
        return false;
    char *stop;
    double number = strtod(text, &stop);
    if (!isfinite(number))
        return false;
    *out = number;
    *end = stop;
    return true;
}

bool ifm_parse_f64(const char *text, double *out)
{
    const char *end;
    return leading_f64(text, out, &end) && *end == '\0';
}

struct suffix {
    const char *name;
    double factor;
};

static bool scaled(const char *text, const struct suffix *suffixes, double *out)
{
    const char *end;
    double number;
    if (text[0] == '-' || !leading_f64(text, &number, &end))
        return false;
    end += end[0] == ' ' && end[1] != '\0'; /* 10 s */
    for (const struct suffix *s = suffixes; s->name != NULL; s++) {
        if (strcmp(end, s->name) == 0) {
            *out = number * s->factor;
            return isfinite(*out);
        }
    }
    return false;
}

bool ifm_parse_bytes(const char *text, uint64_t *out)
{
    static const struct suffix suffixes[] = {
        {"", 1},       {"B", 1},        {"K", 0x1p10},   {"KiB", 0x1p10}, {"KB", 1e3},
        {"M", 0x1p20}, {"MiB", 0x1p20}, {"MB", 1e6},     {"G", 0x1p30},   {"GiB", 0x1p30},
        {"GB", 1e9},   {"T", 0x1p40},   {"TiB", 0x1p40}, {"TB", 1e12},    {NULL, 0},
    };
    if (ifm_parse_u64(text, out)) /* exact beyond 2^53 */
        return true;
    double bytes;
    if (!scaled(text, suffixes, &bytes) || bytes >= 0x1p63 || bytes != floor(bytes))
        return false;
    *out = (uint64_t)bytes;
    return true;
}

bool ifm_parse_seconds(const char *text, double *out)
{
    static const struct suffix suffixes[] = {
        {"", 1}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {NULL, 0},
    };
    return scaled(text, suffixes, out);
}

const char *ifm_format_real(double number, char buffer[32])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, 32, "%.*g", digits, number);
        if (strtod(buffer, NULL) == number)
            break;
    }
    return buffer;
}

/* Three to four significant digits: 9.87, 98.7, 987, 1234. */
static void significant(double number, const char *unit, char buffer[48])
{
    double size = fabs(number);
    int decimals = size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
    if (size != 0 && size < 0.0995)
        snprintf(buffer, 48, "%.2e%s%s", number, unit[0] != '\0' ? " " : "", unit);
    else
        snprintf(buffer, 48, "%.*f%s%s", decimals, number, unit[0] != '\0' ? " " : "", unit);
}

const char *ifm_format_human(double number, const char *unit, char buffer[48])
{
    static const double thousand[] = {1, 1e3, 1e6, 1e9, 1e12, 1e15, 1e18};
    static const double binary[] = {1, 0x1p10, 0x1p20, 0x1p30, 0x1p40};
    static const struct prefixed {
        const char *unit, *names[7];
        const double *factors;
        size_t n;
    } units[] = {
        {"ns", {"ns", "µs", "ms", "s"}, thousand, 4},
        {"B", {"B", "KiB", "MiB", "GiB", "TiB"}, binary, 5},
        {"B/s", {"B/s", "KB/s", "MB/s", "GB/s", "TB/s"}, thousand, 5},
        {"FLOP/s", {"FLOP/s", "KFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s"}, thousand, 5},
        {"FLOP", {"FLOP", "KFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"}, thousand, 7},
        {"OP/s", {"OP/s", "KOP/s", "MOP/s", "GOP/s", "TOP/s"}, thousand, 5},
    };
    if (strcmp(unit, "s") == 0 && fabs(number) < 1)
        return ifm_format_human(number * 1e9, "ns", buffer);
    for (size_t u = 0, i = 0; u < sizeof units / sizeof *units; u++) {
        if (strcmp(units[u].unit, unit) != 0)
            continue;
        while (i + 1 < units[u].n && fabs(number) >= 0.99995 * units[u].factors[i + 1])
            i++;
        significant(number / units[u].factors[i], units[u].names[i], buffer);
        return buffer;
    }
    if (strcmp(unit, "count") == 0)
        snprintf(buffer, 48, "%.0f", number);
    else
        significant(number, strcmp(unit, "1") == 0 ? "" : unit, buffer);
    return buffer;
}
