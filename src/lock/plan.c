/* From wishes to knobs: the targets, their order and their present values. Reads only.
 *
 * Order on a GPU: persistence first, because a driver that unloads forgets the rest. Order on a CPU: frequencies,
 * governor, turbo. Turning turbo off changes the frequency limits, so they are read before it and restored after it. */
#include "base/arena.h"
#include "host/cpus.h"
#include "host/probe.h"
#include "lock/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plan {
    const struct ifm_lock_machine *machine;
    struct ifm_arena *arena;
    struct ifm_lock_row *rows;
    size_t n, capacity;
};

static enum ifm_status add(struct plan *plan, const struct ifm_lock_kind *kind, const char *target, const char *id,
                           const char *wanted, struct ifm_error *error)
{
    IFM_ARENA_GROW(plan->arena, plan->rows, plan->n, plan->capacity);
    struct ifm_lock_row *row = &plan->rows[plan->n];
    *row = (struct ifm_lock_row){.kind = kind};
    snprintf(row->target, sizeof row->target, "%s", target);
    snprintf(row->id, sizeof row->id, "%s", id);
    snprintf(row->wanted, sizeof row->wanted, "%s", wanted);
    IFM_TRY(kind->read(plan->machine, row, row->seen, error));
    snprintf(row->before, sizeof row->before, "%s", kind->is_clock ? IFM_LOCK_NOT_READABLE : row->seen);
    plan->n++;
    return kind->check == NULL ? IFM_OK : kind->check(plan->machine, row, error);
}

/* ---- GPUs ---- */

static enum ifm_status plan_gpu(struct plan *plan, const struct ifm_lock_wishes *wishes, unsigned index,
                                struct ifm_error *error)
{
    char target[32], id[IFM_LOCK_ID], wanted[IFM_LOCK_TEXT];
    snprintf(target, sizeof target, "gpu%u", index);
    IFM_TRY(ifm_lock_gpu_id(plan->machine, index, id, error));
    if (wishes->persistence)
        IFM_TRY(add(plan, &ifm_lock_persistence, target, id, "on", error));
    if (wishes->power_cap_w > 0) {
        snprintf(wanted, sizeof wanted, "%.7g W", wishes->power_cap_w);
        IFM_TRY(add(plan, &ifm_lock_power_limit, target, id, wanted, error));
    }
    if (wishes->memory_clock_mhz > 0) {
        snprintf(wanted, sizeof wanted, "%u MHz", wishes->memory_clock_mhz);
        IFM_TRY(add(plan, &ifm_lock_memory_clock, target, id, wanted, error));
    }
    if (wishes->gpu_clock_mhz > 0) {
        snprintf(wanted, sizeof wanted, "%u MHz", wishes->gpu_clock_mhz);
        IFM_TRY(add(plan, &ifm_lock_gpu_clock, target, id, wanted, error));
    }
    return IFM_OK;
}

static enum ifm_status plan_gpus(struct plan *plan, const struct ifm_lock_wishes *wishes, struct ifm_error *error)
{
    unsigned n = ifm_lock_gpus(plan->machine);
    if (plan->machine->nvml == NULL)
        return ifm_fail(error, IFM_MISSING, "gpu", plan->machine->nvml_remedy, "%s", plan->machine->nvml_reason);
    if (n == 0)
        return ifm_fail(error, IFM_MISSING, "gpu", "look at `nvidia-smi -L`", "NVML names no GPU");
    for (unsigned i = 0; wishes->gpus == NULL && i < n; i++)
        IFM_TRY(plan_gpu(plan, wishes, i, error));
    for (const char *at = wishes->gpus; at != NULL && *at != '\0';) {
        char *end;
        unsigned long index = strtoul(at, &end, 10);
        if (*at < '0' || *at > '9' || (*end != ',' && *end != '\0') || (*end == ',' && end[1] == '\0') || index >= n)
            return ifm_fail(error, IFM_USAGE, "--gpu", "such as 0 or 0,1",
                            "\"%.40s\" does not list GPUs of this machine, which has %u", wishes->gpus, n);
        IFM_TRY(plan_gpu(plan, wishes, (unsigned)index, error));
        at = *end == ',' ? end + 1 : end;
    }
    return IFM_OK;
}

