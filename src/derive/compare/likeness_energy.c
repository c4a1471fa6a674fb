/* Are the joules of two runs the same joules? By the pass, its windows, its sensors and the machine they are of. */
#include "derive/compare/likeness.h"

#include "derive/internal.h"
#include "model/machine_facts.h"
#include <stdio.h>
#include <string.h>

bool ifm_has_energy_pass(const struct ifm_run_view *run, const char *cell, const char *arm)
{
    return ifm_derived_value(run->derived, cell, arm, IFM_M_ENERGY_PER_STEP_J) != NULL;
}

static struct ifm_value absent(struct ifm_arena *arena, const char *reason, const char *remedy)
{
    return ifm_value_absent(ifm_arena_strdup(arena, reason), remedy, 0, "windows");
}

/* A window that is longer, or follows another pre-roll, meets the device at another temperature and clock, and idle
 * power is subtracted from the pauses. How many windows there are changes the interval alone. */
static const char *other_window(const struct ifm_measure *a, const struct ifm_measure *b, struct ifm_arena *arena)
{
    const struct {
        const char *path;
        double reference, other;
    } settings[] = {{"measure.energy_window", a->energy_window_s, b->energy_window_s},
                    {"measure.energy_idle", a->energy_idle_s, b->energy_idle_s},
                    {"measure.pre_roll", a->pre_roll_s, b->pre_roll_s}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i].reference != settings[i].other)
            return ifm_arena_printf(arena, "%s is %.4g s in the reference and %.4g s here", settings[i].path,
                                    settings[i].reference, settings[i].other);
    return NULL;
}

/* "gpu0 by nvml_energy, cpu0 by rapl_package": whose joules are added. */
static const char *sensors_of(const struct ifm_run_view *run, const char *cell, const char *arm,
                              struct ifm_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < run->derived->n_energies; i++) {
        const struct ifm_device_energy *row = &run->derived->energies[i];
        if (strcmp(row->role, "primary") == 0 && strcmp(row->cell, cell) == 0 && strcmp(row->arm, arm) == 0)
            text = ifm_arena_printf(arena, "%s%s%s by %s", text, text[0] == '\0' ? "" : ", ", row->device, row->source);
    }
    return text[0] == '\0' ? "no sensor" : text;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

/* Of NVML's index, as the fingerprint lists it; NULL where it does not. */
static const json_t *card_of(const struct ifm_run_view *run, unsigned index)
{
    return ifm_gpu_at(json_object_get(ifm_fingerprint_of(run->events).gpus, "devices"), index);
}

/* Two cards of one model are two sensors: the gain error of either does not cancel. */
static const char *other_card(const struct ifm_run_view *reference, const struct ifm_run_view *other,
                              const struct ifm_device_energy *row, struct ifm_arena *arena)
{
    unsigned index;
    if (strcmp(row->role, "primary") != 0 || sscanf(row->device, "gpu%u", &index) != 1)
        return NULL;
    const json_t *a = card_of(reference, index), *b = card_of(other, index);
    const char *was = text_of(a, "uuid_sha256"), *now = text_of(b, "uuid_sha256");
    if (strcmp(was, now) == 0 && was[0] != '\0')
        return NULL;
    if (was[0] == '\0' || now[0] == '\0')
        return ifm_arena_printf(arena, "which card %s is was not recorded in %s", row->device,
                                was[0] == '\0' ? "the reference" : "this run");
    bool named_alike = strcmp(text_of(a, "name"), text_of(b, "name")) == 0;
    return named_alike
               ? ifm_arena_printf(arena, "%s is another %s than in the reference", row->device, text_of(b, "name"))
               : ifm_arena_printf(arena, "%s is %s in the reference and %s here", row->device, text_of(a, "name"),
                                  text_of(b, "name"));
}

static const char *other_machine(const struct ifm_run_view *reference, const struct ifm_run_view *other,
                                 const struct ifm_like_pair *pair, struct ifm_arena *arena)
{
    const char *was = ifm_machine_cpu(reference->events), *now = ifm_machine_cpu(other->events), *card = NULL;
    if (strcmp(was, now) != 0)
        return ifm_arena_printf(arena, "the processor is %s in the reference and %s here",
                                was[0] == '\0' ? "unknown" : was, now[0] == '\0' ? "unknown" : now);
    for (size_t i = 0; card == NULL && i < other->derived->n_energies; i++) {
        const struct ifm_device_energy *row = &other->derived->energies[i];
        if (strcmp(row->cell, pair->other_cell->name) == 0 && strcmp(row->arm, pair->other_arm->name) == 0)
            card = other_card(reference, other, row, arena);
    }
    return card;
}

struct ifm_value ifm_likeness_energy(const struct ifm_run_view *reference, const struct ifm_run_view *other,
                                     const struct ifm_like_pair *pair, bool interleaved, struct ifm_arena *arena)
{
    const char *cell = pair->reference_cell->name, *arm = pair->reference_arm->name;
    bool here = ifm_has_energy_pass(other, cell, arm), there = ifm_has_energy_pass(reference, cell, arm);
    if (!here || !there)
        return absent(arena, there ? "this run has no energy pass" : "the reference has no energy pass",
                      "measure both with --energy");
    const char *window = other_window(&pair->reference_cell->measure, &pair->other_cell->measure, arena);
    if (window != NULL)
        return absent(arena, ifm_arena_printf(arena, "other windows: %s", window),
                      "measure both with the same settings of the energy pass");
    const char *was = sensors_of(reference, cell, arm, arena), *now = sensors_of(other, cell, arm, arena);
    if (strcmp(was, now) != 0)
        return absent(arena,
                      ifm_arena_printf(arena, "other sensors, other joules: %s in the reference and %s here", was, now),
                      "measure both with the same sensors: inferometer power lists them");
    const char *machine = interleaved ? NULL : other_machine(reference, other, pair, arena);
    if (machine != NULL)
        return absent(arena, ifm_arena_printf(arena, "joules of another machine: %s", machine),
                      "measure both on the same machine and devices; a change against the baseline inside each run "
                      "needs no more than the same sensors");
    return (struct ifm_value){.state = IFM_STATE_OK, .n_of = "", .unit = "", .reason = "", .remedy = "", .text = ""};
}
