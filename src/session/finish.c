/* The end of a session: the facts that complete its record, the results, and what remains when it ends early. */
#include "session/internal.h"

#include "base/file.h"
#include "base/text.h"
#include "document/trust.h"
#include "model/plan_json.h"
#include <string.h>

static void close_device(struct inferometer_session *session)
{
    if (session->cell.plan != NULL)
        ifm_cell_close(&session->cell);
    if (session->device != NULL)
        session->device->ops->close(session->device);
    session->device = NULL;
}

enum ifm_status ifm_session_settle(struct inferometer_session *session, struct ifm_error *error)
{
    enum ifm_status status = ifm_fact_locks(&session->facts, "after", false, error);
    close_device(session);
    IFM_TRY(status);
    return ifm_fact_environment(&session->facts, "after", session->is_fake, error);
}

/* The arm's output as far as its caller has described it. An arm that must equal the baseline bit for bit is unchecked
 * until its bytes are known. */
static enum ifm_status log_check(struct inferometer_session *session, unsigned arm, struct ifm_error *error)
{
    const struct ifm_session_arm *said = &session->arms[arm];
    struct ifm_check check = said->check;
    bool needs_bytes = said->must_equal && said->equal_bound == 0;
    for (unsigned i = 1; i < session->n_arms && arm == 0; i++)
        needs_bytes = needs_bytes || (session->arms[i].must_equal && session->arms[i].equal_bound == 0);
    check.done = said->error_known && (said->output_known || !needs_bytes);
    return ifm_fact_check(&session->facts, session->plan->cells[0].name, said->name, "after", &check, error);
}

/* The facts that make the record complete; the journal is closed behind them. */
static enum ifm_status complete(struct inferometer_session *session, struct ifm_error *error)
{
    struct ifm_session *facts = &session->facts;
    const struct ifm_plan *plan = session->plan;
    for (unsigned i = 0; i < session->n_arms; i++)
        IFM_TRY(log_check(session, i, error));
    IFM_TRY(IFM_FACT(facts, error, cell_done, true, .cell = plan->cells[0].name));
    IFM_TRY(IFM_FACT(facts, error, run_done, true, .config_hash = plan->config_hash,
                     .plan_sha256 = ifm_plan_sha256(session->dir, session->arena)));
    ifm_journal_close(facts->journal);
    facts->journal = NULL;
    return IFM_OK;
}

/* Record in the folder that the session did not finish; a failure to write this is ignored. */
static void interrupt(struct inferometer_session *session)
{
    struct ifm_error second;
    bool broken = session->state == IFM_SESSION_BROKEN;
    const char *reason = broken ? session->error.message : "the session was closed before its stop rule ended it";
    const char *where = broken ? ifm_path_base(session->error.where) : "inferometer_close";
    if (!session->plan_written && ifm_session_write_plan(session, &second) != IFM_OK)
        ifm_fail(&second, IFM_INTERNAL, "", "", "plan.json could not be written");
    if (IFM_FACT(&session->facts, &second, interrupted, false, .reason = reason, .where = where) != IFM_OK)
        ifm_fail(&second, IFM_INTERNAL, "", "", "run.log could not be written");
}

int ifm_session_end(struct inferometer_session *session)
{
    int code = INFEROMETER_OK;
    if (session->state == IFM_SESSION_ENDED) {
        enum ifm_status status = complete(session, &session->error);
        if (status != IFM_OK)
            code = ifm_session_fail(session, status);
    } else if (session->facts.journal != NULL) {
        interrupt(session);
    }
    close_device(session);
    ifm_warm_up_free(&session->warm);
    ifm_stop_free(&session->pass.stop);
    ifm_recorder_close(session->pass.recorder);
    ifm_journal_close(session->facts.journal);
    ifm_folder_close(&session->folder);
    return code;
}

static const struct ifm_value *find(const struct inferometer_session *session, int arm, enum ifm_metric_id metric)
{
    const char *name = arm < 0 ? "" : session->arms[arm].name;
    const struct ifm_number *number =
        ifm_derived_find(session->folder.derived, session->plan->cells[0].name, name, metric);
    return number == NULL ? NULL : &number->value;
}

