/* Finding the row that an arm names, binding the arm's values to their types, opening and closing its states. */
#include "workload/implementation.h"

#include "workload/workload.h"
#include <stdlib.h>
#include <string.h>

bool ifm_workload_serves(const struct ifm_workload *workload, const struct ifm_machine *machine)
{
    if (workload->implementations == NULL)
        return true;
    for (size_t i = 0; workload->implementations[i] != NULL; i++)
        if (ifm_implementation_serves(workload->implementations[i], machine))
            return true;
    return false;
}

static bool is_row(const struct ifm_implementation *row, const char *name, const char *device)
{
    return strcmp(row->name, name) == 0 && strcmp(row->device, device) == 0;
}

static const struct ifm_implementation *find(const struct ifm_workload *workload, const char *name, const char *device)
{
    if (is_row(&ifm_implementation_script, name, device))
        return &ifm_implementation_script;
    for (size_t i = 0; workload->implementations != NULL && workload->implementations[i] != NULL; i++)
        if (is_row(workload->implementations[i], name, device))
            return workload->implementations[i];
    return NULL;
}

static enum ifm_status bind(const struct ifm_section *section, const struct ifm_setting *settings, size_t n,
                            struct ifm_arena *arena, const void **out, struct ifm_error *error)
{
    void *values = section == NULL ? NULL : ifm_arena_alloc(arena, section->size);
    *out = values;
    return section == NULL ? IFM_OK : ifm_section_bind(section, settings, n, arena, values, error);
}

enum ifm_status ifm_implementation_bind(const struct ifm_arm *arm, const char *device, struct ifm_arena *arena,
                                        struct ifm_opening *out, struct ifm_error *error)
{
    static const char hint[] = "use the version of inferometer that made the plan, or measure again";
    const struct ifm_workload *workload = ifm_workload_find(arm->workload);
    const char *name = arm->implementation == NULL ? "" : arm->implementation;
    if (workload == NULL)
        return ifm_fail(error, IFM_INVALID, arm->name, hint, "this build has no workload \"%s\"", arm->workload);
    if (name[0] == '\0')
        return ifm_fail(error, IFM_INVALID, arm->name, hint, "the plan does not say which implementation of %s runs",
                        arm->workload);
    *out = (struct ifm_opening){.workload = workload, .implementation = find(workload, name, device), .arm = arm};
    if (out->implementation == NULL)
        return ifm_fail(error, IFM_INVALID, arm->name, hint, "this build has no implementation \"%s\" of %s for %s",
                        name, arm->workload, device);
    IFM_TRY(bind(workload->params, arm->settings, arm->n_settings, arena, &out->settings, error));
    return bind(workload->chosen, arm->chosen, arm->n_chosen, arena, &out->chosen, error);
}

enum ifm_status ifm_implementation_open(const struct ifm_opening *opening, void **state, struct ifm_error *error)
{
    const struct ifm_implementation *row = opening->implementation;
    *state = calloc(1, row->state_bytes);
    if (*state == NULL)
        return ifm_fail(error, IFM_INTERNAL, opening->arm->name, NULL, "out of memory");
    enum ifm_status status = row->open(opening, *state, error);
    if (status != IFM_OK) {
        ifm_implementation_close(row, *state);
        *state = NULL;
    }
    return status;
}

void ifm_implementation_close(const struct ifm_implementation *row, void *state)
{
    if (state != NULL && row->close != NULL)
        row->close(state);
    free(state);
}
