/* A value: a number that knows whether it may be printed.
 *
 * Absent and refused are states, never zero, never -1, never NaN in disguise.
 * Plain data; strings are borrowed from an arena or static. */
#ifndef IFM_MODEL_VALUE_H
#define IFM_MODEL_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ifm_state {
    IFM_STATE_OK = 0,
    IFM_STATE_ABSENT,   /* not measured: `reason` and `remedy` say why and what would help */
    IFM_STATE_REFUSED,  /* measured, but a rule of honesty forbids printing it: `reason` names the rule */
    IFM_STATE_INACTIVE, /* the arm's feature ran zero times */
};

struct ifm_value {
    enum ifm_state state;
    double number;   /* meaningful only when state is OK */
    bool is_integer; /* `number` holds an exact integer: printed without fraction, compared exactly */
    bool has_interval;
    double low, high; /* of `level`, same unit */
    double level;     /* 0.95 */
    bool has_sd;
    double sd;          /* of the `n` observations whose mean the number is; same unit */
    double caution;     /* how much wider a forecast takes the interval for; 0 = not */
    int64_t n;          /* observations behind the number, of the unit that `n_of` names */
    const char *n_of;   /* "samples", "slots", "blocks", "" */
    const char *unit;   /* unit id */
    const char *reason; /* "" when OK */
    const char *remedy; /* "" when none */
    const char *text;   /* a word that belongs to the number: "faster", "slower", "equivalent", "undecided" for a
                           comparison, the arm's name for a ceiling; "" when none */
};

static inline bool ifm_is_ok(const struct ifm_value *value)
{
    return value != NULL && value->state == IFM_STATE_OK;
}
static inline bool ifm_is_empty(const char *text)
{
    return text == NULL || text[0] == '\0';
}
/* "ok", "absent", "refused", "inactive" */
const char *ifm_state_label(enum ifm_state state);

#endif
