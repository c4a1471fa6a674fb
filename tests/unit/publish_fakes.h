/* Smallest stand-ins for derive's and judge's printers; weak, so that the real ones win. */
#ifndef TESTS_PUBLISH_FAKES_H
#define TESTS_PUBLISH_FAKES_H
#include "publish/publish.h"
#include <string.h>
#define WEAK __attribute__((weak))
WEAK const struct ifm_number *ifm_derived_find(const struct ifm_derived *derived, const char *cell, const char *arm,
                                               const char *metric)
{
    for (size_t i = 0; i < derived->n_numbers; i++)
        if (strcmp(derived->numbers[i].cell, cell) == 0 && strcmp(derived->numbers[i].arm, arm) == 0 &&
            strcmp(derived->numbers[i].metric, metric) == 0)
            return &derived->numbers[i];
    return NULL;
}
WEAK json_t *ifm_derived_to_json(const struct ifm_derived *derived)
{
    json_t *numbers = json_array();
    for (size_t i = 0; i < derived->n_numbers; i++) {
        const struct ifm_number *n = &derived->numbers[i];
        json_array_append_new(numbers, json_pack("{s:s,s:s,s:s,s:o,s:s}", "cell", n->cell, "arm", n->arm, "metric",
                                                 n->metric, "value",
                                                 n->value.state != IFM_STATE_OK ? json_null()
                                                 : n->value.is_integer ? json_integer((json_int_t)n->value.number)
                                                                       : json_real(n->value.number),
                                                 "reason", n->value.reason));
    }
    return json_pack("{s:s,s:o}", "run_id", derived->run_id, "numbers", numbers);
}
WEAK const char *ifm_outcome_name(enum ifm_outcome outcome)
{
    static const char *const names[] = {"pass", "fail", "blocked", "not gated"};
    return names[outcome];
}
WEAK json_t *ifm_verdict_to_json(const struct ifm_verdict *verdict, const struct ifm_derived *derived)
{
    return json_pack("{s:s,s:s,s:i}", "run_id", derived->run_id, "outcome", ifm_outcome_name(verdict->outcome),
                     "exit_code", (int)verdict->exit_code);
}
#endif
