/* The publication of publish_sample.h with an energy pass in its first cell: the numbers that derive makes of one. */
#ifndef TESTS_UNIT_ENERGY_SAMPLE_H
#define TESTS_UNIT_ENERGY_SAMPLE_H

#include "publish_sample.h"
#include <math.h>

#define JOULES(x, half)                                                                                                \
    {                                                                                                                  \
        .number = x, .has_interval = true, .low = (x) - (half), .high = (x) + (half), .level = 0.95, .n = 4,           \
        .n_of = "windows"                                                                                              \
    }

static struct ifm_number energy_numbers[] = {
    {D, "plain", IFM_M_ENERGY_PER_TOKEN_J, JOULES(0.0862, 0.0002)},
    {D, "plain", IFM_M_ENERGY_PER_STEP_J, JOULES(0.4312, 0.0009)},
    {D, "plain", IFM_M_ENERGY_PER_TOKEN_ABOVE_IDLE_J, JOULES(0.0702, 0.0002)},
    {D, "plain", IFM_M_ENERGY_PER_TOTAL_TOKEN_J, JOULES(0.0862, 0.0002)},
    {D, "plain", IFM_M_TOKENS_PER_JOULE, JOULES(11.6, 0.03)},
    {D, "plain", IFM_M_GPU_POWER_W, JOULES(690.4, 1.4)},
    {D, "plain", IFM_M_CPU_POWER_W, JOULES(58.1, 0.2)},
    {D, "plain", IFM_M_IDLE_POWER_W, JOULES(159.1, 0.6)},
    {D, "plain", IFM_M_TOTAL_ENERGY_J, JOULES(29640, 60)},
    {D, "plain", IFM_M_GPU_ENERGY_J, JOULES(27339, 55)},
    {D, "plain", IFM_M_CPU_ENERGY_J, JOULES(2301, 8)},
    {D, "plain", IFM_M_DURATION_SEC, {.number = 39.6, .n = 4, .n_of = "windows"}},
    {D, "plain", IFM_M_POWER_MEAN_W, JOULES(748.5, 1.5)},
    {D, "plain", IFM_M_ENERGY_WINDOWS, {.number = 4, .is_integer = true, .n = 4, .n_of = "windows"}},
    {D, "plain", IFM_M_ENERGY_SOURCES_DIFFER_PERCENT, {.number = 0.15, .n = 4, .n_of = "windows"}},
    {D, "half", IFM_M_ENERGY_PER_TOKEN_J, JOULES(0.0361, 0.0001)},
    {D, "half", IFM_M_ENERGY_PER_TOKEN_ABOVE_IDLE_J, JOULES(0.0248, 0.0001)},
    {D, "half", IFM_M_TOKENS_PER_JOULE, JOULES(27.7, 0.08)},
    {D, "half", IFM_M_GPU_POWER_W, JOULES(452.4, 0.9)},
    {D, "half", IFM_M_CPU_POWER_W, JOULES(55.1, 0.2)},
    {D, "half", IFM_M_IDLE_POWER_W, JOULES(159.1, 0.6)},
    {D, "half", IFM_M_TOTAL_ENERGY_J, JOULES(20097, 40)},
    {D, "half", IFM_M_DURATION_SEC, {.number = 39.6, .n = 4, .n_of = "windows"}},
    {D, "half", IFM_M_ENERGY_WINDOWS, {.number = 4, .is_integer = true, .n = 4, .n_of = "windows"}},
    {D,
     "half",
     IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT,
     {.number = -58.1, .has_interval = true, .low = -58.4, .high = -57.8, .level = 0.95, .n = 4, .n_of = "pairs"}},
    {D, "staged", IFM_M_ENERGY_PER_TOKEN_J,
     WORD(IFM_STATE_REFUSED, "rule-05: 2 windows are left, and 3 are needed", "--energy-windows 8")},
    {D, "packed", IFM_M_ENERGY_PER_TOKEN_J,
     WORD(IFM_STATE_ABSENT, "the sensor of gpu0 was lost", "look at `dmesg` for an Xid")},
};

