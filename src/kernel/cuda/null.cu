/* The empty step, and one of known length. Device code only. */
#include <cstdint>

extern "C" __global__ void ifm_null()
{
}

/* Dependent additions, one thread: an effect of known size. Their result is stored, so that the compiler keeps them. */
extern "C" __global__ void ifm_null_spin(uint64_t n, uint64_t *value)
{
    uint64_t sum = *value;
    for (uint64_t i = 0; i < n; i++) {
        sum += i;
        asm volatile("" : "+l"(sum));
    }
    *value = sum;
}
