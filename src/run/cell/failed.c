/* Leaving out arms that a device failed under. */
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

static bool is_about(const json_t *event, const char *stage, const char *cell)
{
    const char *its_stage = json_string_value(json_object_get(event, "stage"));
    const char *its_cell = json_string_value(json_object_get(json_object_get(event, "meta"), "cell"));
    return its_stage != NULL && its_cell != NULL && strcmp(its_stage, stage) == 0 && strcmp(its_cell, cell) == 0;
}

static void leave_out(struct ifm_left *left, const char *name)
{
    for (size_t i = 0; name != NULL && i < left->whole->n_arms; i++)
        left->without[i] |= strcmp(left->whole->arms[i].name, name) == 0;
}

void ifm_left_begin(struct ifm_left *left, const struct ifm_cell *cell, const json_t *events)
{
    memset(left, 0, sizeof *left);
    left->whole = cell;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (is_about(event, "arm_failed", cell->name))
            leave_out(left, json_string_value(json_object_get(json_object_get(event, "meta"), "arm")));
    }
    take(left);
}

bool ifm_left_unfinished(const struct ifm_left *left, const json_t *events)
{
    bool unfinished = false;
    for (size_t i = 0; i < json_array_size(events); i++) {
        unfinished |= is_about(json_array_get(events, i), "arm_failed", left->whole->name);
        unfinished &= !is_about(json_array_get(events, i), "cell_restarted", left->whole->name);
    }
    return unfinished;
}

enum ifm_status ifm_left_drop(struct ifm_left *left, struct ifm_session *session, const struct ifm_error *why,
                              const char **arm, struct ifm_error *error)
{
    *arm = session->at_work;
    if (*arm == NULL)
        return IFM_OK;
    ifm_warn("cell %s: arm %s failed and is left out; the others start again in a fresh context: %s", left->whole->name,
             *arm, why->message);
    leave_out(left, *arm);
    take(left);
    return ifm_fact_new(session, "arm_failed", false,
                        json_pack("{s:s, s:s, s:s, s:s}", "cell", left->whole->name, "arm", *arm, "reason",
                                  why->message, "remedy", why->hint[0] != '\0' ? why->hint : REMEDY),
                        error);
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
    json_t *meta = json_pack("{s:s, s:i, s:b, s:i}", "cell", cell->name, "arms_left", (int)left->cell.n_arms,
                             "record_set_aside", (int)any, "times", (int)times);
    IFM_TRY(ifm_fact_new(session, "cell_restarted", true, meta, error));
    if (left->cell.n_arms == 0)
        return ifm_fail(error, IFM_INVALID, cell->name, REMEDY, "every arm failed on the device; the last: %s",
                        why->message);
    return IFM_OK;
}
