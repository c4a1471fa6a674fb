/* Any bytes as what ncu prints: one error, or launches whose values are counts or say why they are none. */
#include "instrument/ncu_report.h"
#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_ncu_report report;
    struct ifm_error error = {0};
    struct ifm_arena *arena = ifm_arena_create();
    if (ifm_ncu_read((const char *)data, size, "table", arena, &report, &error) == IFM_OK) {
        require(report.n_launches > 0);
        for (size_t i = 0; i < report.n_launches; i++)
            for (size_t m = 0; m < report.n_metrics; m++) {
                const struct ifm_ncu_value value = ifm_ncu_value_of(&report, &report.launches[i], report.metrics[m]);
                require((value.reason != NULL) == isnan(value.number));
                require(value.reason != NULL || value.number >= 0);
            }
    } else {
        require(error.code == IFM_INVALID && error.message[0] != '\0' && error.hint[0] != '\0');
    }
    ifm_arena_destroy(arena);
    return 0;
}
