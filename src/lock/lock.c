/* The transaction: write the state file, set, read back; and the same in reverse. */
#include "lock/lock.h"
#include "base/clock.h"
#include "lock/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_EVERY_MS = 20, CLOCK_STEP_MHZ = 15 };
#define AS_ROOT "then run `inferometer unlock` as root"

struct ifm_lock {
    struct ifm_arena *arena; /* of all of it */
    const struct ifm_lock_options *options;
    struct ifm_lock_machine machine;
    struct ifm_lock_row *rows;
    size_t n, filed; /* rows that the state file names */
    int claim;
};

enum ifm_status ifm_lock_look(const struct ifm_lock_machine *machine, struct ifm_lock_row *row, unsigned settle_ms,
                              struct ifm_lock_sight *sight, struct ifm_error *error)
{
    for (unsigned waited = 0;; waited += LOOK_EVERY_MS) {
        *sight = (struct ifm_lock_sight){0};
        IFM_TRY(row->kind->read(machine, row, row->seen, error));
        if (!row->kind->is_clock) {
            sight->is_before = strcmp(row->seen, row->before) == 0;
            sight->is_wanted = strcmp(row->seen, row->wanted) == 0;
            return IFM_OK;
        }
        long seen = strtol(row->seen, NULL, 10), wanted = strtol(row->wanted, NULL, 10);
        sight->is_wanted = labs(seen - wanted) <= CLOCK_STEP_MHZ;
        sight->unsure = !sight->is_wanted && seen < wanted;
        if (sight->is_wanted || waited >= settle_ms)
            return IFM_OK;
        ifm_clock_sleep((struct ifm_duration){LOOK_EVERY_MS * INT64_C(1000000)});
    }
}

static void at(const struct ifm_lock *lock, const char *point, const struct ifm_lock_row *row)
{
    if (lock->options->at != NULL)
        lock->options->at(lock->options->context, point, row);
}

static void say(struct ifm_lock_row *row, enum ifm_lock_outcome outcome, const char *reason)
{
    row->outcome = outcome;
    snprintf(row->reason, sizeof row->reason, "%s", reason);
}

static struct ifm_lock *create(const struct ifm_lock_options *options)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_lock *lock = IFM_ARENA_NEW(arena, struct ifm_lock);
    lock->arena = arena;
    lock->options = options;
    lock->claim = -1;
    lock->machine.root = options->root;
    lock->machine.settle_ms = options->settle_ms;
    lock->machine.nvml_reason = lock->machine.nvml_remedy = "";
    return lock;
}

enum ifm_status ifm_lock_open(const struct ifm_lock_options *options, const struct ifm_lock_wishes *wishes,
                              struct ifm_lock **out, struct ifm_error *error)
{
    struct ifm_lock *lock = create(options);
    *out = NULL;
    if (wishes->gpu_clock_mhz > 0 || wishes->memory_clock_mhz > 0 || wishes->power_cap_w > 0 || wishes->persistence)
        ifm_lock_nvml_open(&lock->machine, options->nvml);
    enum ifm_status status = ifm_lock_plan(&lock->machine, wishes, lock->arena, &lock->rows, &lock->n, error);
    if (status != IFM_OK)
        ifm_lock_close(lock);
    else
        *out = lock;
    return status;
}

/* ---- putting back ---- */

/* Neither the old nor the wanted value stands. Of a clock there is no old value to lose. */
static enum ifm_status leave(struct ifm_lock_row *row, struct ifm_error *error)
{
    if (row->kind->is_clock) {
        say(row, IFM_LOCK_LEFT, "the clock is above the lock, which is no longer in force: left alone");
        return IFM_OK;
    }
    row->outcome = IFM_LOCK_LEFT;
    return ifm_fail(error, IFM_INTERNAL, row->target, "", "it reads %s, and was %s before the lock at %s", row->seen,
                    row->before, row->wanted);
}

/* One knob. `mine`: this process has just set it, so a value that is neither the old nor the wanted one is the driver's
 * answer. */
static enum ifm_status put_back(struct ifm_lock *lock, struct ifm_lock_row *row, bool mine, struct ifm_error *error)
{
    struct ifm_lock_sight sight;
    say(row, IFM_LOCK_UNCHANGED, "");
    if (!row->touched)
        return IFM_OK;
    at(lock, "back", row);
    row->outcome = IFM_LOCK_FAILED; /* until the old value has been read */
    IFM_TRY(ifm_lock_look(&lock->machine, row, 0, &sight, error));
    if (!row->kind->is_value(row->before))
        return ifm_fail(error, IFM_INVALID, row->target, "find out what it was",
                        "it reads %s, and the state file has no value for it but \"%.40s\"", row->seen, row->before);
    if (sight.is_before) {
        say(row, IFM_LOCK_UNCHANGED, "");
        return IFM_OK;
    }
    if (!sight.is_wanted && !sight.unsure && !mine)
        return leave(row, error);
    IFM_TRY(row->kind->write(&lock->machine, row, row->before, error));
    if (row->kind->is_clock) { /* an unlocked clock may keep its value */
        say(row, IFM_LOCK_RESTORED, "the driver took the reset; NVML cannot read back that nothing is locked");
        return row->kind->read(&lock->machine, row, row->seen, error);
    }
    IFM_TRY(ifm_lock_look(&lock->machine, row, 0, &sight, error));
    if (!sight.is_before)
        return ifm_fail(error, IFM_INTERNAL, row->target, "", "it was set back to %s and reads %s", row->before,
                        row->seen);
    say(row, IFM_LOCK_RESTORED, "");
    return IFM_OK;
}