/* ---- CPUs ---- */

/* CPUs of one policy share their files: the first of the allowed ones stands for them. */
static bool has_policy_of(const char *root, const unsigned *cpus, unsigned k)
{
    char list[4096], word[16];
    if (!ifm_probe_line(root, list, sizeof list, "/sys/devices/system/cpu/cpu%u/cpufreq/affected_cpus", cpus[k]))
        return false;
    for (unsigned i = 0; i < k; i++) {
        snprintf(word, sizeof word, "%u", cpus[i]);
        if (ifm_probe_has_word(list, word))
            return true;
    }
    return false;
}

/* The highest clock may never be below the lowest, so their values decide which is set first. */
static enum ifm_status plan_frequency(struct plan *plan, const char *target, unsigned mhz, struct ifm_error *error)
{
    char wanted[IFM_LOCK_TEXT], high[IFM_LOCK_TEXT] = "";
    struct ifm_lock_row row = {.kind = &ifm_lock_frequency_max};
    snprintf(wanted, sizeof wanted, "%llu kHz", 1000ull * mhz);
    snprintf(row.target, sizeof row.target, "%s", target);
    IFM_TRY(row.kind->read(plan->machine, &row, high, error));
    bool up = 1000ull * mhz >= strtoull(high, NULL, 10);
    IFM_TRY(add(plan, up ? &ifm_lock_frequency_max : &ifm_lock_frequency_min, target, "", wanted, error));
    return add(plan, up ? &ifm_lock_frequency_min : &ifm_lock_frequency_max, target, "", wanted, error);
}

static enum ifm_status plan_cpus(struct plan *plan, const struct ifm_lock_wishes *wishes, const unsigned *cpus,
                                 unsigned n, struct ifm_error *error)
{
    char target[32];
    if (n == 0)
        return ifm_fail(error, IFM_MISSING, "cpu", "mount /proc", "/proc/self/status lists no allowed CPUs");
    for (int pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < n; i++) {
            if (has_policy_of(plan->machine->root, cpus, i))
                continue;
            snprintf(target, sizeof target, "cpu%u", cpus[i]);
            if (pass == 0 && wishes->frequency_mhz > 0)
                IFM_TRY(plan_frequency(plan, target, wishes->frequency_mhz, error));
            if (pass == 1 && wishes->governor != NULL)
                IFM_TRY(add(plan, &ifm_lock_governor, target, "", wishes->governor, error));
        }
    return IFM_OK;
}

static enum ifm_status make_plan(struct plan *plan, const struct ifm_lock_wishes *wishes, unsigned *cpus,
                                 struct ifm_error *error)
{
    if (wishes->gpu_clock_mhz > 0 || wishes->memory_clock_mhz > 0 || wishes->power_cap_w > 0 || wishes->persistence)
        IFM_TRY(plan_gpus(plan, wishes, error));
    if (wishes->governor != NULL || wishes->frequency_mhz > 0)
        IFM_TRY(plan_cpus(plan, wishes, cpus, ifm_probe_allowed(plan->machine->root, cpus, IFM_CPUS_MAX), error));
    if (wishes->turbo_off)
        IFM_TRY(add(plan, &ifm_lock_turbo, "cpus", "", "off", error));
    return IFM_OK;
}

enum ifm_status ifm_lock_plan(const struct ifm_lock_machine *machine, const struct ifm_lock_wishes *wishes,
                              struct ifm_arena *arena, struct ifm_lock_row **rows, size_t *n, struct ifm_error *error)
{
    struct plan plan = {.machine = machine, .arena = arena};
    unsigned *cpus = ifm_zeros(IFM_CPUS_MAX, sizeof *cpus);
    enum ifm_status status = make_plan(&plan, wishes, cpus, error);
    free(cpus);
    *rows = plan.rows;
    *n = plan.n;
    return status;
}
