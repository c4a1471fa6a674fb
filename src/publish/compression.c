/* The sentence about a compressed arm. */
#include "publish/compression.h"

#include "publish/quantity.h"
#include <string.h>

static const struct ifm_value *value_of(const struct ifm_derived *derived, const char *cell, const char *arm,
                                        enum ifm_metric_id metric)
{
    const struct ifm_number *number = ifm_derived_find(derived, cell, arm, metric);
    return number == NULL ? NULL : &number->value;
}

static const char *speed_of(const struct ifm_derived *derived, const char *cell, const char *arm,
                            struct ifm_arena *arena)
{
    const struct ifm_value *speedup = value_of(derived, cell, arm, IFM_M_SPEEDUP);
    const struct ifm_value *change = value_of(derived, cell, arm, IFM_M_CHANGE_PERCENT);
    if (speedup == NULL || speedup->state != IFM_STATE_OK)
        return ifm_arena_printf(arena, "speed %s",
                                ifm_state_label(speedup == NULL ? IFM_STATE_ABSENT : speedup->state));
    const char *word = change != NULL && change->state == IFM_STATE_OK ? change->text : "";
    const char *ratio = ifm_quantity_of(speedup, arena).number;
    if (strcmp(word, "faster") == 0)
        return ifm_arena_printf(arena, "%sx faster", ratio);
    return ifm_arena_printf(arena, "%sx the speed%s%s%s", ratio, word[0] == '\0' ? "" : " (", word,
                            word[0] == '\0' ? "" : ")");
}

/* "3.71x fewer bytes", "a bytes ratio of 0.93x" where they are more; "" where no ratio is known. */
static const char *bytes_of(const struct ifm_derived *derived, const char *cell, const char *arm,
                            struct ifm_arena *arena)
{
    const struct ifm_value *ratio = value_of(derived, cell, arm, IFM_M_BYTES_RATIO);
    if (ratio == NULL || ratio->state != IFM_STATE_OK)
        return "";
    if (ratio->number == 1)
        return "the same bytes";
    if (ratio->number < 1)
        return ifm_arena_printf(arena, "a bytes ratio of %s", ifm_quantity_ratio(ratio->number, arena));
    return ifm_arena_printf(arena, "%s fewer bytes", ifm_quantity_ratio(ratio->number, arena));
}

/* "output error 7.9 %, KL 0.021"; "" of an arm that owes none. */
static const char *loss_of(const struct ifm_derived *derived, const char *cell, const char *arm,
                           struct ifm_arena *arena)
{
    const struct ifm_value *loss = value_of(derived, cell, arm, IFM_M_LOSS_RMS_REL);
    const struct ifm_value *kl = value_of(derived, cell, arm, IFM_M_ATTENTION_KL_NATS);
    const struct ifm_value *tv = value_of(derived, cell, arm, IFM_M_ATTENTION_TV);
    if (loss == NULL)
        return "";
    if (loss->state != IFM_STATE_OK)
        return "output error not recorded";
    const char *text = ifm_arena_printf(arena, "output error %s %%", ifm_quantity_short(100 * loss->number, arena));
    if (kl != NULL && kl->state == IFM_STATE_OK)
        return ifm_arena_printf(arena, "%s, KL %s", text, ifm_quantity_short(kl->number, arena));
    if (kl != NULL && tv != NULL && tv->state == IFM_STATE_OK)
        return ifm_arena_printf(arena, "%s, KL infinite (tokens dropped), TV %s", text,
                                ifm_quantity_short(tv->number, arena));
    return text;
}

/* Rule 3: a speed-up that its bytes do not explain is shown only with the baseline's share of its ceiling. */
static const char *share_of(const struct ifm_derived *derived, const char *cell, const char *arm)
{
    const struct ifm_value *speedup = value_of(derived, cell, arm, IFM_M_SPEEDUP);
    return speedup != NULL && speedup->state == IFM_STATE_OK && speedup->text != NULL ? speedup->text : "";
}

/* The parts that are not empty, `separator` between them. */
static const char *joined(const char *first, const char *separator, const char *second, struct ifm_arena *arena)
{
    if (first[0] == '\0' || second[0] == '\0')
        return first[0] == '\0' ? second : first;
    return ifm_arena_printf(arena, "%s%s%s", first, separator, second);
}

const char *ifm_compression_price(const struct ifm_derived *derived, const char *cell, const char *arm,
                                  struct ifm_arena *arena)
{
    const char *bytes = bytes_of(derived, cell, arm, arena);
    if (bytes[0] == '\0')
        return "";
    const char *price = joined(bytes, ", ", loss_of(derived, cell, arm, arena), arena);
    return joined(price, ", ", share_of(derived, cell, arm), arena);
}

const char *ifm_compression_sentence(const struct ifm_derived *derived, const char *cell, const char *arm,
                                     struct ifm_arena *arena)
{
    const char *bytes = bytes_of(derived, cell, arm, arena);
    if (bytes[0] == '\0')
        return "";
    const char *speed = ifm_arena_printf(arena, "%s at %s", speed_of(derived, cell, arm, arena), bytes);
    const char *price = joined(speed, "; ", loss_of(derived, cell, arm, arena), arena);
    return joined(price, "; ", share_of(derived, cell, arm), arena);
}
