/* The knobs of a GPU for run.log: what is locked, as far as that can be known. Reads only. */
#include "host/probe.h"
#include "lock/private.h"

#include <stdio.h>
#include <string.h>

enum { FACT_SETTLE_MS = 200 };
#define NO_LOCK "no lock known"

static void add(json_t *knobs, const char *knob, const char *value, const char *reason, const char *remedy)
{
    ifm_probe_add_lock(knobs, knob, value == NULL ? NULL : json_string(value), reason, remedy);
}

/* The row of the state file for this knob of this card, or NULL. */
static const struct ifm_lock_row *row_of(const struct ifm_lock_file *file, const struct ifm_lock_row *knob)
{
    for (size_t i = 0; i < file->n && !file->other_boot; i++) {
        const struct ifm_lock_row *row = &file->rows[i];
        bool same = knob->id[0] != '\0' ? strcmp(row->id, knob->id) == 0 : strcmp(row->target, knob->target) == 0;
        if (same && row->kind == knob->kind)
            return row;
    }
    return NULL;
}

static void add_clock(const struct ifm_lock_machine *machine, const struct ifm_lock_file *file,
                      struct ifm_lock_row *knob, json_t *knobs)
{
    struct ifm_error error;
    struct ifm_lock_sight sight;
    char remedy[64], reason[IFM_LOCK_SENTENCE];
    bool memory = knob->kind == &ifm_lock_memory_clock;
    const struct ifm_lock_row *row = row_of(file, knob);
    unsigned only = memory ? ifm_lock_only_memory_clock(machine, knob) : 0;
    snprintf(remedy, sizeof remedy, "inferometer lock --%s MHZ -- COMMAND", memory ? "memory-clock" : "gpu-clock");
    snprintf(knob->wanted, sizeof knob->wanted, "%s", row == NULL ? "0 MHz" : row->wanted);
    if (ifm_lock_look(machine, knob, row == NULL ? 0 : FACT_SETTLE_MS, &sight, &error) != IFM_OK) {
        add(knobs, knob->kind->knob, NULL, error.message, error.hint);
        return;
    }
    if (row == NULL && only != 0) {
        add(knobs, knob->kind->knob, knob->seen, "", "");
    } else if (row == NULL) {
        snprintf(reason, sizeof reason,
                 "the clock is %s now; NVML does not say whether it is locked, and no `inferometer lock` holds it",
                 knob->seen);
        add(knobs, knob->kind->knob, NO_LOCK, reason, remedy);
    } else if (sight.is_wanted) {
        add(knobs, knob->kind->knob, row->wanted, "", "");
    } else if (sight.unsure) {
        ifm_lock_why_slow(machine, knob, reason);
        add(knobs, knob->kind->knob, row->wanted, reason, "lock a clock that the GPU can hold under this load");
    } else {
        snprintf(reason, sizeof reason, "it was locked at %s, and the clock is %s: the lock is not in force",
                 row->wanted, knob->seen);
        add(knobs, knob->kind->knob, NO_LOCK, reason, "inferometer unlock, then lock it again");
    }
}

static void add_settings(const struct ifm_lock_machine *machine, struct ifm_lock_row *knob, json_t *knobs)
{
    struct ifm_error error;
    knob->kind = &ifm_lock_power_limit; /* it stays until it is set again */
    if (knob->kind->read(machine, knob, knob->seen, &error) == IFM_OK)
        add(knobs, knob->kind->knob, knob->seen, "", "");
    else
        add(knobs, knob->kind->knob, NULL, error.message, error.hint);
    knob->kind = &ifm_lock_persistence;
    if (knob->kind->read(machine, knob, knob->seen, &error) != IFM_OK)
        add(knobs, knob->kind->knob, NULL, error.message, error.hint);
    else if (strcmp(knob->seen, "on") == 0)
        add(knobs, knob->kind->knob, "on", "", "");
    else
        add(knobs, knob->kind->knob, "off",
            "without persistence the driver forgets clocks and limits when its last user ends",
            "inferometer lock --persistence -- COMMAND");
    unsigned application = ifm_lock_application_clock(machine, knob);
    char value[IFM_LOCK_TEXT];
    snprintf(value, sizeof value, "%u MHz", application);
    if (application != 0) /* deprecated by NVIDIA and missing on many cards */
        add(knobs, "application_clock", value, "", "");
}

json_t *ifm_lock_gpu_knobs(const struct ifm_lock_options *options, const char *bus)
{
    struct ifm_lock_machine machine = {.root = options->root, .nvml_reason = "", .nvml_remedy = ""};
    struct ifm_lock_row knob = {0};
    struct ifm_lock_file file;
    struct ifm_error error = {0}, ignored;
    unsigned index;
    json_t *knobs = json_array();
    ifm_lock_nvml_open(&machine, options->nvml);
    enum ifm_status status = ifm_lock_gpu_at(&machine, bus, &index, &error);
    if (status == IFM_OK)
        status = ifm_lock_gpu_id(&machine, index, knob.id, &error);
    if (status != IFM_OK) {
        static const char *const names[] = {"gpu_clock", "memory_clock", "power_limit", "persistence"};
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            add(knobs, names[i], NULL, error.message, error.hint);
        return knobs;
    }
    struct ifm_arena *arena = ifm_arena_create();
    snprintf(knob.target, sizeof knob.target, "gpu%u", index);
    /* An unreadable state file counts as no lock. */
    if (ifm_lock_file_read(options->state, options->root, arena, &file, &ignored) != IFM_OK)
        file.n = 0;
    knob.kind = &ifm_lock_gpu_clock;
    add_clock(&machine, &file, &knob, knobs);
    knob.kind = &ifm_lock_memory_clock;
    add_clock(&machine, &file, &knob, knobs);
    add_settings(&machine, &knob, knobs);
    ifm_arena_destroy(arena);
    return knobs;
}

json_t *ifm_host_gpu_locks(const char *bus)
{
    char path[IFM_LOCK_PATH];
    struct ifm_error ignored;
    struct ifm_lock_options options = {.root = "", .state = path};
    if (ifm_lock_file(path, &ignored) != IFM_OK)
        path[0] = '\0'; /* no such file */
    return ifm_lock_gpu_knobs(&options, bus);
}
