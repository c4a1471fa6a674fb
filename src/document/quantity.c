/* Quantities for people: which prefix, how many digits, which form of interval. */
#include "document/quantity.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A rung of a unit's ladder: numbers of at least `from` (in the unit of the value) are shown in this one. */
struct rung {
    const char *unit; /* unit id of the value */
    double from, divide;
    const char *shown;
};

/* Largest first within a unit; the last rung of a unit takes all that is smaller. */
static const struct rung ladder[] = {
    {"ns", 1e9, 1e9, "s"},
    {"ns", 1e6, 1e6, "ms"},
    {"ns", 1e3, 1e3, "µs"},
    {"ns", 0, 1, "ns"},
    {"s", 1, 1, "s"},
    {"s", 1e-3, 1e-3, "ms"},
    {"s", 1e-6, 1e-6, "µs"},
    {"s", 0, 1e-9, "ns"},
    {"B", 1099511627776.0, 1099511627776.0, "TiB"},
    {"B", 1073741824.0, 1073741824.0, "GiB"},
    {"B", 1048576.0, 1048576.0, "MiB"},
    {"B", 1024.0, 1024.0, "KiB"},
    {"B", 0, 1, "B"},
    {"B/s", 1e12, 1e12, "TB/s"},
    {"B/s", 1e9, 1e9, "GB/s"},
    {"B/s", 1e6, 1e6, "MB/s"},
    {"B/s", 1e3, 1e3, "KB/s"},
    {"B/s", 0, 1, "B/s"},
    {"FLOP/s", 1e12, 1e12, "TFLOP/s"},
    {"FLOP/s", 1e9, 1e9, "GFLOP/s"},
    {"FLOP/s", 1e6, 1e6, "MFLOP/s"},
    {"FLOP/s", 1e3, 1e3, "KFLOP/s"},
    {"FLOP/s", 0, 1, "FLOP/s"},
    {"OP/s", 1e12, 1e12, "TOP/s"},
    {"OP/s", 1e9, 1e9, "GOP/s"},
    {"OP/s", 1e6, 1e6, "MOP/s"},
    {"OP/s", 0, 1, "OP/s"},
    {"Hz", 1e9, 1e9, "GHz"},
    {"Hz", 1e6, 1e6, "MHz"},
    {"Hz", 0, 1, "Hz"},
    {"tokens/s", 1e9, 1e9, "G/s"},
    {"tokens/s", 1e6, 1e6, "M/s"},
    {"tokens/s", 1e4, 1e3, "k/s"},
    {"tokens/s", 0, 1, "/s"},
    {"J", 1e6, 1e6, "MJ"},
    {"J", 1e4, 1e3, "kJ"},
    {"J", 0.1, 1, "J"},
    {"J", 1e-4, 1e-3, "mJ"},
    {"J", 1e-7, 1e-6, "µJ"},
    {"J", 0, 1e-9, "nJ"},
    {"W", 1e4, 1e3, "kW"},
    {"W", 0.1, 1, "W"},
    {"W", 0, 1e-3, "mW"},
    {"FLOP/J", 1e12, 1e12, "TFLOP/J"},
    {"FLOP/J", 1e9, 1e9, "GFLOP/J"},
    {"FLOP/J", 1e6, 1e6, "MFLOP/J"},
    {"FLOP/J", 0, 1, "FLOP/J"},
    {"tokens/J", 0, 1, "/J"},
    {"%", 0, 1, "%"},
    {"pp", 0, 1, "pp"},
    {"1", 0, 1, ""},
    {"count", 0, 1, ""},
};

static struct rung rung_of(double number, const char *unit)
{
    for (size_t i = 0; i < sizeof ladder / sizeof ladder[0]; i++)
        if (strcmp(ladder[i].unit, unit) == 0 && (fabs(number) >= ladder[i].from || ladder[i].from == 0))
            return ladder[i];
    return (struct rung){unit, 0, 1, unit};
}

static int exponent_of(double number)
{
    return number == 0 || !isfinite(number) ? 0 : (int)floor(log10(fabs(number)));
}

