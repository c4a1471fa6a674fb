/* The timed part of a slot of `null`, run alone so that callgrind counts nothing else (no_instructions_in_slot.sh).
 *
 * slot_cost MODE [NVML]: 40 slots of 200 samples each.
 *   off        no instrument
 *   armed      the instruments of a latency pass around each slot, and the sensors of power open
 *   sampling   the same, and the sampler reads them meanwhile
 *   more       as off, with a clock that does one thing more: what the test must notice
 * NVML is the management library that the sensors are read from. */
#include "power/sampler.h"
#include "run/cell/cell.h"
#include "run/cell/slot.h"

#include <stdio.h>
#include <string.h>

enum { SLOTS = 40, SAMPLES = 200, MOST_COLUMNS = 64 };

static struct ifm_device_ops counted;
static volatile uint64_t marks_counted;

static struct ifm_instant counting_mark(struct ifm_device *device)
{
    marks_counted++;
    return ifm_device_cpu.mark(device);
}

static enum ifm_status open_instruments(struct ifm_cell_run *cell, struct ifm_instrument_run *runs,
                                        struct ifm_error *error)
{
    size_t column = 0;
    cell->instruments = runs;
    for (; ifm_instruments[cell->n_instruments] != NULL; cell->n_instruments++) {
        struct ifm_instrument_run *run = &runs[cell->n_instruments];
        *run = (struct ifm_instrument_run){.instrument = ifm_instruments[cell->n_instruments], .first_column = column};
        IFM_TRY(run->instrument->open(&run->state, error));
        column += run->instrument->n_columns;
    }
    return IFM_OK;
}

static enum ifm_status run_slots(struct ifm_cell_run *cell, struct ifm_error *error)
{
    static struct ifm_sample samples[SAMPLES];
    static int64_t columns[MOST_COLUMNS];
    struct ifm_slot slot = {0};
    for (int i = 0; i < SLOTS; i++)
        IFM_TRY(ifm_slot_run(cell, 0, &slot, samples, columns, error));
    printf("%d slots of %u samples\n", SLOTS, (unsigned)slot.samples);
    return IFM_OK;
}

static enum ifm_status run(const char *mode, const char *nvml, struct ifm_error *error)
{
    static struct ifm_instant marks[SAMPLES + 1];
    struct ifm_instrument_run runs[8] = {{0}};
    bool sampling = strcmp(mode, "sampling") == 0, armed = sampling || strcmp(mode, "armed") == 0;
    struct ifm_device *device = NULL;
    struct ifm_power *power = NULL;
    struct ifm_sampler *sampler = NULL;
    struct ifm_session session = {0};
    struct ifm_cell plan = {.name = "null", .workload = "null", .threads = 1};
    struct ifm_pass pass = {.kind = IFM_PASS_LATENCY};
    struct ifm_setting spin = {.path = "null.spin", .text = "0"};
    struct ifm_arm arm = {.name = "null", .variant = "", .implementation = "ours", .workload = "null"};
    arm.settings = &spin;
    arm.n_settings = 1;
    struct ifm_arm_run arm_run = {.plan = &arm, .arena = ifm_arena_create(), .inner = 1, .samples = SAMPLES};
    struct ifm_cell_run cell = {.plan = &plan, .pass = &pass, .session = &session, .arms = &arm_run, .marks = marks};
    if (armed)
        power = ifm_power_open(&(struct ifm_power_options){.root = "", .nvml = nvml});
    if (armed && ifm_power_list(power)->n_sensors == 0)
        return ifm_fail(error, IFM_MISSING, "power", "", "no sensor is there to be armed");
    IFM_TRY(ifm_device_cpu.open(&(struct ifm_device_options){.threads = 1}, &device, error));
    if (strcmp(mode, "more") == 0) {
        counted = ifm_device_cpu;
        counted.mark = counting_mark;
        device->ops = &counted;
    }
    cell.device = device;
    IFM_TRY(ifm_implementation_bind(&arm, "cpu", arm_run.arena, &arm_run.opening, error));
    arm_run.workload = arm_run.opening.workload;
    arm_run.implementation = arm_run.opening.implementation;
    IFM_TRY(ifm_implementation_open(&arm_run.opening, &arm_run.state, error));
    if (armed)
        IFM_TRY(open_instruments(&cell, runs, error));
    if (sampling)
        IFM_TRY(ifm_sampler_start(power, ifm_clock_now(), 0, &sampler, error));
    enum ifm_status status = run_slots(&cell, error);
    ifm_sampler_stop(sampler);
    for (size_t i = 0; i < cell.n_instruments; i++)
        runs[i].instrument->close(runs[i].state);
    ifm_implementation_close(arm_run.implementation, arm_run.state);
    ifm_arena_destroy(arm_run.arena);
    ifm_device_cpu.close(device);
    ifm_power_close(power);
    return status;
}

int main(int argc, char **argv)
{
    struct ifm_error error = {0};
    if (argc < 2 || run(argv[1], argc > 2 ? argv[2] : NULL, &error) != IFM_OK) {
        fprintf(stderr, "error: %s: %s\n", error.where, error.message);
        return 1;
    }
    return 0;
}
