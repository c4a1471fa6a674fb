/* session: windows that the caller of the library brackets.
 *
 * What the timed region contains: whatever the caller does between inferometer_begin and inferometer_end. The command
 * knows this workload so that it can read, verify and report such a run folder; it cannot run it. */
#include "workload/session/session.h"

#include <string.h>

static const struct ifm_param rows[] = {
    {"session.pin", "pin", IFM_TYPE_BOOL, 0, "", "false", 0, 0, NULL,
     "Pin the calling thread to one CPU for the session; threads that the code under test starts inherit it",
     offsetof(struct ifm_session_settings, pin)},
};

static const struct ifm_section section =
    IFM_SECTION("session", "Your own code, bracketed through the library", rows, struct ifm_session_settings);

enum ifm_status ifm_session_bind(const struct ifm_setting *settings, size_t n, struct ifm_arena *arena,
                                 struct ifm_session_settings *out, struct ifm_error *error)
{
    return ifm_section_bind(&section, settings, n, arena, out, error);
}

enum ifm_status ifm_session_describe(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                     struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                     struct ifm_error *error)
{
    (void)machine;
    struct ifm_session_settings bound;
    IFM_TRY(ifm_session_bind(settings, n, arena, &bound, error));
    *why_not = NULL;
    struct ifm_arm *arm = IFM_ARENA_NEW(arena, struct ifm_arm);
    *arm = (struct ifm_arm){
        .name = "session", .variant = "", .feature = "", .equals = "", .fixed_inner = true, .gaps = true};
    *arms = (struct ifm_arm_list){.items = arm, .n = 1};
    return IFM_OK;
}

static enum ifm_status refuse(const char *where, struct ifm_error *error)
{
    return ifm_fail(error, IFM_USAGE, where,
                    "call inferometer_open from the code under test (docs/session.md); for whole programs, use another "
                    "workload",
                    "a session runs its caller's own code, bracketed through libinferometer: no command can run it");
}

static enum ifm_status describe(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                struct ifm_error *error)
{
    (void)settings;
    (void)n;
    (void)machine;
    (void)arena;
    (void)arms;
    (void)why_not;
    return refuse("workload", error);
}

enum ifm_status ifm_session_refuse(const struct ifm_plan *plan, const char *dir, struct ifm_error *error)
{
    for (size_t i = 0; i < plan->n_cells; i++)
        if (strcmp(plan->cells[i].workload, "session") == 0)
            return refuse(dir, error);
    return IFM_OK;
}

struct ifm_workload_entry ifm_session_entry(void)
{
    return (struct ifm_workload_entry){
        .name = ifm_workload_session.name,
        .describe = ifm_session_describe,
        .most_threads = ifm_workload_session.most_threads,
        .one_process = ifm_workload_session.one_process,
        .serves = true,
    };
}

const struct ifm_workload ifm_workload_session = {
    .name = "session",
    .purpose = "your own code, bracketed through the library; see docs/session.md",
    .timed_region = "whatever the caller does between inferometer_begin and inferometer_end",
    .most_threads = 1,
    .one_process = "its windows are its caller's own code",
    .params = &section,
    .describe = describe,
};