/* Digits after the point: three or four significant digits of the number, four when the interval is that tight. */
static int decimals_of(double number, double half)
{
    int e = exponent_of(number), three = 2 - e, four = 3 - e;
    /* One digit of the half-width, two when its first digit is 1. */
    bool leading_one = half > 0 && half < 1.95 * pow(10, exponent_of(half));
    int wanted = half > 0 ? leading_one - exponent_of(half) : three;
    int decimals = wanted < three ? three : wanted > four ? four : wanted;
    return decimals < 0 ? 0 : decimals;
}

const char *ifm_quantity_digits(double number, int decimals, struct ifm_arena *arena)
{
    enum { MOST_EXPONENT = 5 };
    int e = exponent_of(number);
    if (number != 0 && (e < -3 || e > MOST_EXPONENT)) {
        char mantissa[32];
        snprintf(mantissa, sizeof mantissa, "%.1e", number);
        char *mark = strchr(mantissa, 'e');
        *mark = '\0';
        int power;
        return sscanf(mark + 1, "%d", &power) == 1 ? ifm_arena_printf(arena, "%se%d", mantissa, power) : "";
    }
    return ifm_arena_printf(arena, "%.*f", decimals, number);
}

/* Counts and sizes keep their whole digits: "32", "1.5" (MiB). */
static const char *short_number(const struct ifm_value *value, double x, int decimals, struct ifm_arena *arena)
{
    return value->is_integer ? ifm_arena_printf(arena, "%.4g", x) : ifm_quantity_digits(x, decimals, arena);
}

/* Ends a decade and more apart, such as of a ratio on a busy machine: each has three digits of its own. */
static bool is_wide(double low, double high)
{
    return low > 0 && high >= 10 * low;
}

static const char *ends_text(const struct ifm_value *value, double low, double high, int decimals,
                             struct ifm_arena *arena)
{
    const bool wide = !value->is_integer && is_wide(low, high);
    return ifm_arena_printf(arena, "[%s, %s]", short_number(value, low, wide ? decimals_of(low, 0) : decimals, arena),
                            short_number(value, high, wide ? decimals_of(high, 0) : decimals, arena));
}

/* Beside a number, an interval is written as a half-width when it is symmetric within a fifth, and no more than half of
 * the number where this has no sign: "563 µs ±611" would say that a time may be negative. */
static const char *interval_text(const struct ifm_value *value, double x, double low, double high, int decimals,
                                 struct ifm_arena *arena)
{
    double half = high / 2 - low / 2;
    bool symmetric = low <= x && x <= high && fabs((high - x) - (x - low)) <= 0.2 * half;
    if (!symmetric || exponent_of(x) < -3 || (low >= 0 && half > 0.5 * x))
        return ends_text(value, low, high, decimals, arena);
    double smallest = pow(10, -decimals);
    if (half > 0 && half < smallest / 2)
        return ifm_arena_printf(arena, "±<%.*f", decimals, smallest);
    return ifm_arena_printf(arena, "±%.*f", decimals, half);
}

/* Times, bytes and rates have no sign: what a formula puts below 0 is not said. */
static double low_of(const struct ifm_value *value)
{
    static const char *const unsigned_units[] = {"ns", "s", "B", "B/s", "FLOP/s", "OP/s", "Hz", "tokens/s"};
    for (size_t i = 0; i < sizeof unsigned_units / sizeof *unsigned_units; i++)
        if (value->number >= 0 && strcmp(value->unit, unsigned_units[i]) == 0)
            return fmax(value->low, 0);
    return value->low;
}

/* The size that prefix and digits follow: a number that is lost in its interval, such as joules above idle of a load
 * that draws none, has the interval's. */
static double size_of(const struct ifm_value *value)
{
    double half = value->has_interval && low_of(value) < 0 ? value->high / 2 - value->low / 2 : 0;
    return half > 10 * fabs(value->number) && half > 1e-6 ? half : value->number; /* smaller ones have an exponent */
}

/* Digits of a number and of the ends beside it: of ends that have digits of their own those of the number alone. */
static int decimals_beside(const struct ifm_value *value, const struct rung *rung)
{
    double half = value->has_interval ? (value->high / 2 - value->low / 2) / rung->divide : 0;
    return decimals_of(size_of(value) / rung->divide, is_wide(low_of(value), value->high) ? 0 : half);
}

