/* The instruments of a pass. */
#include "run/cell/instruments.h"

#include "base/arena.h"
#include "device/fake.h"
#include <math.h>
#include <stdlib.h>

static void read_fake(void *context, int64_t *columns)
{
    ifm_fake_columns(context, columns);
}

/* In the order of the columns of the instrument gpu. */
static void read_clock(void *context, int64_t *columns)
{
    struct ifm_cell_run *cell = context;
    struct ifm_device_clock now;
    cell->device->ops->clock(cell->device, &now);
    columns[0] = now.cycles;
    columns[1] = now.span_ns;
    columns[2] = now.reported_mhz;
    cell->clock_slots++;
    cell->clock_read += now.cycles != IFM_ABSENT;
    if (now.cycles == IFM_ABSENT)
        cell->clock_why = now.why;
}

enum ifm_status ifm_instruments_log_clock(const struct ifm_cell_run *cell, struct ifm_error *error)
{
    if (cell->clock_read == cell->clock_slots)
        return IFM_OK;
    return IFM_FACT(cell->session, error, clock_unread, true, .cell = cell->plan->name,
                    .slots = (int64_t)cell->clock_slots, .read = (int64_t)cell->clock_read, .reason = cell->clock_why);
}

/* Attach an instrument without a source of its own to the device's; false where the device has none. */
static bool attach(struct ifm_cell_run *cell, const struct ifm_instrument_run *run)
{
    const struct ifm_instrument *instrument = run->instrument;
    bool fake = ifm_device_is_fake(cell->device), clock = cell->device->ops->clock != NULL;
    if (instrument->attach == NULL || !(fake || clock))
        return false;
    if (fake)
        instrument->attach(run->state, read_fake, cell->device);
    else
        instrument->attach(run->state, read_clock, cell);
    return true;
}

/* A script may describe an energy sensor, as an instrument would. */
static enum ifm_status log_scripted_sensor(struct ifm_cell_run *cell, struct ifm_error *error)
{
    double idle_w, limit_w, period_ns;
    if (cell->pass->kind != IFM_PASS_LATENCY || !ifm_fake_energy(cell->device, &idle_w, &limit_w, &period_ns))
        return IFM_OK;
    struct ifm_event_energy facts = IFM_BLANK(energy);
    facts.cell = cell->plan->name;
    facts.device = "fake";
    facts.source = "script";
    facts.idle_w = idle_w >= 0 ? idle_w : NAN; /* below zero: not scripted */
    facts.limit_w = limit_w >= 0 ? limit_w : NAN;
    facts.period_ns = period_ns >= 0 ? period_ns : NAN;
    return ifm_fact_add(cell->session, IFM_EVENT_OF(energy, true, &facts), error);
}

static enum ifm_status log_absent_columns(struct ifm_cell_run *cell, const struct ifm_instrument *instrument,
                                          struct ifm_error *error)
{
    for (size_t i = 0; i < instrument->n_columns; i++) {
        const char *remedy = "", *reason = instrument->probe(i, &remedy);
        if (reason[0] == '\0')
            continue;
        IFM_TRY(IFM_FACT(cell->session, error, column_absent, true, .cell = cell->plan->name,
                         .pass = ifm_pass_name(cell->pass), .column = instrument->columns[i].id, .reason = reason,
                         .remedy = remedy));
    }
    return IFM_OK;
}

static enum ifm_status open_one(struct ifm_cell_run *cell, const char *name, struct ifm_error *error)
{
    struct ifm_instrument_run *run = &cell->instruments[cell->n_instruments];
    run->instrument = ifm_instrument_find(name);
    if (run->instrument == NULL)
        return ifm_fail(error, IFM_INVALID, cell->plan->name, "use the version of inferometer that made the plan",
                        "this build has no instrument \"%s\"", name);
    IFM_TRY(run->instrument->open(&run->state, error));
    cell->n_instruments++;
    run->first_column = cell->own_columns;
    cell->own_columns += run->instrument->n_columns;
    if (!attach(cell, run))
        return log_absent_columns(cell, run->instrument, error);
    return ifm_device_is_fake(cell->device) ? log_scripted_sensor(cell, error) : IFM_OK;
}

