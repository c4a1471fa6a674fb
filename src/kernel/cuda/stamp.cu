/* The cycle counter of each multiprocessor, and the time: two such stamps give its true mean clock between them. Device
 * code only. */
#include "kernel/cuda/stamp.h"

/* One stamp for each block, on whichever multiprocessor runs it. */
extern "C" __global__ void ifm_stamp(ifm_stamp_arguments a)
{
    if (threadIdx.x != 0)
        return;
    struct ifm_stamp now = {};
    asm volatile("mov.u32 %0, %%smid;" : "=r"(now.multiprocessor));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now.ns));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now.cycles));
    a.out[blockIdx.x] = now;
}