const char *ifm_quantity_range(const struct ifm_value *value, struct ifm_arena *arena)
{
    if (!value->has_interval)
        return "";
    struct rung rung = rung_of(size_of(value), value->unit);
    return ends_text(value, low_of(value) / rung.divide, value->high / rung.divide, decimals_beside(value, &rung),
                     arena);
}

/* More digits where fewer would show a whole number that it is not. */
static const char *unrounded(double number, struct ifm_arena *arena)
{
    enum { MOST_DECIMALS = 9 };
    int decimals = decimals_of(number, 0);
    const char *text = ifm_quantity_digits(number, decimals, arena);
    while (decimals < MOST_DECIMALS && number != floor(number) && strtod(text, NULL) == round(number))
        text = ifm_quantity_digits(number, ++decimals, arena);
    return text;
}

struct ifm_quantity ifm_quantity_of(const struct ifm_value *value, struct ifm_arena *arena)
{
    struct rung rung = rung_of(size_of(value), value->unit);
    double x = value->number / rung.divide;
    struct ifm_quantity quantity = {.unit = rung.shown, .interval = ""};
    int decimals = decimals_beside(value, &rung);
    if (size_of(value) != value->number && !value->is_integer) /* no digits below those of the interval */
        x = round(x * pow(10, decimals)) / pow(10, decimals) + 0.0;
    bool whole = value->is_integer && rung.divide == 1;
    bool pure = !value->has_interval && !value->is_integer && strcmp(value->unit, "1") == 0;
    quantity.number = whole  ? ifm_arena_printf(arena, "%.0f", x)
                      : pure ? unrounded(x, arena)
                             : short_number(value, x, decimals, arena);
    if (value->has_interval && value->is_integer)
        quantity.interval = ifm_quantity_range(value, arena);
    else if (value->has_interval)
        quantity.interval =
            interval_text(value, x, low_of(value) / rung.divide, value->high / rung.divide, decimals, arena);
    return quantity;
}

/* "412.3 µs", but "2431/s". */
static const char *with_unit(const char *number, const char *unit, struct ifm_arena *arena)
{
    const char *space = unit[0] == '\0' || unit[0] == '/' ? "" : " ";
    return ifm_arena_printf(arena, "%s%s%s", number, space, unit);
}

const char *ifm_quantity_number(const struct ifm_value *value, struct ifm_arena *arena)
{
    struct ifm_quantity quantity = ifm_quantity_of(value, arena);
    return with_unit(quantity.number, quantity.unit, arena);
}

const char *ifm_quantity_beside(const struct ifm_value *value, const struct ifm_value *other, struct ifm_arena *arena)
{
    const struct rung rung = rung_of(value->number, value->unit), its = rung_of(size_of(other), other->unit);
    const double x = value->number / rung.divide, y = size_of(other) / its.divide;
    const int e = exponent_of(x);
    int decimals = decimals_of(x, 0);
    if (strcmp(rung.shown, its.shown) == 0) {
        const int beside = decimals_beside(other, &its), least = 1 - e, digits = exponent_of(y) + beside - e;
        decimals = digits < beside ? digits : beside;
        decimals = decimals < least ? least : decimals;
        decimals = decimals < 0 ? 0 : decimals;
    }
    return with_unit(ifm_quantity_digits(x, decimals, arena), rung.shown, arena);
}

const char *ifm_quantity_full(const struct ifm_value *value, struct ifm_arena *arena)
{
    struct ifm_quantity quantity = ifm_quantity_of(value, arena);
    const char *number = with_unit(quantity.number, quantity.unit, arena);
    return quantity.interval[0] == '\0' ? number : ifm_arena_printf(arena, "%s %s", number, quantity.interval);
}

const char *ifm_quantity_bare(double number, const char *unit, struct ifm_arena *arena)
{
    struct rung rung = rung_of(number, unit);
    double x = number / rung.divide;
    char text[48];
    snprintf(text, sizeof text, "%.4g", x);
    return with_unit(text, rung.shown, arena);
}