enum ifm_status ifm_instruments_open(struct ifm_cell_run *cell, struct ifm_error *error)
{
    cell->instruments = ifm_zeros(cell->pass->n_instruments, sizeof *cell->instruments);
    for (size_t i = 0; i < cell->pass->n_instruments; i++)
        IFM_TRY(open_one(cell, cell->pass->instruments[i], error));
    return IFM_OK;
}

void ifm_instruments_close(struct ifm_cell_run *cell)
{
    for (size_t i = 0; i < cell->n_instruments; i++)
        cell->instruments[i].instrument->close(cell->instruments[i].state);
    free(cell->instruments);
    cell->instruments = NULL;
    cell->n_instruments = cell->own_columns = 0;
}

enum ifm_status ifm_instruments_of(struct ifm_cell_run *cell, const struct ifm_pass *pass, struct ifm_error *error)
{
    if (cell->pass == pass)
        return IFM_OK;
    ifm_instruments_close(cell);
    cell->pass = pass;
    free(cell->columns);
    cell->columns = ifm_zeros(2 * cell->plan->n_arms * pass->n_columns, sizeof *cell->columns);
    return ifm_instruments_open(cell, error);
}

unsigned ifm_instruments_groups(const struct ifm_cell_run *cell, bool *grouped)
{
    unsigned most = 0;
    *grouped = false;
    for (size_t i = 0; i < cell->n_instruments; i++) {
        const struct ifm_instrument_run *run = &cell->instruments[i];
        if (run->instrument->groups == NULL)
            continue;
        unsigned n = run->instrument->groups(run->state);
        *grouped = true;
        most = n > most ? n : most;
    }
    return most;
}

void ifm_instruments_choose(const struct ifm_cell_run *cell, unsigned group)
{
    for (size_t i = 0; i < cell->n_instruments; i++) {
        const struct ifm_instrument_run *run = &cell->instruments[i];
        if (run->instrument->groups != NULL && group < run->instrument->groups(run->state))
            run->instrument->choose(run->state, group);
    }
}

enum ifm_status ifm_instruments_log_read(const struct ifm_cell_run *cell, struct ifm_error *error)
{
    for (size_t i = 0; i < cell->n_instruments; i++) {
        const struct ifm_instrument_run *run = &cell->instruments[i];
        struct ifm_instrument_told told;
        if (run->instrument->tell == NULL)
            continue;
        run->instrument->tell(run->state, &told);
        if (told.slots > 0)
            IFM_TRY(IFM_FACT(cell->session, error, counters_read, true, .cell = cell->plan->name,
                             .pass = ifm_pass_name(cell->pass), .instrument = run->instrument->name,
                             .source = told.source, .slots = (int64_t)told.slots, .read = (int64_t)told.read,
                             .reason = told.read == told.slots ? NULL : told.why,
                             .counted = run->instrument->last_sample ? "sample" : NULL));
    }
    return IFM_OK;
}

static bool takes_part(const struct ifm_instrument *instrument, enum ifm_instruments_part part)
{
    return part == IFM_INSTRUMENTS_ALL || instrument->last_sample == (part == IFM_INSTRUMENTS_OF_SAMPLE);
}

void ifm_instruments_start(struct ifm_cell_run *cell, enum ifm_instruments_part part)
{
    for (size_t i = 0; i < cell->n_instruments; i++)
        if (takes_part(cell->instruments[i].instrument, part))
            cell->instruments[i].instrument->start(cell->instruments[i].state);
}

void ifm_instruments_stop(struct ifm_cell_run *cell, enum ifm_instruments_part part)
{
    for (size_t i = cell->n_instruments; i-- > 0;)
        if (takes_part(cell->instruments[i].instrument, part))
            cell->instruments[i].instrument->stop(cell->instruments[i].state);
}

void ifm_instruments_collect(const struct ifm_cell_run *cell, int64_t *columns)
{
    for (size_t i = 0; i < cell->n_instruments; i++)
        cell->instruments[i].instrument->collect(cell->instruments[i].state,
                                                 columns + cell->instruments[i].first_column);
}
