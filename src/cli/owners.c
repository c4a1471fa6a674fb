/* The commands that a flag of a workload belongs to. */
#include "base/text.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static const char *form_of(const struct ifm_workload *workload)
{
    return strcmp(workload->name, "command") == 0 ? "exec" : workload->name;
}

/* "--model belongs to `inferometer decode` and `inferometer attention`" */
static void name_owners(const char *flag, char *hint, size_t size)
{
    int length = snprintf(hint, size, "--%s belongs to", flag);
    const char *gap = "";
    for (size_t w = 0; ifm_workloads[w] != NULL; w++) {
        const struct ifm_section *section = ifm_workloads[w]->params;
        for (size_t r = 0; r < section->n && length >= 0 && (size_t)length < size; r++)
            if (section->rows[r].flag != NULL && strcmp(section->rows[r].flag, flag) == 0) {
                length += snprintf(hint + length, size - (size_t)length, "%s `inferometer %s`", gap,
                                   form_of(ifm_workloads[w]));
                gap = " and";
            }
    }
}

bool ifm_workload_flag_hint(const char *name, const char *workload, char *hint, size_t size)
{
    for (size_t w = 0; ifm_workloads[w] != NULL; w++) {
        const struct ifm_section *section = ifm_workloads[w]->params;
        for (size_t r = 0; r < section->n; r++) {
            const struct ifm_param *row = &section->rows[r];
            if (row->flag == NULL || ifm_nearest(name, &row->flag, 1) == NULL)
                continue;
            if (workload == NULL)
                snprintf(hint, size, "write --override %s=VALUE, or `inferometer %s --%s VALUE`", row->path,
                         form_of(ifm_workloads[w]), row->flag);
            else
                name_owners(row->flag, hint, size);
            return true;
        }
    }
    return false;
}

bool ifm_is_workload_flag(const char *name)
{
    for (size_t w = 0; ifm_workloads[w] != NULL; w++)
        for (size_t r = 0; r < ifm_workloads[w]->params->n; r++)
            if (ifm_workloads[w]->params->rows[r].flag != NULL &&
                strcmp(ifm_workloads[w]->params->rows[r].flag, name) == 0)
                return true;
    return false;
}
