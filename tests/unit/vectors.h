/* Vectors of tests/vectors for unit tests: read through jansson, compared with a bound. Include cmocka.h first. */
#ifndef IFM_UNIT_VECTORS_H
#define IFM_UNIT_VECTORS_H

#include "base/json.h"
#include <math.h>

static inline void close_to(double got, double wanted, double relative)
{
    if (!(fabs(got - wanted) <= relative * fmax(fabs(wanted), 1e-300)))
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

/* Relative for numbers above 1, absolute below. */
static inline void near_to(double got, double wanted, double bound)
{
    if (!(fabs(got - wanted) <= bound * fmax(fabs(wanted), 1.0)))
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

static inline json_t *load(const char *path)
{
    json_error_t error;
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    return json;
}

static inline double member(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static inline size_t numbers(const json_t *array, double *out, size_t most)
{
    size_t n = json_array_size(array);
    assert_true(json_is_array(array) && n <= most);
    for (size_t i = 0; i < n; i++) {
        assert_true(json_is_number(json_array_get(array, i)));
        out[i] = json_number_value(json_array_get(array, i));
    }
    return n;
}

#endif
