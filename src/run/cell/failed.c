/* Leaving out arms that failed. */
#include "run/cell/failed.h"

#include "base/log.h"
#include "sample/readings.h"
#include "sample/record.h"
#include <string.h>

static const char REMEDY[] = "mend what the reason names, then measure into a new folder; compute-sanitizer finds the "
                             "access at fault";

static void take(struct ifm_left *left)
{
    left->cell = *left->whole;
    left->cell.arms = left->arms;
    left->cell.n_arms = 0;
    for (size_t i = 0; i < left->whole->n_arms; i++) {
        if (left->without[i])
            continue;
        left->planned[left->cell.n_arms] = (unsigned)i;
        left->arms[left->cell.n_arms++] = left->whole->arms[i];
    }
}

static void leave_out(struct ifm_left *left, const char *name)
{
    for (size_t i = 0; i < left->whole->n_arms; i++)
        left->without[i] |= strcmp(left->whole->arms[i].name, name) == 0;
}

void ifm_left_begin(struct ifm_left *left, const struct ifm_cell *cell, const struct ifm_events *events)
{
    memset(left, 0, sizeof *left);
    left->whole = cell;
    IFM_EACH(event, events, arm_failed, cell->name, NULL)
        leave_out(left, event->arm);
    take(left);
}

bool ifm_left_unfinished(const struct ifm_left *left, const struct ifm_events *events)
{
    const char *cell = left->whole->name;
    const struct ifm_event *failed = ifm_events_last(events, IFM_STAGE_arm_failed, cell, NULL);
    const struct ifm_event *restarted = ifm_events_last(events, IFM_STAGE_cell_restarted, cell, NULL);
    return failed != NULL && (restarted == NULL || restarted->line < failed->line);
}

static const char *remedy_of(const struct ifm_error *why)
{
    return why->hint[0] != '\0' ? why->hint : REMEDY;
}

enum ifm_status ifm_left_drop(struct ifm_left *left, struct ifm_session *session, const struct ifm_error *why,
                              const char **arm, struct ifm_error *error)
{
    *arm = session->at_work;
    if (*arm == NULL)
        return IFM_OK;
    ifm_warn("cell %s: arm %s failed and is left out; the others start again: %s", left->whole->name, *arm,
             why->message);
    leave_out(left, *arm);
    take(left);
    return IFM_FACT(session, error, arm_failed, false, .cell = left->whole->name, .arm = *arm, .reason = why->message,
                    .remedy = remedy_of(why));
}

enum ifm_status ifm_left_restart(struct ifm_left *left, struct ifm_session *session, const char *dir,
                                 const struct ifm_error *why, struct ifm_error *error)
{
    const struct ifm_cell *cell = left->whole;
    unsigned times = (unsigned)(cell->n_arms - left->cell.n_arms);
    bool any = false, of_pass;
    for (size_t i = 0; i < cell->n_passes; i++) {
        IFM_TRY(ifm_recorder_set_aside(dir, cell->index, ifm_pass_name(&cell->passes[i]), times, &of_pass, error));
        any |= of_pass;
    }
    IFM_TRY(ifm_readings_set_aside(dir, cell->index, times, &of_pass, error));
    IFM_TRY(IFM_FACT(session, error, cell_restarted, true, .cell = cell->name, .arms_left = (int64_t)left->cell.n_arms,
                     .record_set_aside = any, .times = times));
    if (ifm_plan_count_in_blocks(&left->cell) == 0)
        return ifm_fail(error, IFM_INVALID, cell->name, remedy_of(why), "every arm failed; the last: %s", why->message);
    return IFM_OK;
}
