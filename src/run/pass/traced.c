/* The pass of traces: processes that record, and what they tell. */
#include "run/pass/traced.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "model/value.h"
#include "run/cell/arm.h"
#include "run/remote/remote.h"
#include "sample/activity.h"
#include <stdio.h>
#include <string.h>

bool ifm_traced_wants(const struct ifm_pass_run *pass)
{
    for (size_t i = 0; i < pass->cell->n_instruments; i++)
        if (pass->cell->instruments[i].instrument->own_process)
            return true;
    return false;
}

/* Steps of the length that samples have, so that no graph of them is made inside a slot. */
static enum ifm_status warm(struct ifm_cell_run *cell, size_t arm, struct ifm_error *error)
{
    const struct ifm_roll roll = {cell->arms[arm].inner, 1, 1, 0, false};
    return ifm_arm_roll(cell, arm, &roll, NULL, error);
}

enum ifm_status ifm_traced_open(struct ifm_pass_run *pass, struct ifm_error *error)
{
    struct ifm_cell_run *cell = pass->cell;
    for (size_t i = 0; i < cell->plan->n_arms; i++) {
        struct ifm_check check = {0};
        if (pass->without[i])
            continue;
        IFM_TRY(ifm_remote_open_recorded(cell, (unsigned)i, error));
        IFM_TRY(ifm_arm_check(cell, i, true, &check, error));
        if (check.done)
            snprintf(pass->outputs[i], sizeof pass->outputs[i], "%016llx", (unsigned long long)check.output_xxh3);
        IFM_TRY(warm(cell, i, error));
    }
    return IFM_OK;
}

static enum ifm_status tell_arm(struct ifm_pass_run *pass, size_t index, struct ifm_text *rows, struct ifm_error *error)
{
    struct ifm_cell_run *cell = pass->cell;
    struct ifm_remote_answer answer;
    const char *arm = cell->plan->arms[index].name;
    const bool apart = cell->plan->arms[index].gaps || cell->plan->measure.cache == IFM_CACHE_COLD;
    IFM_TRY(ifm_remote_ask(cell, (unsigned)index, (struct ifm_remote_request){.op = IFM_REMOTE_TELL}, &answer, error));
    const struct ifm_remote_told *told = &answer.told;
    const char *at = ifm_remote_text(cell), *end = at + told->bytes;
    while (at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        if (line == NULL)
            break;
        ifm_text_printf(rows, "%zu,%.*s\n", index, (int)(line - at), at);
        at = line + 1;
    }
    return IFM_FACT(cell->session, error, traced, told->read == told->slots, .cell = cell->plan->name, .arm = arm,
                    .source = told->source, .slots = (int64_t)told->slots, .read = (int64_t)told->read,
                    .reason = told->read == told->slots ? NULL : told->why, .rows = (int64_t)told->rows,
                    .left_out = (int64_t)told->left_out,
                    .outputs = pass->outputs[index][0] == '\0' ? NULL : pass->outputs[index],
                    .counted = apart ? "samples" : NULL);
}

enum ifm_status ifm_traced_tell(struct ifm_pass_run *pass, struct ifm_error *error)
{
    struct ifm_cell_run *cell = pass->cell;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_text rows = {0};
    enum ifm_status status = IFM_OK;
    size_t told = 0; /* arms */
    ifm_text_add(&rows, IFM_ACTIVITY_HEADER "\n");
    for (size_t i = 0; i < cell->plan->n_arms && status == IFM_OK; i++)
        if (cell->arms[i].remote != NULL) {
            status = tell_arm(pass, i, &rows, error);
            told++;
        }
    if (status == IFM_OK && told > 0 && pass->shared != NULL)
        status = ifm_file_write_atomic(ifm_activity_path(pass->shared->dir, cell->plan->index, arena), rows.data,
                                       rows.size, error);
    if (status == IFM_OK && told > 0)
        status = IFM_FACT(cell->session, error, trace_file, true, .cell = cell->plan->name,
                          .sha256 = ifm_sha256_bytes(rows.data, rows.size).hex);
    ifm_text_free(&rows);
    ifm_arena_destroy(arena);
    return status;
}

enum ifm_status ifm_traced_failed(struct ifm_pass_run *pass, enum ifm_status status, struct ifm_error *error)
{
    struct ifm_session *session = pass->cell->session;
    if (status == IFM_OK || status == IFM_INTERRUPTED || session->unwritten || pass->unrecorded ||
        !ifm_traced_wants(pass))
        return status;
    const struct ifm_error why = *error;
    session->arm_at_fault = false;
    IFM_TRY(IFM_FACT(session, error, traced, false, .cell = pass->cell->plan->name, .arm = session->at_work,
                     .source = "", .slots = 0, .read = 0, .reason = why.message, .rows = 0, .left_out = 0));
    return IFM_FACT(session, error, pass_done, false, .cell = pass->cell->plan->name,
                    .pass = ifm_pass_name(pass->cell->pass), .reason = "failed", .blocks = pass->measured,
                    .elapsed_s = pass->elapsed_s);
}

void ifm_traced_close(struct ifm_pass_run *pass)
{
    struct ifm_cell_run *cell = pass->cell;
    if (!ifm_traced_wants(pass))
        return;
    for (size_t i = 0; i < cell->plan->n_arms; i++)
        ifm_remote_close(&cell->arms[i]);
    ifm_remote_free(cell->shared);
    cell->shared = NULL;
}
