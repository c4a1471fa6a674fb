/* Launches that overlap (ifm_cuda_launch_early): a kernel begins before the one in front has ended. Device code only.
 *
 * Without such a launch both do nothing. A kernel that lets the next one begin waits first: then no more than two run at
 * a time, and all that lies before these has ended. */
#ifndef IFM_KERNEL_CUDA_OVERLAP_CUH
#define IFM_KERNEL_CUDA_OVERLAP_CUH

namespace
{

/* The next launch may begin now; what it reads of ours waits for our end. */
__device__ __forceinline__ void let_next_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* The launch in front has ended, and its writes are seen. */
__device__ __forceinline__ void wait_for_previous()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

} // namespace

#endif
