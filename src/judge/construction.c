/* What differs between an arm and its baseline by construction: the arm's own settings, what was chosen for it, and the
 * run of a program that failed. It comes before anything that was measured beside the time. */
#include "judge/internal.h"

#include "base/private.h"
#include "base/text.h"
#include <string.h>

enum { NAMED = 3, LONGEST = 40 };

/* The differences so far: "decode.isa is avx2, not avx512". */
struct differences {
    struct ifm_text text;
    size_t n;
};

static void add(struct differences *d, const char *path, const char *own, const char *base)
{
    if (strcmp(own, base) == 0)
        return;
    const bool secret = ifm_private_is_token(own) || ifm_private_is_token(base);
    own = ifm_private_shown(own);
    base = ifm_private_shown(base);
    if (d->n++ >= NAMED)
        return;
    if (secret) { /* a hash tells nobody anything */
        ifm_text_printf(&d->text, "%s%s differs", d->n > 1 ? ", " : "", path);
        return;
    }
    const char *own_more = strlen(own) > LONGEST ? "..." : "", *base_more = strlen(base) > LONGEST ? "..." : "";
    ifm_text_printf(&d->text, "%s%s is %.*s%s, not %.*s%s", d->n > 1 ? ", " : "", path, LONGEST, own, own_more, LONGEST,
                    base, base_more);
}

static const char *text_of(const struct ifm_setting *list, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].path, path) == 0)
            return list[i].text;
    return NULL;
}

/* Layers that are chosen are no model's: the heads of tables count those. They are inputs of one layer each, as many as
 * no cache holds. */
static const char *name_of(const char *path)
{
    return strcmp(path, "layers") == 0 ? "the number of rotating inputs" : path;
}

static void add_settings(struct differences *d, const struct ifm_setting *own, size_t n_own,
                         const struct ifm_setting *base, size_t n_base)
{
    for (size_t i = 0; i < n_own; i++) {
        const char *other = text_of(base, n_base, own[i].path);
        if (other != NULL && own[i].text[0] != '\0' && other[0] != '\0')
            add(d, name_of(own[i].path), own[i].text, other);
    }
}

static const char *or_none(const char *text)
{
    return text == NULL ? "" : text;
}

const char *ifm_judge_construction(const struct ifm_cell *cell, const char *arm, struct ifm_arena *arena)
{
    struct differences d = {.n = 0};
    const struct ifm_arm *own = ifm_cell_arm(cell, arm), *base = ifm_cell_baseline(cell);
    if (own == NULL || base == NULL || own == base)
        return "";
    add_settings(&d, own->settings, own->n_settings, base->settings, base->n_settings);
    if (or_none(own->variant)[0] != '\0' && or_none(base->variant)[0] != '\0')
        add(&d, "the form", own->variant, base->variant);
    if (or_none(own->implementation)[0] != '\0' && or_none(base->implementation)[0] != '\0')
        add(&d, "the implementation", own->implementation, base->implementation);
    add_settings(&d, own->chosen, own->n_chosen, base->chosen, base->n_chosen);
    if (d.n > NAMED)
        ifm_text_printf(&d.text, " and %zu more", d.n - NAMED);
    return ifm_text_keep(&d.text, arena);
}

static bool has_failed(const struct ifm_derived *derived, const char *cell, const char *arm)
{
    const struct ifm_value *failures = ifm_derived_value(derived, cell, arm, IFM_M_COMMAND_FAILURES);
    return failures != NULL && ifm_is_ok(failures) && failures->number > 0;
}

/* A program that fails does less, or another thing: its time needs no other explanation. The reason of its refused time
 * names the statuses. */
const char *ifm_judge_failed_program(const struct ifm_cell *cell, const struct ifm_number *change,
                                     const struct ifm_derived *derived, struct ifm_arena *arena)
{
    const struct ifm_arm *base = ifm_cell_baseline(cell);
    if (change->value.state == IFM_STATE_OK || !ifm_cell_counts_programs(cell) || base == NULL)
        return NULL;
    const char *arm = has_failed(derived, cell->name, change->arm)  ? change->arm
                      : has_failed(derived, cell->name, base->name) ? base->name
                                                                    : NULL;
    const struct ifm_value *time = arm == NULL ? NULL : ifm_derived_value(derived, cell->name, arm, IFM_M_STEP_NS);
    if (time == NULL || time->state == IFM_STATE_OK)
        return NULL;
    return ifm_arena_printf(arena, "no time to compare: the program of %s failed: %s", arm, time->reason);
}
