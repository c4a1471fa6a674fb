/* The root-cause ladder: where to look first, from what the findings already say.
 *
 * A rung that is not clean makes every rung above it doubtful, so they are listed from the ground up. */
#include "judge/internal.h"

#include "base/text.h"
#include <string.h>

enum rung { RUNG_ENVIRONMENT, RUNG_INPUTS, RUNG_KERNEL, RUNG_MEMORY, RUNG_STATISTICS, RUNGS };

static enum rung rung_of(const struct ifm_finding *finding)
{
    static const struct {
        const char *rule;
        enum rung rung;
    } table[] = {{"rule-01", RUNG_INPUTS}, {"rule-02", RUNG_ENVIRONMENT}, {"rule-03", RUNG_MEMORY},
                 {"rule-04", RUNG_INPUTS}, {"rule-07", RUNG_STATISTICS},  {"rule-08", RUNG_ENVIRONMENT},
                 {"rule-10", RUNG_KERNEL}, {"rule-11", RUNG_KERNEL},      {"rule-12", RUNG_KERNEL}};
    if (strcmp(finding->rule, "rule-07") == 0 && finding->cell[0] == '\0')
        return RUNG_ENVIRONMENT; /* a loaded machine */
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].rule, finding->rule) == 0)
            return table[i].rung;
    return RUNG_ENVIRONMENT;
}

static void add_finding(struct ifm_text *text, const struct ifm_finding *finding)
{
    ifm_text_add(text, text->size > 0 ? "; " : "");
    if (finding->cell[0] != '\0')
        ifm_text_printf(text, "%s%s%s: ", finding->cell, finding->arm[0] != '\0' ? "/" : "", finding->arm);
    const char *remedy = strstr(finding->text, IFM_REMEDY); /* it stands with the finding */
    ifm_text_append(text, finding->text, remedy == NULL ? strlen(finding->text) : (size_t)(remedy - finding->text));
}

void ifm_judge_ladder(const struct ifm_derived *derived, struct ifm_arena *arena, struct ifm_verdict *verdict)
{
    static const char *const names[RUNGS] = {"environment", "inputs", "kernel", "memory", "statistics"};
    verdict->rca = IFM_ARENA_ARRAY(arena, const char *, RUNGS);
    verdict->n_rca = RUNGS;
    for (int rung = 0; rung < RUNGS; rung++) {
        struct ifm_text text = {0};
        for (size_t i = 0; i < derived->n_findings; i++)
            if ((int)rung_of(&derived->findings[i]) == rung && derived->findings[i].rule[0] != '\0')
                add_finding(&text, &derived->findings[i]);
        verdict->rca[rung] =
            ifm_arena_printf(arena, "%s: %s", names[rung], text.size > 0 ? text.data : "nothing was found");
        ifm_text_free(&text);
    }
}
