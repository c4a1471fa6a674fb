/* What doctor's rows come to: one row for a machine without a GPU, and the row whose remedy would help most. Pure. */
#include "host/host.h"

#include <stdbool.h>
#include <string.h>

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text == NULL ? "" : text;
}

static const json_t *find(const json_t *rows, const char *what)
{
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (strcmp(text_of(row, "what"), what) == 0)
            return row;
    }
    return NULL;
}

static bool is_absent(const json_t *row)
{
    return row != NULL && strcmp(text_of(row, "state"), "absent") == 0;
}

static bool is_of_gpus(const json_t *row)
{
    const char *what = text_of(row, "what");
    return strncmp(what, "GPU", 3) == 0 || strcmp(what, "NVIDIA driver") == 0 || strcmp(what, "CUDA") == 0;
}

void ifm_doctor_fold_gpus(json_t *rows)
{
    const json_t *cuda = find(rows, "CUDA"), *row;
    size_t i = 0;
    if (!is_absent(cuda) || !is_absent(find(rows, "GPU")) || !is_absent(find(rows, "NVIDIA driver")))
        return;
    json_t *detail = json_sprintf("%s. Remedy: %s", text_of(cuda, "detail"), text_of(cuda, "remedy"));
    json_t *one = json_pack("{s:s, s:s, s:o, s:s, s:s}", "what", "GPU", "state", "absent", "detail", detail, "why", "",
                            "remedy", "");
    while ((row = json_array_get(rows, i)) != NULL)
        if (is_of_gpus(row))
            json_array_remove(rows, i);
        else
            i++;
    json_array_append_new(rows, one);
}

/* The effect on what is measured decides, the largest first: what others take, then clocks, then what can be read. A
 * GPU is not here, since a machine may well have none. */
const json_t *ifm_doctor_first(const json_t *rows)
{
    static const char *const order[] = {
        "foreign load",
        "cgroup limits",
        "clock",
        "bare metal",
        "lock: governor",
        "lock: turbo",
        "lock: frequency",
        "GPU throttling",
        "GPU power limit",
        "GPU persistence",
        "GPU MIG",
        "GPU ECC",
        "lock: affinity",
        "isolated CPUs",
        "threads",
        "memory",
        "huge pages",
        "OpenBLAS",
        "CPU energy (RAPL)",
        "hardware counters",
        "perf_event_paranoid",
    };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const json_t *row = find(rows, order[i]);
        if (row != NULL && strcmp(text_of(row, "state"), "ok") != 0)
            return row;
    }
    return NULL;
}
