/* Faults planted into every arm of a cell on the device cuda: the bench, the loop, and the faults of outputs that all
 * workloads with rows of outputs share. Include after cmocka, opened.h and planted.h.
 *
 * Memory is reached through the device alone, so that these programs run on a GPU too: tools/portable.sh carries them
 * there. In a build's tests the driver is the one of tests/fake_cuda. */
#ifndef IFM_TESTS_PLANTED_CUDA_H
#define IFM_TESTS_PLANTED_CUDA_H

#include "base/half.h"
#include "device/cuda.h"

#include <math.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- the bench ---- */

/* Kernels by NVRTC, where the environment asks for them (tools/gpu_tests.sh). */
static inline struct ifm_device_options planted_options(bool no_graphs)
{
    const char *kernels = getenv("IFM_TEST_KERNELS");
    const bool nvrtc = kernels != NULL && strcmp(kernels, "nvrtc") == 0;
    return (struct ifm_device_options){
        .threads = 1, .no_graphs = no_graphs, .kernels = nvrtc ? IFM_KERNELS_NVRTC : IFM_KERNELS_AUTO};
}

struct bench {
    struct ifm_arena *arena;
    struct ifm_machine machine;
};

static int setup(void **context)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct ifm_error error = {0};
    bench->arena = ifm_arena_create();
    *context = bench;
    if (ifm_device_cuda.describe(0, &bench->machine, &error) == IFM_OK)
        return 0;
    print_error("%s\n", error.message);
    return -1;
}

static int teardown(void **context)
{
    struct bench *bench = *context;
    ifm_arena_destroy(bench->arena);
    free(bench);
    return 0;
}
#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* Lists of faults, up to one without any. */
struct fault_list {
    const struct planted_fault *faults;
    size_t n;
    bool arguments; /* a graph keeps those of its first step: these are planted where each step is launched by itself */
    bool (*fits)(const void *state); /* the arm; NULL: every one */
};
#define LIST(faults)                                                                                                   \
    {                                                                                                                  \
        faults, COUNT(faults), false, NULL                                                                             \
    }
#define LIST_OF_ARGUMENTS(faults, fits)                                                                                \
    {                                                                                                                  \
        faults, COUNT(faults), true, fits                                                                              \
    }
#define END_OF_LISTS                                                                                                   \
    {                                                                                                                  \
        NULL, 0, false, NULL                                                                                           \
    }

/* How many faults were refused. */
static inline size_t refuse_arm(struct bench *bench, const struct ifm_workload *workload, const struct ifm_arm *arm,
                                const struct fault_list *lists, bool no_graphs)
{
    const struct ifm_device_options options = planted_options(no_graphs);
    struct ifm_device *device;
    struct ifm_error error = {0};
    struct opened opened;
    size_t n = 0;
    if (ifm_device_cuda.open(&options, &device, &error) != IFM_OK ||
        open_arm_on(workload, arm, "cuda", device, 1, 7, bench->arena, &opened, &error) != IFM_OK)
        fail_msg("%s: %s", arm->name, error.message);
    const char *what = ifm_arena_printf(bench->arena, "%s, graphs %d", arm->name, !no_graphs);
    for (const struct fault_list *list = lists; list->n > 0; list++)
        if ((no_graphs || !list->arguments) && (list->fits == NULL || list->fits(opened.state))) {
            n += refuses_every_fault(&opened, what, list->faults, list->n, true);
        }
    ifm_implementation_close(opened.by, opened.state);
    device->ops->close(device);
    return n;
}

/* Every arm of a cell, with graphs and without. Settings as "path=value path=value", below the workload. */
static inline void refuse_cell(struct bench *bench, const struct ifm_workload *workload, const char *text,
                               size_t n_arms, const struct fault_list *lists)
{
    struct ifm_setting settings[PLANTED_SETTINGS];
    const size_t n =
        planted_settings(bench->arena, ifm_arena_printf(bench->arena, "%s.", workload->name), text, settings);
    struct ifm_arm_list arms;
    struct ifm_error error = {0};
    const char *why_not = NULL;
    if (workload->describe(settings, n, &bench->machine, bench->arena, &arms, &why_not, &error) != IFM_OK)
        fail_msg("%s", error.message);
    if (why_not != NULL) { /* a GPU that lacks what the cell is of; the fake one has all */
        print_message("%s\n", why_not);
        skip();
    }
    assert_int_equal(arms.n, n_arms);
    give_settings(&arms, settings, n);
    for (size_t i = 0; i < arms.n; i++) {
        (void)refuse_arm(bench, workload, &arms.items[i], lists, false);
        planted_count(workload->name, "cuda", arms.items[i].name,
                      refuse_arm(bench, workload, &arms.items[i], lists, true));
    }
}

static inline void planted_read(struct ifm_device *device, void *to, const void *from, size_t bytes)
{
    struct ifm_error error = {0};
    if (ifm_cuda_read(device, to, from, bytes, &error) != IFM_OK)
        fail_msg("%s", error.message);
}

static inline void planted_write(struct ifm_device *device, void *to, const void *from, size_t bytes)
{
    struct ifm_error error = {0};
    if (ifm_cuda_write(device, to, from, bytes, &error) != IFM_OK)
        fail_msg("%s", error.message);
}

/* Bits of an input flip before a step and back behind it, so that what the check reads is right again: of the upper
 * byte of each value of 16 bits. */
static inline void planted_flip(struct ifm_device *device, const void *at, size_t bytes, unsigned char bits)
{
    unsigned char kept[512];
    void *to = (void *)(uintptr_t)at;
    assert_true(bytes <= sizeof kept);
    planted_read(device, kept, at, bytes);
    for (size_t i = 1; i < bytes; i += 2)
        kept[i] ^= bits;
    planted_write(device, to, kept, bytes);
}

#endif
