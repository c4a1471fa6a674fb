/* What a session measures: options, arms and what is known of them, through the ordinary parameter tables. */
#include "session/internal.h"

#include "base/hash.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A session is one cell of its own workload on one thread, without probes. */
static const char base[] = "workload: session\nceilings: none\ndevice:\n  threads: 1\n";

/* Pairs when the first '=' stands before the first ':', a YAML study otherwise. */
static bool is_yaml(const char *options)
{
    size_t colon = strcspn(options, ":"), equals = strcspn(options, "=");
    return options[colon] == ':' && colon < equals;
}

/* "path=value" pairs, one a line or between semicolons. */
static enum ifm_status apply_pairs(struct ifm_config *config, const char *options, struct ifm_arena *arena,
                                   struct ifm_error *error)
{
    static const char separators[] = ";\n";
    const char *at = options;
    while (*at != '\0') {
        at += strspn(at, ";\n\r\t ");
        size_t length = strcspn(at, separators), end = length;
        while (end > 0 && strchr(" \t\r", at[end - 1]) != NULL)
            end--;
        if (end > 0) {
            const char *pair = ifm_arena_printf(arena, "%.*s", (int)end, at);
            enum ifm_status status = ifm_config_override(config, pair, error);
            if (status != IFM_OK) { /* name them as options of the session, not of a command line */
                snprintf(error->where, sizeof error->where, "options: %.200s", pair);
                if (strchr(pair, '=') == NULL)
                    ifm_error_hint(error, "write path=value, for example measure.mde=0.02, or a YAML study");
                return status;
            }
        }
        at += length;
    }
    return IFM_OK;
}

/* The arms as a configuration file would list them, so that the lock file holds them. */
static enum ifm_status apply_arms(const struct inferometer_session *session, struct ifm_config *config,
                                  struct ifm_error *error)
{
    struct ifm_text text = {0};
    ifm_text_add(&text, "arms:\n");
    for (unsigned i = 0; i < session->n_arms; i++)
        ifm_text_printf(&text, "  - name: \"%s\"\n", session->arms[i].name);
    enum ifm_status status = ifm_config_yaml(config, text.data, text.size, "inferometer_arm", error);
    if (status != IFM_OK)
        snprintf(error->where, sizeof error->where, "inferometer_arm");
    ifm_text_free(&text);
    return status;
}

static enum ifm_status not_here(const char *path, const char *why, const char *hint, struct ifm_error *error)
{
    return ifm_fail(error, IFM_USAGE, path, hint, "a session cannot take this setting: %s", why);
}

/* Refuse the settings that a session does not support. */
static enum ifm_status check_study(const struct ifm_study *study, struct ifm_error *error)
{
    const struct ifm_measure *measure = &study->measure;
    for (size_t i = 0; i < study->n_axes; i++)
        if (study->axes[i].n > 1)
            return not_here(study->axes[i].path, "a session is one cell, and a list makes several", "give one value",
                            error);
    if (study->n_workloads != 1 || strcmp(study->workloads[0], "session") != 0)
        return not_here("workload", "the workload of a session is the code between begin and end", "leave it out",
                        error);
    if (study->n_ceilings != 0)
        return not_here("ceilings", "a session measures no ceilings", "leave it out", error);
    for (size_t i = 0; i < study->n_axes; i++)
        if (strcmp(study->axes[i].path, "device.threads") == 0 && strcmp(study->axes[i].texts[0], "1") != 0)
            return not_here("device.threads", "your code manages its own threads",
                            "leave it out; session.pin=true pins the calling thread", error);
    if (measure->inner > 1)
        return not_here("measure.inner", "a window is one sample", "repeat the work inside the window", error);
    if (measure->cache != IFM_CACHE_HOT)
        return not_here("measure.cache", "a session does not empty the caches between windows",
                        "empty them yourself between end and begin", error);
    if (measure->isolation != IFM_ISOLATION_SHARED)
        return not_here("measure.isolation", "your arms live in one process", "leave it out", error);
    return IFM_OK;
}

