/* The empty step, and one of known length. Device code only. */
#include "kernel/cuda/null.h"

extern "C" __global__ void ifm_null()
{
}

/* Dependent additions, one thread: an effect of known size. Their result is stored, so that the compiler keeps them. */
extern "C" __global__ void ifm_null_spin(ifm_null_spin_arguments a)
{
    uint64_t sum = *a.value;
    for (uint64_t i = 0; i < a.n; i++) {
        sum += i;
        asm volatile("" : "+l"(sum));
    }
    *a.value = sum;
}