static struct ifm_device_energy energy_rows[] = {
    {.cell = D,
     .arm = "plain",
     .device = "gpu0",
     .source = "nvml_energy",
     .role = "primary",
     .windows = 4,
     .seconds = 39.6,
     .joules = 27339,
     .random_j = 55,
     .systematic = 0.05,
     .idle_w = 128.1,
     .idle_half_w = 0.2,
     .above_idle_j = 22266,
     .refused = ""},
    {.cell = D,
     .arm = "plain",
     .device = "gpu0",
     .source = "nvml_samples",
     .role = "witness",
     .windows = 4,
     .seconds = 39.6,
     .joules = 27380,
     .random_j = 80,
     .systematic = 0.05,
     .idle_w = NAN,
     .idle_half_w = NAN,
     .above_idle_j = NAN,
     .refused = ""},
    {.cell = D,
     .arm = "plain",
     .device = "cpu0",
     .source = "rapl",
     .role = "primary",
     .windows = 4,
     .seconds = 39.6,
     .joules = 2301,
     .random_j = 8,
     .systematic = NAN,
     .idle_w = 31,
     .idle_half_w = 0.4,
     .above_idle_j = 1073,
     .refused = ""},
    {.cell = D,
     .arm = "half",
     .device = "gpu0",
     .source = "nvml_energy",
     .role = "primary",
     .windows = 4,
     .seconds = 39.6,
     .joules = 17915,
     .random_j = 36,
     .systematic = 0.05,
     .idle_w = 128.1,
     .idle_half_w = 0.2,
     .above_idle_j = 12842,
     .refused = ""},
    {.cell = D,
     .arm = "staged",
     .device = "gpu0",
     .source = "nvml_energy",
     .role = "primary",
     .windows = 2,
     .seconds = 19.8,
     .joules = 8966,
     .random_j = 18,
     .systematic = 0.05,
     .idle_w = 128.1,
     .idle_half_w = 0.2,
     .above_idle_j = 6430,
     .refused = "2 windows are left, and 3 are needed"},
};

struct energy_sample {
    struct ifm_number numbers[COUNT(sample_numbers) + COUNT(energy_numbers)];
    struct ifm_cell cells[COUNT(sample_cells)];
    struct ifm_plan plan;
    struct ifm_derived derived;
    struct ifm_publication publication;
};

/* In place: it points into itself. What the sample says of energy without a pass gives way. */
static inline void energy_sample_make(struct energy_sample *s)
{
    static const struct {
        const char *part, *unit;
    } units[] = {{"_j", "J"},          {"_w", "W"},     {"_sec", "s"}, {"tokens_per_joule", "tokens/J"},
                 {"windows", "count"}, {"percent", "%"}};
    size_t n = 0;
    s->publication = sample_publication(NULL);
    for (size_t i = 0; i < COUNT(sample_numbers); i++)
        if (sample_numbers[i].metric != IFM_M_ENERGY_PER_TOKEN_J)
            s->numbers[n++] = sample_numbers[i];
    sample_fill(energy_numbers, COUNT(energy_numbers));
    for (size_t i = 0; i < COUNT(energy_numbers); i++) {
        s->numbers[n] = energy_numbers[i];
        for (size_t u = 0; u < COUNT(units); u++)
            if (strstr(ifm_metrics[energy_numbers[i].metric].id, units[u].part) != NULL)
                s->numbers[n].value.unit = units[u].unit;
        n++;
    }
    memcpy(s->cells, sample_cells, sizeof s->cells);
    s->cells[0].measure.energy = true;
    s->cells[0].measure.energy_window_s = 10;
    s->cells[0].measure.energy_windows = 4;
    s->cells[0].measure.energy_idle_s = 5;
    s->cells[0].measure.pre_roll_s = 1;
    s->cells[0].measure.power_sample_hz = 10;
    s->cells[0].measure.power_sample_hz = 10;
    s->plan = *s->publication.plan;
    s->plan.cells = s->cells;
    s->derived = *s->publication.derived;
    s->derived.numbers = s->numbers;
    s->derived.n_numbers = n;
    s->derived.order = (struct ifm_number_order){0};
    s->derived.energies = energy_rows;
    s->derived.n_energies = COUNT(energy_rows);
    s->publication.plan = &s->plan;
    s->publication.derived = &s->derived;
}

#endif