/* Windows use the host's clock, which does not show when a GPU has finished. */
static enum ifm_status check_device(const struct ifm_config *config, struct ifm_error *error)
{
    if (ifm_config_device(config)->kind != IFM_DEVICE_CUDA)
        return IFM_OK;
    return not_here("device.kind", "windows are timed with the host's clock",
                    "leave it out, and wait for the GPU inside the window", error);
}

static enum ifm_status apply(struct inferometer_session *session, struct ifm_config *config, struct ifm_error *error)
{
    const char *options = session->options;
    IFM_TRY(ifm_config_yaml(config, base, strlen(base), "session", error));
    if (is_yaml(options))
        IFM_TRY(ifm_config_yaml(config, options, strlen(options), "options", error));
    else
        IFM_TRY(apply_pairs(config, options, session->arena, error));
    if (session->n_arms > 0)
        IFM_TRY(apply_arms(session, config, error));
    IFM_TRY(ifm_config_resolve(config, error));
    if (session->n_arms == 0 && ifm_config_study(config)->n_arms > 0)
        return ifm_fail(error, IFM_USAGE, "options", "add each with inferometer_arm",
                        "arms of a session cannot be given as options");
    enum ifm_status status = check_study(ifm_config_study(config), error);
    if (status == IFM_OK)
        status = check_device(config, error);
    if (status != IFM_OK)
        ifm_config_locate(config, error);
    return status;
}

enum ifm_status ifm_session_config(struct inferometer_session *session, struct ifm_config **out,
                                   struct ifm_error *error)
{
    *out = ifm_story_config();
    enum ifm_status status = apply(session, *out, error);
    if (status == IFM_OK)
        return IFM_OK;
    ifm_config_destroy(*out);
    *out = NULL;
    return status;
}

/* Refuse names of other arms and names that the lock file cannot hold; the configuration checks the rest. */
static enum ifm_status check_name(const struct inferometer_session *session, const char *name, struct ifm_error *error)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.";
    char shown[72];
    if (name == NULL || name[0] == '\0' || name[strspn(name, letters)] != '\0')
        return ifm_fail(error, IFM_USAGE, "inferometer_arm", "use letters, digits and _ - + . ; at most 48",
                        "'%s' cannot be the name of an arm", name == NULL ? "NULL" : ifm_param_shown(name, shown));
    for (unsigned i = 0; i < session->n_arms; i++)
        if (strcmp(session->arms[i].name, name) == 0)
            return ifm_fail(error, IFM_USAGE, "inferometer_arm", "give each arm a name of its own",
                            "there is an arm named '%s' already", name);
    if (session->n_arms == IFM_MOST_ARMS)
        return ifm_fail(error, IFM_USAGE, "inferometer_arm", "compare fewer arms at once",
                        "a session holds at most %d arms", IFM_MOST_ARMS);
    return IFM_OK;
}

static int add_arm(struct inferometer_session *session, const char *name)
{
    int code = ifm_session_enter(session);
    if (code != INFEROMETER_OK)
        return code;
    if (session->state != IFM_SESSION_DEFINING)
        return ifm_session_misuse(session, "inferometer_arm", "the run has begun: its arms are fixed",
                                  "add every arm before the first inferometer_next");
    enum ifm_status status = check_name(session, name, &session->error);
    if (status != IFM_OK)
        return ifm_session_fail(session, status);
    struct ifm_config *config;
    session->arms[session->n_arms++] = (struct ifm_session_arm){.name = ifm_arena_strdup(session->arena, name)};
    status = ifm_session_config(session, &config, &session->error);
    if (status != IFM_OK) {
        session->n_arms--;
        return ifm_session_fail(session, status);
    }
    ifm_config_destroy(config);
    return (int)session->n_arms - 1;
}

int inferometer_arm(struct inferometer_session *session, const char *name)
{
    locale_t before = ifm_session_plain_locale();
    int index = add_arm(session, name);
    uselocale(before);
    return index;
}

