/* Where the clock of each multiprocessor stands, and the time: two of these stamps give its real mean clock between
 * them. Device code only. */
#include "kernel/cuda/stamp.h"

/* One stamp a block, wherever it lands. */
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
