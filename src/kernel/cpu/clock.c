/* A chain of additions, each of the sum before it: a core does one a cycle, however many it could do side by side, so
 * that their rate is the core's clock. */
#include "kernel/cpu/kernels.h"

#define ADD                                                                                                            \
    x += step;                                                                                                         \
    __asm__ volatile("" : "+r"(x)); /* the compiler may not join two of them */
#define ADD_8 ADD ADD ADD ADD ADD ADD ADD ADD
#define ADD_64 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8

uint64_t ifm_clock_chain(uint64_t rounds, uint64_t step)
{
    uint64_t x = 0;
    __asm__ volatile("" : "+r"(step)); /* in a register: some cores add a small constant without taking a cycle */
    for (uint64_t round = 0; round < rounds; round++) {
        ADD_64
        ADD_64
    }
    return x;
}