/* Is it not known to be as it was? Then only the state file says how it was. */
static bool is_owed(const struct ifm_lock_row *row)
{
    return row->outcome == IFM_LOCK_FAILED || (row->outcome == IFM_LOCK_LEFT && !row->kind->is_clock);
}

/* A copy with only the rows that are owed: the new contents of the file. */
static enum ifm_status keep_failed(struct ifm_lock *lock, struct ifm_error *error)
{
    struct ifm_lock_row *left = IFM_ARENA_ARRAY(lock->arena, struct ifm_lock_row, lock->n);
    size_t n = 0;
    for (size_t i = 0; i < lock->filed; i++)
        if (is_owed(&lock->rows[i]))
            left[n++] = lock->rows[i];
    return ifm_lock_file_write(lock->options->state, lock->options->root, left, n, error);
}

/* In reverse order, each independently: a failure does not keep the others locked. */
static enum ifm_status put_all_back(struct ifm_lock *lock, size_t set, const struct ifm_lock_row *mine,
                                    struct ifm_error *error)
{
    struct ifm_error first = {0}, ignored = {0};
    for (size_t i = set; i-- > 0;) {
        struct ifm_lock_row *row = &lock->rows[i];
        struct ifm_error here = {0};
        if (put_back(lock, row, row == mine, &here) == IFM_OK)
            continue;
        snprintf(row->reason, sizeof row->reason, "%.250s", here.message);
        if (first.code == IFM_OK) {
            first = here;
            ifm_fail(&first, here.code, here.where, here.hint, "%s of %s is not put back: %.300s", row->kind->knob,
                     row->target, here.message);
        }
    }
    if (first.code == IFM_OK) {
        at(lock, "remove", NULL);
        lock->filed = 0;
        return ifm_lock_file_remove(lock->options->state, error);
    }
    /* If the file cannot be rewritten it still names all of them; unlocking again recognises those that are back. */
    if (keep_failed(lock, &ignored) != IFM_OK)
        ifm_fail(&ignored, IFM_INTERNAL, "", "", "ignored");
    *error = first;
    ifm_error_hint(error,
                   "%.200s, put it back by hand (docs/locks.md), " AS_ROOT "; to keep what stands, remove %.150s",
                   first.hint[0] == '\0' ? "look at what holds it" : first.hint, lock->options->state);
    return first.code;
}

enum ifm_status ifm_lock_give(struct ifm_lock *lock, struct ifm_error *error)
{
    return lock->filed == 0 ? IFM_OK : put_all_back(lock, lock->filed, NULL, error);
}

/* ---- taking ---- */

static enum ifm_status set_one(struct ifm_lock *lock, struct ifm_lock_row *row, struct ifm_error *error)
{
    struct ifm_lock_sight sight;
    if (lock->options->stop != NULL && lock->options->stop(lock->options->context))
        return ifm_fail(error, IFM_INTERRUPTED, row->target, "", "interrupted before %s", row->kind->knob);
    at(lock, "set", row);
    if (strcmp(row->before, row->wanted) != 0) {
        enum ifm_status status = row->kind->write(&lock->machine, row, row->wanted, error);
        /* a clock that the driver refused was not locked by us */
        row->touched = status == IFM_OK || !row->kind->is_clock;
        IFM_TRY(status);
    }
    at(lock, "done", row);
    IFM_TRY(ifm_lock_look(&lock->machine, row, lock->machine.settle_ms, &sight, error));
    if (sight.is_wanted)
        say(row, IFM_LOCK_LOCKED, "");
    else if (sight.unsure) {
        row->outcome = IFM_LOCK_UNCONFIRMED;
        ifm_lock_why_slow(&lock->machine, row, row->reason);
    } else
        return ifm_fail(error, IFM_MISSING, row->target,
                        "choose a value that it takes; `nvidia-smi -q` and cpufreq's files show what is set",
                        "the lock was not applied: %s was set to %s and reads %s", row->kind->knob, row->wanted,
                        row->seen);
    return IFM_OK;
}

/* Rows that the next write of the state file adds. CPU rows are written together: their state can be read, so a crash
 * between them is recognised. GPU rows are written one at a time. */
static size_t next_batch(const struct ifm_lock *lock, size_t from)
{
    size_t to = from + 1;
    while (!lock->rows[from].kind->on_gpu && to < lock->n && !lock->rows[to].kind->on_gpu)
        to++;
    return to;
}

