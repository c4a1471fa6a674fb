/* null: measures the lab itself.
 *
 * What the timed region contains: nothing, or `null.spin` dependent additions a step, an effect of known size. */
#include "device/cuda.h"
#include "device/fake.h"
#include "workload/workload.h"

#include <stdlib.h>

struct settings {
    uint64_t spin;
};

static const struct ifm_param rows[] = {
    {"null.spin", "spin", IFM_TYPE_U64, IFM_SWEEP | IFM_PER_ARM, "count", "0", 0, 1e9, NULL,
     "dependent additions in a step, so that an effect of known size can be looked for",
     offsetof(struct settings, spin)},
};

static const struct ifm_section section = {
    .name = "null",
    .help = "The empty step: what the lab itself costs",
    .rows = rows,
    .n = sizeof rows / sizeof rows[0],
    .size = sizeof(struct settings),
};

struct ifm_workload_state {
    struct ifm_device *device;
    const char *arm;
    bool fake;
    uint64_t spin, value;
    struct ifm_cuda_steps *cuda; /* on the device cuda, where a step is a kernel of one thread */
    struct ifm_cuda_function *kernel;
    void *left; /* what the additions leave */
};

static enum ifm_status describe(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                struct ifm_error *error)
{
    (void)machine;
    struct settings bound;
    IFM_TRY(ifm_section_bind(&section, settings, n, arena, &bound, error));
    *why_not = NULL;
    struct ifm_arm *arm = IFM_ARENA_NEW(arena, struct ifm_arm);
    *arm = (struct ifm_arm){
        .name = "null",
        .variant = "",
        .feature = "",
        .equals = "",
        .ledger = {.rows = 1},
        .memory = sizeof(struct ifm_workload_state),
        .fixed_inner = true,
    };
    *arms = (struct ifm_arm_list){.items = arm, .n = 1};
    return IFM_OK;
}

#if defined(IFM_HAVE_CUDA)
static void enqueue(void *arg)
{
    struct ifm_workload_state *state = arg;
    void *arguments[] = {&state->spin, &state->left};
    ifm_cuda_launch(state->device, &(struct ifm_cuda_launch){state->kernel, 1, 1, 0, arguments});
}

static enum ifm_status open_cuda(struct ifm_workload_state *state, struct ifm_error *error)
{
    bool fresh;
    const char *name = state->spin > 0 ? "ifm_null_spin" : "ifm_null";
    IFM_TRY(ifm_cuda_find(state->device, "null", name, &state->kernel, error));
    IFM_TRY(state->device->ops->buffer(state->device, "null", sizeof(uint64_t), &state->left, &fresh, error));
    enqueue(state); /* what is made on first use is made here, and the facts of the device know the kernel */
    return ifm_cuda_steps_create(state->device, enqueue, state, &state->cuda, error);
}
#endif

static void close_null(struct ifm_workload_state *state);

static enum ifm_status open_null(const struct ifm_arm *arm, struct ifm_device *device, unsigned threads, uint64_t seed,
                                 struct ifm_workload_state **out, struct ifm_error *error)
{
    (void)threads;
    struct settings bound;
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = ifm_section_bind(&section, arm->settings, arm->n_settings, arena, &bound, error);
    ifm_arena_destroy(arena);
    IFM_TRY(status);
    struct ifm_workload_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ifm_fail(error, IFM_INTERNAL, arm->name, NULL, "out of memory");
    *state =
        (struct ifm_workload_state){device, arm->name, ifm_device_is_fake(device), bound.spin, seed, NULL, NULL, NULL};
#if defined(IFM_HAVE_CUDA)
    if (ifm_device_is_cuda(device))
        status = open_cuda(state, error);
#endif
    if (status != IFM_OK)
        close_null(state);
    else
        *out = state;
    return status;
}

/* Each addition needs the one before it, and the compiler may not assume what it left. */
static __attribute__((noinline)) void spin(struct ifm_workload_state *state)
{
    uint64_t value = state->value;
    for (uint64_t i = 0; i < state->spin; i++) {
        value += i;
        __asm__ volatile("" : "+r"(value));
    }
    state->value = value;
}

static __attribute__((noinline)) void step(struct ifm_workload_state *state, uint64_t n)
{
    if (state->fake) {
        ifm_fake_advance(state->device, state->arm, n);
        return;
    }
#if defined(IFM_HAVE_CUDA)
    if (state->cuda != NULL) {
        ifm_cuda_steps_run(state->cuda, n);
        return;
    }
#endif
    for (; n > 0; n--) {
        if (state->spin > 0)
            spin(state);
        __asm__ volatile("" ::: "memory"); /* the step exists */
    }
}

static void close_null(struct ifm_workload_state *state)
{
#if defined(IFM_HAVE_CUDA)
    if (state != NULL)
        ifm_cuda_steps_destroy(state->cuda);
#endif
    free(state);
}

const struct ifm_workload ifm_workload_null = {
    .name = "null",
    .purpose = "does nothing: measures the lab itself",
    .timed_region = "an empty step, or null.spin dependent additions",
    .most_threads = 1,
    .on_gpu = true,
    .params = &section,
    .describe = describe,
    .open = open_null,
    .step = step,
    .close = close_null,
};
