/* A GPU whose power follows what programs say that they do: every process that opens the library sees the same joules.
 */
#include "fake_nvml/internal.h"

#include <stdio.h>

bool fake_loads(struct fake_loads *out)
{
    char path[256];
    const char *text = fake_value_of("loads");
    out->n = 0;
    if (text == NULL || sscanf(text, "%255[^ ]", path) != 1)
        return false;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    while (out->n < FAKE_EDGES && fscanf(file, "%lld", &out->edges_us[out->n]) == 1)
        out->n++;
    fclose(file);
    return out->n > 0;
}

/* The first line is when the counter was 0; then a load begins, ends, begins, ... */
double fake_loads_joules(const struct fake_loads *loads, long long t_us)
{
    double idle_w = (double)fake_number_of("idle_w", 80), load_w = (double)fake_number_of("watts", 300);
    double busy_s = 0, tail_s = 1e-3 * (double)fake_number_of("tail_ms", 0);
    for (size_t i = 1; i < loads->n && loads->edges_us[i] < t_us; i += 2) {
        long long end_us = i + 1 < loads->n && loads->edges_us[i + 1] < t_us ? loads->edges_us[i + 1] : t_us;
        busy_s += 1e-6 * (double)(end_us - loads->edges_us[i]);
        double since_s =
            1e-6 *
            (double)((i + 2 < loads->n && loads->edges_us[i + 2] < t_us ? loads->edges_us[i + 2] : t_us) - end_us);
        since_s = since_s < tail_s ? since_s : tail_s;
        busy_s += tail_s > 0 ? since_s - 0.5 * since_s * since_s / tail_s : 0; /* it falls in a straight line */
    }
    return idle_w * 1e-6 * (double)(t_us - loads->edges_us[0]) + (load_w - idle_w) * busy_s;
}

long fake_watts_at(long long t_us)
{
    enum { SPAN_US = 1000 };
    static struct fake_loads loads;
    if (!fake_loads(&loads))
        return fake_number_of("watts", 300);
    return (long)((fake_loads_joules(&loads, t_us) - fake_loads_joules(&loads, t_us - SPAN_US)) * 1e6 / SPAN_US + 0.5);
}
