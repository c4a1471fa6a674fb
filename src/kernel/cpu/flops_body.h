/* Peak FLOP probes: chains of multiply-add in 8, 12 and 16 accumulators; compiled once per instruction set.
 *
 * The compiler contracts x * factor + term to one fused instruction where the set has it. */
#include "kernel/cpu/kernels.h"
#include "kernel/cpu/lanes.h"

/* Lane j of accumulator i starts at 1.5 + (17 i + j + 1) / 1024, exact in f32 like all that follows. */
IFM_INLINE floats start_value(int i)
{
    float lane[IFM_LANES];
    for (int j = 0; j < IFM_LANES; j++)
        lane[j] = 1.5f + (float)(17 * i + j + 1) / 1024.0f;
    floats value;
    memcpy(&value, lane, sizeof value);
    return value;
}

IFM_INLINE uint64_t chain(uint64_t rounds, float factor, float term, const int accumulators)
{
    floats x[16];
    const floats a = (floats){0} + factor, b = (floats){0} + term;
    for (int i = 0; i < accumulators; i++)
        x[i] = start_value(i);
    for (uint64_t round = 0; round < rounds; round++) {
        for (int i = 0; i < accumulators; i++)
            x[i] = x[i] * a + b;
        for (int i = 0; i < accumulators; i++)
            x[i] = x[i] * a + b;
    }
    uint64_t sum = 0;
    for (int i = 0; i < accumulators; i++) {
        float lane[IFM_LANES];
        memcpy(lane, &x[i], sizeof lane);
        for (int j = 0; j < IFM_LANES; j++)
            sum += (uint64_t)(lane[j] * IFM_FLOPS_SCALE);
    }
    return sum;
}

uint64_t IFM_KERNEL(ifm_flops_fma8)(uint64_t rounds, float factor, float term)
{
    return chain(rounds, factor, term, 8);
}

uint64_t IFM_KERNEL(ifm_flops_fma12)(uint64_t rounds, float factor, float term)
{
    return chain(rounds, factor, term, 12);
}

uint64_t IFM_KERNEL(ifm_flops_fma16)(uint64_t rounds, float factor, float term)
{
    return chain(rounds, factor, term, 16);
}