const char *ifm_quantity_limit(const struct ifm_gate *gate, struct ifm_arena *arena)
{
    const struct ifm_metric_told told = ifm_metric_told(ifm_metric_of(gate->metric));
    return ifm_quantity_bare(told.factor * gate->threshold, told.unit, arena);
}

const char *ifm_quantity_tick(double number, double largest, double step, const char *unit, struct ifm_arena *arena)
{
    enum { MOST_DECIMALS = 12 };
    struct rung rung = rung_of(largest, unit);
    double x = number / rung.divide, by = step / rung.divide, top = fabs(largest) / rung.divide;
    bool plain = by > 0 && top < 1e6 && by >= 1e-4;
    int decimals = plain ? 0 : (int)fmin(fmax(0, exponent_of(x) - exponent_of(by)) + 1, MOST_DECIMALS);
    /* A step of 2.5 or of 1/4 has more digits than its first. */
    while (plain && decimals < MOST_DECIMALS && fabs(by * pow(10, decimals) - round(by * pow(10, decimals))) > 1e-6)
        decimals++;
    char text[64];
    snprintf(text, sizeof text, plain || x == 0 ? "%.*f" : "%.*e", x == 0 ? 0 : decimals, x);
    char *mark = strchr(text, 'e');
    int power;
    if (mark != NULL && sscanf(mark + 1, "%d", &power) == 1) {
        for (; decimals > 0 && mark[-1] == '0'; decimals--)
            mark--;
        mark -= decimals == 0;
        snprintf(mark, sizeof text - (size_t)(mark - text), "e%d", power);
    }
    return with_unit(text, rung.shown, arena);
}

const char *ifm_quantity_ratio(double number, struct ifm_arena *arena)
{
    return ifm_arena_printf(arena, "%sx", unrounded(number, arena));
}

const char *ifm_quantity_levels(double least, double most, struct ifm_arena *arena)
{
    const char *from = ifm_arena_printf(arena, "%.3g", 100 * least);
    const char *to = ifm_arena_printf(arena, "%.3g", 100 * most);
    return strcmp(from, to) == 0 ? ifm_arena_printf(arena, "%s %%", to)
                                 : ifm_arena_printf(arena, "%s to %s %%", from, to);
}

const char *ifm_quantity_short(double number, struct ifm_arena *arena)
{
    return fabs(number) >= 999.5 ? ifm_arena_printf(arena, "%.0f", number) : ifm_arena_printf(arena, "%.3g", number);
}

const struct ifm_value *ifm_quantity_for_people(enum ifm_metric_id metric, const struct ifm_value *value,
                                                struct ifm_arena *arena)
{
    const struct ifm_metric_told told = ifm_metric_told(metric);
    if (value == NULL || told.factor == 1)
        return value;
    struct ifm_value *percent = IFM_ARENA_NEW(arena, struct ifm_value);
    *percent = *value;
    percent->number *= told.factor;
    percent->low *= told.factor;
    percent->high *= told.factor;
    percent->unit = told.unit;
    return percent;
}

const char *ifm_quantity_bytes_words(enum ifm_metric_id metric, double ratio, struct ifm_arena *arena)
{
    bool stored = metric == IFM_M_COMPRESSION_RATIO, less = ratio > 1;
    if (ratio == 1 || !(ratio > 0))
        return ratio == 1 ? "1x" : ifm_quantity_ratio(ratio, arena);
    const char *word = stored ? less ? "smaller" : "larger" : less ? "fewer" : "more";
    return ifm_arena_printf(arena, "%s %s", ifm_quantity_ratio(less ? ratio : 1 / ratio, arena), word);
}

void ifm_quantity_of_integers(const struct ifm_arm *arm, enum ifm_metric_id metric, enum ifm_state state,
                              const char **text, const char **interval, struct ifm_arena *arena)
{
    if (!arm->integer)
        return;
    if (metric == IFM_M_FLOPS_PER_S && state == IFM_STATE_ABSENT)
        *text = "integer";
    if (metric != IFM_M_CEILING_FLOPS_PERCENT || state != IFM_STATE_OK)
        return;
    const char **last = ifm_is_empty(*interval) ? text : interval;
    *last = ifm_arena_printf(arena, "%s of int8 ceiling", *last);
}