/* As the footnote of the terminal's table; "" where the comparison has a word, or no number. */
static const char *why_undecided(const struct inferometer_session *session, int arm)
{
    const struct ifm_cell *cell = &session->plan->cells[0];
    const struct ifm_undecided of = {session->folder.derived, session->folder.verdict,
                                     session->folder.publication.events, cell, session->arms[arm].name};
    return ifm_judge_undecided(&of, session->arena);
}

static void fill_trust(const struct inferometer_session *session, struct inferometer_result *out)
{
    const struct ifm_trust trust = ifm_trust_of(&session->folder.publication, session->arena);
    const char *gap = ifm_trust_gap(&trust), *rule = trust.rule;
    out->trust = ifm_trust_label(trust.word);
    out->trust_remedy = trust.remedy;
    out->trust_cause =
        ifm_arena_printf(session->arena, "%s%s%s%s%s%s%s%s", trust.place, gap, trust.cause, rule[0] == '\0' ? "" : " (",
                         rule, rule[0] == '\0' ? "" : ")", trust.also[0] == '\0' ? "" : "; also ", trust.also);
}

static void fill_change(const struct inferometer_session *session, struct inferometer_result *out)
{
    const struct ifm_value *change = session->n_arms > 1 ? find(session, 1, IFM_M_CHANGE_PERCENT) : NULL;
    const struct ifm_value *mde = session->n_arms > 1 ? find(session, 1, IFM_M_MDE_PERCENT) : NULL;
    const char *missing = session->n_arms > 1 ? "the arms were not compared" : "there is one arm";
    const char *undecided = session->n_arms > 1 ? why_undecided(session, 1) : "";
    out->has_change = change != NULL && change->state == IFM_STATE_OK && change->has_interval;
    if (out->has_change) {
        out->word = change->text;
        out->change_percent = change->number;
        out->change_low = change->low;
        out->change_high = change->high;
    } else {
        out->reason = change != NULL && change->reason[0] != '\0' ? change->reason : missing;
    }
    if (undecided[0] != '\0')
        out->reason = undecided;
    out->has_mde = mde != NULL && mde->state == IFM_STATE_OK;
    out->mde_percent = out->has_mde ? mde->number : 0;
}

/* The numbers of the public header, which never change. */
static int outcome_of(const struct ifm_verdict *verdict)
{
    static const int outcomes[] = {
        [IFM_OUTCOME_PASS] = INFEROMETER_PASS,
        [IFM_OUTCOME_FAIL] = INFEROMETER_FAIL,
        [IFM_OUTCOME_INCONCLUSIVE] = INFEROMETER_INCONCLUSIVE,
        [IFM_OUTCOME_BLOCKED] = INFEROMETER_BLOCKED,
        [IFM_OUTCOME_NOT_GATED] = INFEROMETER_NOT_GATED,
    };
    return outcomes[verdict->outcome];
}

static void fill_result(struct inferometer_session *session, struct inferometer_result *result)
{
    const struct ifm_verdict *verdict = session->folder.verdict;
    struct inferometer_result out = {
        .size = result->size,
        .outcome = outcome_of(verdict),
        .exit_code = (int)verdict->exit_code,
        .word = "",
        .blocks = session->pass.measured,
        .reason = verdict->n_reasons > 0 ? verdict->reasons[0] : "",
        .dir = session->dir,
        .report = ifm_path_join(session->arena, session->dir, "report.html"),
    };
    fill_change(session, &out);
    fill_trust(session, &out);
    memcpy(result, &out, result->size < sizeof out ? result->size : sizeof out);
}

/* The struct of an older or newer caller: its first member gives its size. */
static enum ifm_status check_size(size_t size, size_t least, const char *call, struct ifm_error *error)
{
    if (size >= least)
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, call, "set its member size to sizeof of the struct before the call",
                    "the struct's size is %zu bytes; this version needs %zu", size, least);
}

