/* The least time of an output token of a whole model: by bytes, as nothing but attention is measured. The time of a
 * step is no part of it: on a busy machine steps are slow, and a mean bounds nothing. */
#include "derive/internal.h"

#include "base/text.h"
#include "model/machine_facts.h"
#include "model/metric.h"

#include <math.h>
#include <string.h>

/* A setting as a number; 0 where there is none. */
static double number_at(const struct ifm_arm *arm, const char *path)
{
    const char *text = ifm_arm_setting(arm, path);
    uint64_t number;
    return text != NULL && ifm_parse_u64(text, &number) ? (double)number : 0;
}

/* The setting `workload`.`key` as a number; 0 where there is none. */
static double setting_of(const struct ifm_arm_work *arm, const char *key)
{
    return number_at(arm->arm, ifm_arena_printf(arm->d->arena, "%s.%s", arm->work->cell->workload, key));
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

/* "15 GB of weights and 1.07 GB of cache for batch 4, at the read ceiling of 21.3 GB/s of 2 threads". */
static const char *words_of(const struct ifm_arm_work *arm, double weights, double cache, double bytes_per_ns)
{
    char w[48], c[48], rate[48];
    const char *batch = ifm_arm_setting(arm->arm, "decode.batch"), *threads = "";
    const unsigned n = arm->work->cell->threads;
    if (strcmp(arm->d->plan->device, "cuda") != 0)
        threads = ifm_arena_printf(arm->d->arena, " of %u thread%s", n, n == 1 ? "" : "s");
    return ifm_arena_printf(arm->d->arena, "%s of weights and %s of cache for batch %s, at the read ceiling of %s%s",
                            ifm_format_human(weights, "B", w), ifm_format_human(cache, "B", c),
                            batch == NULL ? "1" : batch, ifm_format_human(1e9 * bytes_per_ns, "B/s", rate), threads);
}

/* What a token reads, at the fastest that anything read in this run: the ceiling is that of its fastest probe, or of an
 * arm above it. What caches can keep from one token to the next is left out, so that the rest comes from memory. Probes
 * beside other programs show what these leave over: whoever reads faster on a quiet machine is below such a bound. */
static struct ifm_value bound_of(const struct ifm_arm_work *arm, double weights, double cache)
{
    const struct ifm_cell_work *work = arm->work;
    const struct ifm_roof *read = &work->roofs[IFM_CEILING_READ];
    const struct ifm_machine *machine = arm->d->plan->machine;
    const double measured = arm->d->llc_bytes;
    const double kept = measured > 0 || machine == NULL ? measured : (double)ifm_machine_llc_total(machine);
    if (weights + cache < IFM_RESIDENT_FACTOR * kept)
        return ifm_value_absent("caches may hold all that a token reads, so that memory does not bound its time",
                                "take a longer --kv-len or a larger --batch", 0, "blocks");
    if (read->by == NULL && work->cell->cache_resident)
        return ifm_value_absent("caches hold all that is read here, so the read ceiling of memory, which bounds a "
                                "token, was not measured",
                                "take a longer --kv-len or a larger --batch", 0, "blocks");
    if (read->by == NULL)
        return ifm_value_absent("the bound of a token needs the read ceiling of this machine",
                                "measure it too: --ceilings read,flops", 0, "blocks");
    if (ifm_was_loaded(arm->d->facts->events))
        return ifm_value_absent(
            "other programs lowered the read ceiling, so it bounds no token",
            ifm_waited_in_vain(arm->d->facts->events) ? "a machine without them" : "--wait-quiet 10min", 0, "blocks");
    const double bytes_per_ns = exp(read->log_rate);
    struct ifm_value bound = ifm_value_real((weights + cache - kept) / bytes_per_ns, 0, "blocks");
    bound.text = words_of(arm, weights, cache, bytes_per_ns);
    return bound;
}

void ifm_derive_model(const struct ifm_arm_work *arm, const struct ifm_value *step)
{
    const double layers = setting_of(arm, "model_layers"), weights = setting_of(arm, "weight_bytes");
    const double passes = passes_of(arm);
    const char *model = ifm_arm_setting(arm->arm, "decode.model");
    if (arm->arm->ledger.tokens_generated == 0 || ifm_derive_is_probe(arm->arm))
        return;
    if (layers <= 0 && model != NULL && model[0] != '\0')
        ifm_derive_emit(arm, IFM_M_TPOT_BOUND_NS,
                        ifm_value_absent("not every layer of this model attends to the whole cache (a sliding window, "
                                         "or no attention), so that one layer bounds no token",
                                         "give --model-layers and --weight-bytes for those that do", 0, "blocks"));
    if (layers <= 0 || passes <= 0)
        return;
    const double cache = (double)arm->arm->ledger.bytes_read * layers / passes;
    ifm_derive_emit(arm, IFM_M_TPOT_BOUND_NS, step->state == IFM_STATE_OK ? bound_of(arm, weights, cache) : *step);
}

double ifm_model_fewer_bytes(const struct ifm_arm *baseline, const struct ifm_arm *arm)
{
    const double layers = number_at(arm, "decode.model_layers"), weights = number_at(arm, "decode.weight_bytes");
    if (layers <= 0 || weights <= 0 || arm->ledger.layers == 0 || arm->ledger.bytes_read == 0)
        return 0;
    return (weights + layers * (double)baseline->ledger.bytes_read) /
           (weights + layers * (double)arm->ledger.bytes_read);
}
