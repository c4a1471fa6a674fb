/* Files that arms read: recorded, and compared with what was recorded. */
#include "run/facts/inputs.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/private.h"
#include "host/host.h"
#include "workload/workload.h"
#include <string.h>

struct input {
    const char *setting, *token, *file, *path; /* file: base name; path: private */
    struct ifm_sha256 sha256;
};

struct inputs {
    struct input *items;
    size_t n, capacity;
};

static const char *setting_of(const struct ifm_arm *arm, const char *path)
{
    for (size_t i = 0; i < arm->n_settings; i++)
        if (strcmp(arm->settings[i].path, path) == 0)
            return arm->settings[i].text;
    return "";
}

static bool is_listed(const struct inputs *inputs, const char *token)
{
    for (size_t i = 0; i < inputs->n; i++)
        if (strcmp(inputs->items[i].token, token) == 0)
            return true;
    return false;
}

static enum ifm_status add(struct inputs *inputs, const char *setting, const char *token, struct ifm_arena *arena,
                           struct ifm_error *error)
{
    if (token[0] == '\0' || is_listed(inputs, token))
        return IFM_OK;
    const char *path = ifm_private_text(token);
    if (path == NULL)
        return ifm_fail(error, IFM_USAGE, setting, "put the run's private.json beside its lock file",
                        "the path of the file is not known here, only its hash");
    struct input input = {setting, token, ifm_arena_strdup(arena, ifm_path_base(path)), path, {{0}}};
    IFM_TRY(ifm_sha256_file(path, &input.sha256, error));
    IFM_ARENA_GROW(arena, inputs->items, inputs->n, inputs->capacity);
    inputs->items[inputs->n++] = input;
    return IFM_OK;
}

static enum ifm_status list_arm(const struct ifm_arm *arm, struct ifm_arena *arena, struct inputs *inputs,
                                struct ifm_error *error)
{
    const struct ifm_workload *workload = ifm_workload_find(arm->workload);
    if (workload == NULL || workload->input_files == NULL)
        return IFM_OK;
    for (const char *const *setting = workload->input_files; *setting != NULL; setting++)
        IFM_TRY(add(inputs, *setting, setting_of(arm, *setting), arena, error));
    return IFM_OK;
}

/* Each file once, in the order of cells and arms. */
static enum ifm_status list(const struct ifm_plan *plan, struct ifm_arena *arena, struct inputs *out,
                            struct ifm_error *error)
{
    *out = (struct inputs){0};
    if (strcmp(plan->device, "fake") == 0)
        return IFM_OK;
    for (size_t c = 0; c < plan->n_cells; c++)
        for (size_t a = 0; a < plan->cells[c].n_arms; a++)
            IFM_TRY(list_arm(&plan->cells[c].arms[a], arena, out, error));
    return IFM_OK;
}

/* What the folder of the file says; the folder itself goes nowhere. */
static json_t *licence_of(const struct input *input, struct ifm_arena *arena)
{
    size_t folder = (size_t)(ifm_path_base(input->path) - input->path);
    return ifm_host_licence(folder == 0 ? "." : ifm_arena_printf(arena, "%.*s", (int)folder, input->path));
}

enum ifm_status ifm_inputs_record(struct ifm_session *session, const struct ifm_plan *plan, struct ifm_error *error)
{
    if (session->journal == NULL) /* nothing is read for a fact that goes nowhere */
        return IFM_OK;
    struct ifm_arena *arena = ifm_arena_create();
    struct inputs inputs;
    enum ifm_status status = list(plan, arena, &inputs, error);
    for (size_t i = 0; i < inputs.n && status == IFM_OK; i++) {
        const struct input *input = &inputs.items[i];
        json_t *licence = licence_of(input, arena);
        status = IFM_FACT(session, error, input, true, .setting = input->setting, .token = input->token,
                          .file = input->file, .sha256 = input->sha256.hex, .licence = licence);
        json_decref(licence);
    }
    ifm_arena_destroy(arena);
    return status;
}

/* ---- what was recorded ---- */

/* The SHA-256 that the first event about the token has; NULL where there is none. */
static const char *recorded(const struct ifm_events *events, const char *token)
{
    IFM_EACH(event, events, input, NULL, NULL)
        if (strcmp(IFM_FACTS(event, input)->token, token) == 0)
            return IFM_FACTS(event, input)->sha256;
    return NULL;
}

enum ifm_status ifm_inputs_unchanged(const struct ifm_plan *plan, const struct ifm_events *events, const char *dir,
                                     struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct inputs inputs;
    enum ifm_status status = list(plan, arena, &inputs, error);
    for (size_t i = 0; i < inputs.n && status == IFM_OK; i++) {
        const struct input *input = &inputs.items[i];
        const char *was = recorded(events, input->token);
        if (was == NULL || strcmp(was, input->sha256.hex) == 0)
            continue;
        status = ifm_fail(error, IFM_USAGE, dir, "",
                          "%s of %s is not the file that was measured: it has SHA-256 %.12s, not %.12s", input->file,
                          input->setting, input->sha256.hex, was);
        ifm_error_hint(error, "put the old file back, or measure this one: inferometer run -c %s/config.lock.json",
                       dir);
    }
    ifm_arena_destroy(arena);
    return status;
}

enum ifm_status ifm_inputs_agree(const struct ifm_events *events, const char *where, struct ifm_error *error)
{
    IFM_EACH(event, events, input, NULL, NULL) {
        const struct ifm_event_input *input = IFM_FACTS(event, input);
        const char *first = recorded(events, input->token);
        if (strcmp(first, input->sha256) != 0)
            return ifm_fail(error, IFM_INVALID, where, "measure again into a new folder",
                            "rule-04: sessions of this run read different bytes from the file %s: SHA-256 %.12s, then "
                            "%.12s",
                            input->file, first, input->sha256);
    }
    return IFM_OK;
}
