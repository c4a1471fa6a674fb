/* Any bytes as definitions of metrics: one error that names a line, or definitions that are found by their ids and
 * printed. */
#include "document/metric.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_metric *metrics = NULL;
    struct ifm_error error = {0};
    size_t n = 0;
    if (ifm_metrics_parse((const char *)data, size, "fuzz", arena, &metrics, &n, &error) != IFM_OK) {
        if (error.code != IFM_INVALID || error.message[0] == '\0' || strncmp(error.where, "fuzz", 4) != 0)
            abort();
    } else {
        struct ifm_text text = {0};
        for (size_t i = 0; i < n; i++)
            if (ifm_metric_find(metrics, n, metrics[i].id) != &metrics[i])
                abort();
        ifm_metrics_markdown_of(metrics, n, &text);
        ifm_text_free(&text);
    }
    ifm_arena_destroy(arena);
    return 0;
}