static int judge(struct inferometer_session *session, struct inferometer_result *result)
{
    int code = ifm_session_enter(session);
    if (code != INFEROMETER_OK)
        return code;
    if (session->state != IFM_SESSION_ENDED && session->state != IFM_SESSION_JUDGED)
        return ifm_session_misuse(session, "inferometer_judge", "the run has not ended yet",
                                  "continue until inferometer_next returns INFEROMETER_END");
    enum ifm_status status = IFM_OK;
    if (result != NULL)
        status =
            check_size(result->size, offsetof(struct inferometer_result, trust), "inferometer_judge", &session->error);
    if (status != IFM_OK)
        return ifm_session_fail(session, status);
    if (session->state == IFM_SESSION_ENDED) {
        status = complete(session, &session->error);
        if (status == IFM_OK)
            status = ifm_folder_open(session->dir, &session->folder, &session->error);
        if (status == IFM_OK)
            status = ifm_publish_files(&session->folder.publication, &session->error);
        if (status != IFM_OK)
            return ifm_session_break(session, status);
        session->state = IFM_SESSION_JUDGED;
    }
    if (result != NULL)
        fill_result(session, result);
    return INFEROMETER_OK;
}

int inferometer_judge(struct inferometer_session *session, struct inferometer_result *result)
{
    locale_t before = ifm_session_plain_locale();
    int code = judge(session, result);
    uselocale(before);
    return code;
}

static enum ifm_status find_metric(const char *id, enum ifm_metric_id *metric, struct ifm_error *error)
{
    *metric = id == NULL ? IFM_M_NONE : ifm_metric_of(id);
    if (*metric != IFM_M_NONE)
        return IFM_OK;
    ifm_fail(error, IFM_USAGE, "inferometer_metric", "`inferometer explain` lists all metrics", "unknown metric '%s'",
             id == NULL ? "NULL" : id);
    return ifm_error_nearest(error, id == NULL ? NULL : ifm_metric_nearest(id));
}

static void fill_value(const struct ifm_value *value, const char *undecided, struct inferometer_value *result)
{
    bool ok = value->state == IFM_STATE_OK, bracketed = ok && value->has_interval;
    const struct inferometer_value out = {
        .size = result->size,
        .state = (int)value->state,
        .number = ok ? value->number : 0,
        .has_interval = bracketed,
        .low = bracketed ? value->low : 0,
        .high = bracketed ? value->high : 0,
        .level = bracketed ? value->level : 0,
        .n = value->n,
        .n_of = value->n_of,
        .unit = value->unit,
        .reason = undecided[0] != '\0' ? undecided : value->reason,
        .remedy = value->remedy,
        .text = value->text,
    };
    memcpy(result, &out, result->size < sizeof out ? result->size : sizeof out);
}

int inferometer_metric(struct inferometer_session *session, int arm, const char *metric,
                       struct inferometer_value *value)
{
    int code = ifm_session_enter(session);
    if (code != INFEROMETER_OK)
        return code;
    if (session->state != IFM_SESSION_JUDGED)
        return ifm_session_misuse(session, "inferometer_metric", "the run has not been judged: it has no numbers yet",
                                  "call inferometer_judge first");
    struct ifm_error *error = &session->error;
    enum ifm_metric_id id;
    enum ifm_status status = find_metric(metric, &id, error);
    if (status == IFM_OK)
        status = check_size(value == NULL ? 0 : value->size, sizeof *value, "inferometer_metric", error);
    if (status == IFM_OK && (arm < -1 || arm >= (int)session->n_arms))
        status = ifm_fail(error, IFM_USAGE, "inferometer_metric",
                          "use what inferometer_arm returned, or -1 for the whole cell", "there is no arm %d", arm);
    if (status != IFM_OK)
        return ifm_session_fail(session, status);
    static const struct ifm_value absent = {.state = IFM_STATE_ABSENT,
                                            .n_of = "",
                                            .unit = "",
                                            .reason = "this metric is not derived for this arm",
                                            .remedy = "`inferometer explain` tells which arms a metric is for",
                                            .text = ""};
    const struct ifm_value *found = find(session, arm, id);
    const bool compares = arm > 0 && (id == IFM_M_CHANGE_PERCENT || id == IFM_M_SPEEDUP);
    fill_value(found == NULL ? &absent : found, compares ? why_undecided(session, arm) : "", value);
    return INFEROMETER_OK;
}
