/* Does a smaller form pay: one sentence on memory and time for all arms of a cell. Says derive's words, decides
 * nothing; what a model bears is not measured, so an arm that loses something pays only under that condition. */
#include "document/build.h"
#include "document/quantity.h"
#include <string.h>

enum kind { BOTH = 0, BESIDE, OPEN, MEMORY, TIME, NEITHER, KINDS };

const char *ifm_left_words(const struct ifm_builder *builder, const struct ifm_cell *cell)
{
    const struct ifm_derived *derived = builder->from->derived;
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    for (size_t i = 0; baseline != NULL && i < derived->n_findings; i++) {
        const struct ifm_finding *finding = &derived->findings[i];
        if (finding->weak.left != NULL && strcmp(finding->cell, cell->name) == 0)
            return ifm_arena_printf(builder->arena, "with %s at its ceiling: %s", baseline->name, finding->weak.left);
    }
    return "";
}

/* A gain in time may be the weakness of this baseline: it is none where one at its ceiling leaves it, by the margin
 * that every word has. */
static bool is_beside(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_value *left = ifm_value_of(builder, cell, arm, IFM_M_SPEEDUP_AT_CEILING);
    if (!ifm_is_ok(left))
        return left == NULL || strcmp(left->text, "faster") != 0;
    return !left->has_interval || left->low <= 1 + cell->measure.margin;
}

/* " (0.98x [0.95, 1.01] at its ceiling)", where no line says so. */
static const char *bound_words(const struct ifm_builder *builder, const struct ifm_cell *cell,
                               const struct ifm_arm *arm)
{
    const struct ifm_value *left = ifm_value_of(builder, cell, arm, IFM_M_SPEEDUP_AT_CEILING);
    if (!ifm_is_ok(left) || ifm_left_words(builder, cell)[0] != '\0')
        return "";
    return ifm_arena_printf(builder->arena, " (%sx %s at its ceiling)", ifm_quantity_of(left, builder->arena).number,
                            ifm_quantity_range(left, builder->arena));
}

/* How many times fewer bytes the arm stores than the baseline, which may be wider than the 16-bit values that ratios
 * are to; 1 where it is as plain as those, or as large as the baseline. */
static double times_smaller(const struct ifm_builder *builder, const struct ifm_cell *cell,
                            const struct ifm_value *stored)
{
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    const struct ifm_value *own =
        baseline == NULL ? NULL : ifm_value_of(builder, cell, baseline, IFM_M_COMPRESSION_RATIO);
    const double times = ifm_is_ok(own) && own->number > 0 ? stored->number / own->number : stored->number;
    return stored->number == 1 && times < 1 ? 1 : times;
}

/* What an arm gains; KINDS: it was not compared, or nothing that it gains is known. */
static enum kind kind_of(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_value *stored = ifm_value_of(builder, cell, arm, IFM_M_COMPRESSION_RATIO);
    const struct ifm_value *speedup = ifm_value_of(builder, cell, arm, IFM_M_SPEEDUP);
    const struct ifm_value *change = ifm_value_of(builder, cell, arm, IFM_M_CHANGE_PERCENT);
    if (!ifm_is_compared(builder, cell, arm) || !ifm_is_ok(stored) || !ifm_is_ok(speedup) || !ifm_is_ok(change))
        return KINDS;
    const double times = times_smaller(builder, cell, stored);
    if (times == 1)
        return KINDS;
    const bool faster = strcmp(change->text, "faster") == 0, smaller = times > 1;
    if (faster && smaller)
        return is_beside(builder, cell, arm) ? BESIDE : BOTH;
    if (strcmp(ifm_word_shown(builder, cell, arm, change), "undecided") == 0)
        return smaller ? OPEN : KINDS;
    return faster ? TIME : smaller ? MEMORY : NEITHER;
}

/* "int8 (slower), int4"; "" = none is of the kind. */
static const char *names_of(const struct ifm_builder *builder, const struct ifm_cell *cell, enum kind kind)
{
    const char *names = "";
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_arm *arm = &cell->arms[a];
        if (kind_of(builder, cell, arm) != kind)
            continue;
        const struct ifm_value *change = ifm_value_of(builder, cell, arm, IFM_M_CHANGE_PERCENT);
        const char *word = kind == BESIDE ? bound_words(builder, cell, arm) : "";
        if (kind == MEMORY)
            word = ifm_arena_printf(builder->arena, " (%s)", ifm_word_shown(builder, cell, arm, change));
        names = ifm_arena_printf(builder->arena, "%s%s%s%s", names, names[0] == '\0' ? "" : ", ", arm->name, word);
    }
    return names;
}

/* Does an arm that pays in anything lose something of its output? */
static bool any_loses(const struct ifm_builder *builder, const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_value *loss = ifm_value_of(builder, cell, &cell->arms[a], IFM_M_LOSS_RMS_REL);
        if (kind_of(builder, cell, &cell->arms[a]) < NEITHER && !(ifm_is_ok(loss) && loss->number == 0))
            return true;
    }
    return false;
}

const char *ifm_pays_words(const struct ifm_builder *builder, const struct ifm_cell *cell)
{
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    const char *words[KINDS] = {"in memory and time",
                                ifm_arena_printf(builder->arena, "in memory, and in time unless a better %s is as fast",
                                                 baseline == NULL ? "baseline" : baseline->name),
                                "in memory, in time undecided",
                                "in memory alone",
                                "in time alone",
                                "not at all"};
    const char *text = "";
    for (enum kind kind = BOTH; kind < KINDS; kind++) {
        const char *names = names_of(builder, cell, kind);
        if (names[0] != '\0')
            text =
                ifm_arena_printf(builder->arena, "%s%s%s: %s", text, text[0] == '\0' ? "" : "; ", words[kind], names);
    }
    if (text[0] == '\0' || !any_loses(builder, cell))
        return text;
    return ifm_arena_printf(builder->arena, "%s; if a model bears their output error", text);
}
