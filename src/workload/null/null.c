/* null: measures the lab itself.
 *
 * What the timed region contains: nothing, or `null.spin` dependent additions a step, an effect of known size. */
#include "workload/null/null.h"

#include "device/cuda.h"

static const struct ifm_param rows[] = {
    {"null.spin", "spin", IFM_TYPE_U64, IFM_SWEEP | IFM_PER_ARM, "count", "0", 0, 1e9, NULL,
     "dependent additions in a step, so that an effect of known size can be looked for",
     offsetof(struct ifm_null_settings, spin)},
};

static const struct ifm_section section =
    IFM_SECTION("null", "The empty step: what the lab itself costs", rows, struct ifm_null_settings);

static const struct ifm_implementation *const implementations[] = {&ifm_null_cpu, &ifm_null_cuda, NULL};

static enum ifm_status describe(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                struct ifm_error *error)
{
    struct ifm_null_settings bound;
    IFM_TRY(ifm_section_bind(&section, settings, n, arena, &bound, error));
    *why_not = NULL;
    *arms = (struct ifm_arm_list){.items = IFM_ARENA_NEW(arena, struct ifm_arm)};
    for (size_t i = 0; implementations[i] != NULL && arms->n == 0; i++)
        if (ifm_implementation_serves(implementations[i], machine))
            arms->items[arms->n++] = (struct ifm_arm){
                .name = "null",
                .implementation = implementations[i]->name,
                .title = implementations[i]->title,
                .ledger = {.rows = 1},
                .memory = 64, /* of its state */
                .fixed_inner = true,
            };
    return IFM_OK;
}

const struct ifm_workload ifm_workload_null = {
    .name = "null",
    .purpose = "does nothing: measures the lab itself",
    .timed_region = "an empty step, or null.spin dependent additions",
    .most_threads = 1,
    .params = &section,
    .describe = describe,
    .implementations = implementations,
};
