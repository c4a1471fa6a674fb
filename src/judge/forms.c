/* Gates on arms by the form of what they store: `arm: 8-bit arms`. No name of an arm has a space, so none is hidden. */
#include "judge/internal.h"

#include <string.h>

static const char *const names[] = {[IFM_FORM_ANY] = "",
                                    [IFM_FORM_PLAIN] = "uncompressed arms",
                                    [IFM_FORM_8_BIT] = "8-bit arms",
                                    [IFM_FORM_4_BIT] = "4-bit arms",
                                    [IFM_FORM_2_BIT] = "2-bit arms",
                                    [IFM_FORM_COMPRESSED] = "compressed arms, else all"};

enum ifm_form ifm_judge_form_of_gate(const struct ifm_gate *gate)
{
    for (int form = IFM_FORM_PLAIN; form <= IFM_FORM_COMPRESSED; form++)
        if (strcmp(gate->arm, names[form]) == 0)
            return (enum ifm_form)form;
    return IFM_FORM_ANY;
}

static enum ifm_form form_of(const struct ifm_arm *arm)
{
    static const struct {
        const char *variant;
        enum ifm_form form;
    } table[] = {{"int8", IFM_FORM_8_BIT},
                 {"e4m3", IFM_FORM_8_BIT},
                 {"int4", IFM_FORM_4_BIT},
                 {"half4", IFM_FORM_4_BIT},
                 {"int2", IFM_FORM_2_BIT}};
    enum ifm_form own = IFM_FORM_PLAIN;
    for (size_t i = 0; arm->variant != NULL && i < sizeof table / sizeof *table; i++)
        own = strcmp(arm->variant, table[i].variant) == 0 ? table[i].form : own;
    return own;
}

bool ifm_judge_has_form(const struct ifm_cell *cell, const struct ifm_arm *arm, enum ifm_form form)
{
    bool all = true;
    if (form != IFM_FORM_COMPRESSED)
        return form == IFM_FORM_ANY || form == form_of(arm);
    for (size_t a = 0; a < cell->n_arms; a++)
        all = all && form_of(&cell->arms[a]) == IFM_FORM_PLAIN;
    return all || form_of(arm) != IFM_FORM_PLAIN;
}