static enum ifm_status set_all(struct ifm_lock *lock, size_t *set, struct ifm_error *error)
{
    struct ifm_lock_sight sight;
    while (*set < lock->n) {
        size_t to = next_batch(lock, *set);
        at(lock, "file", &lock->rows[*set]);
        IFM_TRY(ifm_lock_file_write(lock->options->state, lock->options->root, lock->rows, to, error));
        lock->filed = to;
        at(lock, "filed", &lock->rows[*set]);
        while (*set < to)
            IFM_TRY(set_one(lock, &lock->rows[(*set)++], error));
    }
    for (size_t i = 0; i < lock->n; i++) { /* one knob may have moved another */
        IFM_TRY(ifm_lock_look(&lock->machine, &lock->rows[i], 0, &sight, error));
        if (!sight.is_wanted && !sight.unsure)
            return ifm_fail(error, IFM_MISSING, lock->rows[i].target, "lock fewer knobs, or end what changes it",
                            "%s was locked at %s and reads %s after the others were set", lock->rows[i].kind->knob,
                            lock->rows[i].wanted, lock->rows[i].seen);
    }
    return IFM_OK;
}

/* The first failure, and the outcome of putting the others back. */
static enum ifm_status undo(struct ifm_lock *lock, size_t set, const struct ifm_error *cause, struct ifm_error *error)
{
    struct ifm_error second = {0};
    const struct ifm_lock_row *mine = set == 0 ? NULL : &lock->rows[set - 1];
    bool filed = lock->filed > 0;
    enum ifm_status undone = filed ? put_all_back(lock, set, mine, &second) : IFM_OK;
    if (undone == IFM_OK)
        ifm_fail(error, cause->code, cause->where, cause->hint, "%.420s; everything is as it was before",
                 cause->message);
    else
        ifm_fail(error, cause->code, cause->where, second.hint, "%.250s; and %.200s", cause->message, second.message);
    return cause->code;
}

enum ifm_status ifm_lock_take(struct ifm_lock *lock, struct ifm_error *error)
{
    struct ifm_lock_file file;
    struct ifm_error cause = {0};
    size_t set = 0;
    if (lock->claim < 0)
        IFM_TRY(ifm_lock_claim(lock->options->state, &lock->claim, error));
    IFM_TRY(ifm_lock_file_read(lock->options->state, lock->options->root, lock->arena, &file, error));
    if (file.present)
        return ifm_fail(error, IFM_USAGE, lock->options->state, "run `inferometer unlock` first",
                        "process %ld has locked %zu knob%s already; nothing was changed", file.pid, file.n,
                        file.n == 1 ? "" : "s");
    enum ifm_status status = set_all(lock, &set, &cause);
    return status == IFM_OK ? IFM_OK : undo(lock, set, &cause, error);
}

/* ---- after a crash ---- */

static enum ifm_status recover(struct ifm_lock *lock, bool other_boot, struct ifm_error *error)
{
    struct ifm_lock_sight sight;
    if (!other_boot)
        return put_all_back(lock, lock->n, NULL, error);
    for (size_t i = 0; i < lock->n; i++) {
        struct ifm_error ignored;
        struct ifm_lock_row *row = &lock->rows[i];
        bool read = ifm_lock_look(&lock->machine, row, 0, &sight, &ignored) == IFM_OK;
        say(row, IFM_LOCK_GONE,
            read && !row->kind->is_clock && !sight.is_before
                ? "the machine was started again since; the value is of its start, and left alone"
                : "the machine was started again since, which reset it");
    }
    lock->filed = 0;
    return ifm_lock_file_remove(lock->options->state, error);
}

enum ifm_status ifm_lock_recover(const struct ifm_lock_options *options, struct ifm_lock **out, struct ifm_error *error)
{
    struct ifm_lock_file file;
    struct ifm_lock *lock = *out = create(options);
    bool gpu = false;
    if (access(options->state, F_OK) == 0) /* nothing was locked: no claim and no folder is needed */
        IFM_TRY(ifm_lock_claim(options->state, &lock->claim, error));
    IFM_TRY(ifm_lock_file_read(options->state, options->root, lock->arena, &file, error));
    for (size_t i = 0; i < file.n; i++) {
        gpu |= file.rows[i].kind->on_gpu;
        file.rows[i].touched = true;
    }
    if (gpu)
        ifm_lock_nvml_open(&lock->machine, options->nvml);
    lock->rows = file.rows;
    lock->n = lock->filed = file.n;
    return file.present ? recover(lock, file.other_boot, error) : IFM_OK;
}

const struct ifm_lock_row *ifm_lock_rows(const struct ifm_lock *lock, size_t *n)
{
    *n = lock == NULL ? 0 : lock->n;
    return lock == NULL ? NULL : lock->rows;
}

const char *ifm_lock_knob(const struct ifm_lock_row *row)
{
    return row->kind->knob;
}

void ifm_lock_close(struct ifm_lock *lock)
{
    if (lock == NULL)
        return;
    if (lock->claim >= 0)
        close(lock->claim);
    ifm_arena_destroy(lock->arena);
}
