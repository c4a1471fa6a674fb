/* Launches that overlap (ifm_cuda_launch_early; compute capability 9.0). Device code only.
 *
 * A grid that may begin early is there while the one in front of it ends: what its launch costs, and what it can do
 * without the other's results, is hidden. Whoever is launched so must call wait_for_previous in every block. */
#ifndef IFM_KERNEL_CUDA_EARLY_CUH
#define IFM_KERNEL_CUDA_EARLY_CUH

namespace
{

/* The blocks of the next grid may begin, once all of this one are there; what they read of ours waits for our end. */
__device__ __forceinline__ void let_next_begin()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Until the grid in front of this one has ended, and what it wrote is there. */
__device__ __forceinline__ void wait_for_previous()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

} // namespace

#endif
