/* What the kernels of plugins do, in C: those of examples/plugin_cuda and tests/plugin/gpu.c. */
#include "fake_cuda/kernels.h"

#include <math.h>

/* A row a block. */
bool fake_plugin_rmsnorm(const struct fake_launch *launch, bool wrong)
{
    const struct {
        const float *x, *weight;
        float *out;
        uint32_t width;
        float epsilon;
    } *a = (const void *)launch->arguments;
    const uint64_t values = (uint64_t)launch->blocks * a->width;
    if (!fake_cuda_owns((uint64_t)(uintptr_t)a->x, values * sizeof *a->x) ||
        !fake_cuda_owns((uint64_t)(uintptr_t)a->weight, a->width * sizeof *a->weight) ||
        !fake_cuda_owns((uint64_t)(uintptr_t)a->out, values * sizeof *a->out))
        return false;
    for (uint64_t row = 0; row < launch->blocks; row++) {
        const float *x = a->x + row * a->width;
        double sum = 0;
        for (uint32_t i = 0; i < a->width; i++)
            sum += (double)x[i] * x[i];
        const float scale = (float)(1 / sqrt(sum / a->width + a->epsilon));
        for (uint32_t i = 0; i < a->width; i++)
            a->out[row * a->width + i] = x[i] * scale * a->weight[i];
    }
    if (wrong)
        a->out[0] *= 1.01f;
    return true;
}

bool fake_plugin_add(const struct fake_launch *launch, bool wrong)
{
    const struct {
        const float *x;
        float *out;
        uint32_t n;
        float term;
    } *a = (const void *)launch->arguments;
    if (!fake_cuda_owns((uint64_t)(uintptr_t)a->x, a->n * sizeof *a->x) ||
        !fake_cuda_owns((uint64_t)(uintptr_t)a->out, a->n * sizeof *a->out))
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        a->out[i] = a->x[i] + a->term + wrong;
    return true;
}

const unsigned char *fake_plugin_sizes(const struct fake_kernel *kernel)
{
    static const unsigned char rmsnorm[] = {8, 8, 8, 4, 4, 0}, add[] = {8, 8, 4, 4, 0};
    return kernel->run == fake_plugin_rmsnorm ? rmsnorm : kernel->run == fake_plugin_add ? add : NULL;
}
