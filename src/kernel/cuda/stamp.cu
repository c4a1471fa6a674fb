/* The cycle counter of each multiprocessor, and the time: two such stamps give its true mean clock between them. Device
 * code only. */
#include <cstdint>

/* As struct ifm_stamp of device/stamp.h. */
struct stamp {
    uint32_t multiprocessor, unused;
    uint64_t cycles, ns;
};

/* One stamp for each block, on whichever multiprocessor runs it. */
extern "C" __global__ void ifm_stamp(stamp *out)
{
    if (threadIdx.x != 0)
        return;
    stamp now = {};
    asm volatile("mov.u32 %0, %%smid;" : "=r"(now.multiprocessor));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now.ns));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now.cycles));
    out[blockIdx.x] = now;
}
