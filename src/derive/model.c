/* What a step says of the whole model: the least time of an output token. A bound, as nothing but attention is
 * measured. */
#include "derive/internal.h"

#include "base/text.h"
#include "model/metric.h"

#include <math.h>
#include <string.h>

/* The setting `workload`.`key` as a number; 0 where there is none. */
static double setting_of(const struct ifm_arm_work *arm, const char *key)
{
    const char *path = ifm_arena_printf(arm->d->arena, "%s.%s", arm->work->cell->workload, key);
    const char *text = ifm_arm_setting(arm->arm, path);
    uint64_t number;
    return text != NULL && ifm_parse_u64(text, &number) ? (double)number : 0;
}

/* Layers that tokens go through in a step: of a cycle all layers, once for each token; else one layer. */
static double passes_of(const struct ifm_arm_work *arm)
{
    const char *cycle = ifm_arm_setting(arm->arm, "decode.inference");
    uint64_t layers = 0;
    if (cycle == NULL || strcmp(cycle, "true") != 0)
        return 1;
    for (size_t i = 0; i < arm->arm->n_chosen; i++)
        if (strcmp(arm->arm->chosen[i].path, "layers") == 0 && !ifm_parse_u64(arm->arm->chosen[i].text, &layers))
            layers = 0;
    return (double)layers * setting_of(arm, "decode_tokens");
}

/* How long the weights take at the read ceiling, ns; 0 where caches may serve them. */
static struct ifm_value weights_time(const struct ifm_cell_work *work, double bytes)
{
    const struct ifm_roof *read = &work->roofs[IFM_CEILING_READ];
    if (bytes < ifm_resident_below(work->d))
        return ifm_value_real(0, 0, "blocks");
    if (read->by == NULL && work->cell->cache_resident)
        return ifm_value_absent("caches hold all that is read here, so the read ceiling of memory, which limits the "
                                "weights, was not measured",
                                "take a longer --kv-len or a larger --batch", 0, "blocks");
    if (read->by == NULL)
        return ifm_value_absent("the weights' part of a token needs the read ceiling of this machine",
                                "measure it too: --ceilings read,flops", 0, "blocks");
    return ifm_value_real(bytes / exp(read->log_rate), 0, "blocks");
}

void ifm_derive_model(const struct ifm_arm_work *arm, const struct ifm_value *step)
{
    const double layers = setting_of(arm, "model_layers"), bytes = setting_of(arm, "weight_bytes");
    const double passes = passes_of(arm);
    char weights[48], attention[48], reads[48];
    if (layers <= 0 || passes <= 0 || arm->arm->ledger.tokens_generated == 0 || ifm_derive_is_probe(arm->arm))
        return;
    struct ifm_value bound = *step;
    const struct ifm_value more = weights_time(arm->work, bytes);
    if (step->state == IFM_STATE_OK && more.state != IFM_STATE_OK)
        bound = more;
    else if (step->state == IFM_STATE_OK) {
        const double factor = layers / passes;
        bound.number = step->number * factor + more.number;
        bound.low = step->low * factor + more.number;
        bound.high = step->high * factor + more.number;
        bound.text = ifm_arena_printf(arm->d->arena, "%s of attention in %.0f layers and %s",
                                      ifm_format_human(step->number * factor, "ns", attention), layers,
                                      more.number <= 0
                                          ? "no weights, as caches may hold them"
                                          : ifm_arena_printf(arm->d->arena, "%s for %s of weights at the read ceiling",
                                                             ifm_format_human(more.number, "ns", weights),
                                                             ifm_format_human(bytes, "B", reads)));
    }
    ifm_derive_emit(arm, IFM_M_TPOT_BOUND_NS, bound);
}