/* The arm of a setter call; NULL when it may not be set now, and `*code` gives the reason. */
static struct ifm_session_arm *arm_of(struct inferometer_session *session, int arm, const char *call, bool late,
                                      int *code)
{
    *code = ifm_session_enter(session);
    if (*code != INFEROMETER_OK)
        return NULL;
    bool open = late ? session->state != IFM_SESSION_TIMING && session->state < IFM_SESSION_JUDGED
                     : session->state == IFM_SESSION_DEFINING;
    if (!open) {
        *code = ifm_session_misuse(
            session, call, late ? "this cannot be set now" : "the run has begun: its arms are fixed",
            late ? "set it outside a window and before inferometer_judge" : "set it before the first inferometer_next");
        return NULL;
    }
    if (arm >= 0 && (unsigned)arm < session->n_arms)
        return &session->arms[arm];
    *code = ifm_session_fail(session, ifm_fail(&session->error, IFM_USAGE, call, "use what inferometer_arm returned",
                                               "there is no arm %d; the session has %u", arm, session->n_arms));
    return NULL;
}

int inferometer_ledger(struct inferometer_session *session, int arm, uint64_t flops, uint64_t bytes_read,
                       uint64_t bytes_written, uint64_t tokens_prompt)
{
    int code;
    struct ifm_session_arm *a = arm_of(session, arm, "inferometer_ledger", false, &code);
    if (a == NULL)
        return code;
    if ((flops | bytes_read | bytes_written | tokens_prompt) > INT64_MAX)
        return ifm_session_usage(session, "inferometer_ledger", "pass amounts of one window, not negative",
                                 "an amount is above 2^63");
    a->ledger = (struct ifm_ledger){
        .flops = flops, .bytes_read = bytes_read, .bytes_written = bytes_written, .tokens_prompt = tokens_prompt};
    return INFEROMETER_OK;
}

int inferometer_lossy(struct inferometer_session *session, int arm, double tolerance)
{
    int code;
    struct ifm_session_arm *a = arm_of(session, arm, "inferometer_lossy", false, &code);
    if (a == NULL)
        return code;
    if (!isfinite(tolerance) || tolerance <= 0)
        return ifm_session_usage(session, "inferometer_lossy", "give the largest relative error that counts as correct",
                                 "the tolerance must be a number above zero");
    a->lossy = true;
    a->tolerance = tolerance;
    return INFEROMETER_OK;
}

int inferometer_equal(struct inferometer_session *session, int arm, double bound)
{
    int code;
    struct ifm_session_arm *a = arm_of(session, arm, "inferometer_equal", false, &code);
    if (a == NULL)
        return code;
    if (arm == 0 || !isfinite(bound) || bound < 0)
        return ifm_session_usage(
            session, "inferometer_equal", "give an arm that is not the baseline and a bound of zero or more",
            "only an arm other than the baseline can be held equal, within a bound of zero or more");
    a->must_equal = true;
    a->equal_bound = bound;
    return INFEROMETER_OK;
}

int inferometer_error(struct inferometer_session *session, int arm, double rms_rel, double max_rel, uint64_t values)
{
    int code;
    struct ifm_session_arm *a = arm_of(session, arm, "inferometer_error", true, &code);
    if (a == NULL)
        return code;
    bool finite = isfinite(rms_rel) && isfinite(max_rel);
    if (values == 0 || values > INT64_MAX || (finite && (rms_rel < 0 || max_rel < 0)))
        return ifm_session_usage(session, "inferometer_error", "compare at least one value; errors are zero or more",
                                 "these values are not a valid error");
    a->error_known = a->check.done = true;
    a->check.finite = finite;
    a->check.values = values;
    a->check.error_rms_rel = finite ? rms_rel : 0;
    a->check.error_max_rel = finite ? max_rel : 0;
    return INFEROMETER_OK;
}

int inferometer_output(struct inferometer_session *session, int arm, const void *data, size_t bytes)
{
    int code;
    struct ifm_session_arm *a = arm_of(session, arm, "inferometer_output", true, &code);
    if (a == NULL)
        return code;
    if (data == NULL || bytes == 0)
        return ifm_session_usage(session, "inferometer_output", "pass the bytes of the arm's output",
                                 "there is no output");
    a->output_known = true;
    a->check.output_xxh3 = ifm_xxh3(data, bytes);
    return INFEROMETER_OK;
}
