/* Where the clock of each multiprocessor stands, and the time: two of these stamps give its real mean clock between
 * them. Device code only. */
#include <cstdint>

/* As struct ifm_stamp of device/stamp.h. */
struct stamp {
    uint32_t multiprocessor, unused;
    uint64_t cycles, ns;
};

/* One stamp a block, wherever it lands. */
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
