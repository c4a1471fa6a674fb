/* Quantities for people: a value as a short number with its unit, and its interval beside it.
 *
 * Formatting only: scales by powers of a unit's prefixes and rounds; three or four significant digits. Texts are UTF-8.
 * Pure; thread rule: no shared state. */
#ifndef IFM_DOCUMENT_QUANTITY_H
#define IFM_DOCUMENT_QUANTITY_H

#include "base/arena.h"
#include "model/metric.h"
#include "model/plan.h"
#include "model/value.h"

struct ifm_quantity {
    const char *number;   /* "412.3", never empty */
    const char *unit;     /* "µs"; "" for plain numbers */
    const char *interval; /* "±0.8" when symmetric, "[411.0, 414.2]" otherwise, "" when there is none */
};

/* `value` must be in state OK. A pure number without an interval, such as a cosine of 0.99996, is not rounded to a
 * whole one that it is not. Texts live in the arena. */
struct ifm_quantity ifm_quantity_of(const struct ifm_value *value, struct ifm_arena *arena);
/* Plain digits, or an exponent without padding ("3.1e-7", "2.5e6") for what would be a row of them that say nothing. */
const char *ifm_quantity_digits(double number, int decimals, struct ifm_arena *arena);
/* "412.3 µs" */
const char *ifm_quantity_number(const struct ifm_value *value, struct ifm_arena *arena);
/* The same without an interval, beside another of its kind such as the mean: with no more digits than that has. */
const char *ifm_quantity_beside(const struct ifm_value *value, const struct ifm_value *other, struct ifm_arena *arena);
/* "412.3 µs ±0.8" */
const char *ifm_quantity_full(const struct ifm_value *value, struct ifm_arena *arena);
/* "[411.5, 413.1]" in the unit of the number, or "" without interval. */
const char *ifm_quantity_range(const struct ifm_value *value, struct ifm_arena *arena);
/* A bare number in `unit`. */
const char *ifm_quantity_bare(double number, const char *unit, struct ifm_arena *arena);
/* A gate's threshold in the unit that people read, also where there is no number beside it. */
const char *ifm_quantity_limit(const struct ifm_gate *gate, struct ifm_arena *arena);
/* A tick of an axis: in the unit that suits `largest`, the largest number on it, and with the digits that tell it from
 * a tick `step` away (0 < step). */
const char *ifm_quantity_tick(double number, double largest, double step, const char *unit, struct ifm_arena *arena);
/* A ratio as "3.71x": three digits at least, and more where fewer would show a whole number that it is not. */
const char *ifm_quantity_ratio(double number, struct ifm_arena *arena);
/* How a metric is told to people: the output error, a fraction in the files, in percent; all others as they are. NULL
 * for NULL. */
const struct ifm_value *ifm_quantity_for_people(enum ifm_metric_id metric, const struct ifm_value *value,
                                                struct ifm_arena *arena);
/* The two ratios of bytes, told apart by word: "3.42x smaller" of what is stored, "3.50x fewer" of what a step moves;
 * "1.07x larger", "1.07x more"; "1x". */
const char *ifm_quantity_bytes_words(enum ifm_metric_id metric, double ratio, struct ifm_arena *arena);
/* Levels of intervals: "98.3 %", "97.5 to 98.3 %". */
const char *ifm_quantity_levels(double least, double most, struct ifm_arena *arena);
/* Three significant digits, without an exponent from 0.0001 on: "7.9", "0.021". */
const char *ifm_quantity_short(double number, struct ifm_arena *arena);

/* Of an arm that multiplies codes as integers: no floating-point rate is missing there ("integer"), and its share is
 * one of the ceiling int8, which it says. The texts are those of a field of the value, and stay where the arm is
 * another. */
void ifm_quantity_of_integers(const struct ifm_arm *arm, enum ifm_metric_id metric, enum ifm_state state,
                              const char **text, const char **interval, struct ifm_arena *arena);

#endif
