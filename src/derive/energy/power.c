/* The energy pass of a cell, put together: which sensor says how much a device took, and why there is nothing. */
#include "derive/energy/power_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool ifm_power_is_gpu(const char *device)
{
    return strncmp(device, "gpu", 3) == 0;
}

bool ifm_power_is_processor(const char *device)
{
    return strncmp(device, "cpu", 3) == 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* ---- roles ---- */

/* Can its joules be those of a device? The memory of a processor is no whole device. */
static bool is_whole(const struct ifm_power_fact *fact)
{
    return fact->role == IFM_POWER_WITNESS && !ends_with(fact->source, "_dram");
}

static bool has_readings(const struct ifm_power_fact *fact)
{
    return fact->readings != NULL && fact->readings->n > 1;
}

/* The best source of a device: a counter, then samples, an average, a meter; of two counters powercap before perf. One
 * that gave nothing is no source. */
static int rank_of(const struct ifm_power_fact *fact)
{
    static const enum ifm_power_kind best[] = {IFM_POWER_COUNTER, IFM_POWER_SAMPLES, IFM_POWER_AVERAGE,
                                               IFM_POWER_METER};
    int rank = has_readings(fact) ? 0 : 10;
    for (int i = 0; i < 4; i++)
        if (best[i] == fact->kind)
            return rank + 2 * i + (strncmp(fact->source, "perf_", 5) == 0);
    return rank + 9;
}

static struct ifm_power_fact *best_of(const struct ifm_power_cell *cell, const char *device)
{
    struct ifm_power_fact *best = NULL;
    for (size_t i = 0; i < cell->n_facts; i++) {
        struct ifm_power_fact *fact = &cell->facts[i];
        if (strcmp(fact->device, device) == 0 && is_whole(fact) && (best == NULL || rank_of(fact) < rank_of(best)))
            best = fact;
    }
    return best;
}

/* The witness of a counter: first one that works in another way. */
static const struct ifm_power_fact *witness_of(const struct ifm_power_cell *cell, const struct ifm_power_fact *primary)
{
    const struct ifm_power_fact *best = NULL;
    int best_rank = 0;
    for (size_t i = 0; i < cell->n_facts; i++) {
        const struct ifm_power_fact *fact = &cell->facts[i];
        if (fact == primary || strcmp(fact->device, primary->device) != 0 || !is_whole(fact) || !has_readings(fact))
            continue;
        int rank = rank_of(fact) + (fact->kind == primary->kind ? 8 : 0);
        if (best == NULL || rank < best_rank) {
            best = fact;
            best_rank = rank;
        }
    }
    return best;
}

/* The memory of a package, by the same source where it has it. */
static struct ifm_power_fact *memory_of(const struct ifm_power_cell *cell, const struct ifm_power_fact *primary)
{
    struct ifm_power_fact *best = NULL;
    for (size_t i = 0; i < cell->n_facts; i++) {
        struct ifm_power_fact *fact = &cell->facts[i];
        bool is_memory = strcmp(fact->device, primary->device) == 0 && fact->role == IFM_POWER_WITNESS &&
                         ends_with(fact->source, "_dram") && ends_with(primary->source, "_package");
        if (is_memory && (best == NULL || rank_of(fact) < rank_of(best)))
            best = fact;
    }
    return best;
}

static bool has_device(const struct ifm_power_cell *cell, const char *name)
{
    for (size_t i = 0; i < cell->n_devices; i++)
        if (strcmp(cell->devices[i].device, name) == 0)
            return true;
    return false;
}

/* A GPU that is measured and of which only an instantaneous power could be read is a device too, without a primary:
 * what it took is missing in the sum. */
static void add_device(struct ifm_power_pass *pass, const struct ifm_power_fact *of)
{
    struct ifm_power_cell *out = pass->out;
    struct ifm_power_device device = {
        .device = of->device, .idle_w = NAN, .idle_half_w = NAN, .floor_w = NAN, .limit_w = NAN};
    struct ifm_power_fact *primary = best_of(out, of->device);
    bool only_shown = primary == NULL && of->measured && ifm_power_is_gpu(of->device) && of->role == IFM_POWER_SHOWN;
    if ((primary == NULL && !only_shown) || has_device(out, of->device))
        return;
    for (size_t i = 0; i < out->n_facts; i++)
        if (strcmp(out->facts[i].device, of->device) == 0 && isnan(device.limit_w))
            device.limit_w = out->facts[i].limit_w;
    device.primary = primary;
    if (primary != NULL) {
        struct ifm_power_fact *memory = memory_of(out, primary);
        device.witness = witness_of(out, primary);
        device.adds = memory;
        primary->role = IFM_POWER_PRIMARY;
        if (memory != NULL)
            memory->role = IFM_POWER_PRIMARY;
    }
    out->devices[out->n_devices++] = device;
}

static void choose(struct ifm_power_pass *pass)
{
    struct ifm_power_cell *out = pass->out;
    out->devices = IFM_ARENA_ARRAY(pass->arena, struct ifm_power_device, out->n_facts + 1);
    for (size_t i = 0; i < out->n_facts; i++)
        if (ifm_power_is_gpu(out->facts[i].device))
            add_device(pass, &out->facts[i]);
    for (size_t i = 0; i < out->n_facts; i++)
        if (ifm_power_is_processor(out->facts[i].device))
            add_device(pass, &out->facts[i]);
    /* A board holds the others: it is one more witness beside them, and speaks for all where it is alone. */
    for (size_t i = 0; i < out->n_facts && out->n_devices == 0; i++)
        add_device(pass, &out->facts[i]);
}

/* ---- why there is nothing ---- */

static void nothing(struct ifm_power_cell *out, const char *why, const char *remedy)
{
    out->missing = why;
    out->remedy = remedy;
}

/* The plan gives a cell no energy pass where joules would not be those of its steps. */
static void say_no_pass(struct ifm_power_pass *pass)
{
    const char *remedy, *why = ifm_pass_rows[IFM_PASS_ENERGY].why_not(pass->cell, pass->facts->plan->device, &remedy);
    nothing(pass->out, why == NULL ? "the plan gives this cell no energy pass" : why, why == NULL ? "" : remedy);
}

static void say_no_sensor(struct ifm_power_pass *pass)
{
    struct ifm_power_cell *out = pass->out;
    size_t guesses = 0, shown = 0;
    for (size_t i = 0; i < out->n_facts; i++) {
        guesses += out->facts[i].role == IFM_POWER_GUESS;
        shown += out->facts[i].role == IFM_POWER_SHOWN;
    }
    const char *what = guesses > 0 ? "there is only an estimate, and no sensor, of the energy"
                       : shown > 0 ? "no sensor that can be integrated is of a device that this cell measures"
                                   : "no sensor of power could be read";
    bool said = pass->absent[0] != '\0';
    nothing(out, ifm_arena_printf(pass->arena, "%s%s%s%s", what, said ? " (" : "", pass->absent, said ? ")" : ""),
            pass->absent_remedy[0] != '\0' ? pass->absent_remedy : "`inferometer power` lists what could be read");
}

/* ---- the cell ---- */

static int by_time(const void *a, const void *b)
{
    const struct ifm_power_phase *one = a, *other = b;
    int64_t x = one->start_ns, y = other->start_ns;
    if (x == y) /* in the order in which they follow each other */
        return (one->end_ns > other->end_ns) - (one->end_ns < other->end_ns);
    return (x > y) - (x < y);
}

/* The record of the cell's energy pass, where it has one; false = the plan gives it no such pass. */
static bool find_pass(struct ifm_power_pass *pass)
{
    const struct ifm_pass *own = ifm_plan_pass(pass->cell, IFM_PASS_ENERGY);
    size_t p = own == NULL ? 0 : (size_t)(own - pass->cell->passes);
    if (own != NULL && pass->facts->records != NULL && p < pass->facts->max_passes)
        pass->record = pass->facts->records[pass->index * pass->facts->max_passes + p];
    return own != NULL;
}

enum ifm_status ifm_derive_power(const struct ifm_facts_view *facts, size_t cell, struct ifm_arena *arena,
                                 struct ifm_power_cell *out, struct ifm_error *error)
{
    *out = (struct ifm_power_cell){.missing = "", .remedy = ""};
    struct ifm_power_pass pass = {
        .facts = facts, .cell = &facts->plan->cells[cell], .index = cell, .arena = arena, .out = out};
    if (!find_pass(&pass)) {
        say_no_pass(&pass);
        return IFM_OK;
    }
    IFM_TRY(ifm_power_read_events(&pass, error));
    choose(&pass);
    if (out->n_phases > 0)
        qsort(out->phases, out->n_phases, sizeof *out->phases, by_time);
    ifm_power_know_meters(&pass);
    ifm_power_measure_lags(&pass);
    ifm_power_integrate(&pass);
    if (pass.record == NULL)
        nothing(out, "the run ended before the energy pass of this cell",
                "`inferometer run --resume RUN-FOLDER` goes on");
    else if (out->n_devices == 0)
        say_no_sensor(&pass);
    return IFM_OK;
}
