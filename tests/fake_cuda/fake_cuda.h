/* A CUDA driver made of host memory and a scripted clock, for tests: it is built as libcuda.so.1 and opened as one.
 *
 * Modules are accepted when they are fat binaries, machine code or PTX by their first bytes; their kernels are known by
 * name and run on the host as C functions that do what the device code does, so that oracles of workloads judge real
 * results. Work is done at once and in order; the time of an event is the sum of the scripted durations before it.
 * Waiting for work takes as long as the script says, so that the host's clock and the events agree. A pointer that lies
 * in no allocation is an illegal access, and that error is sticky: nothing works until the primary context is reset.
 *
 * The script is the environment variable FAKE_CUDA, or set by fake_cuda_script: "key=value" separated by ';':
 *   version=12020        cuDriverGetVersion
 *   lacks=NAME           cuGetProcAddress does not know this function
 *   init=100             cuInit fails with this error
 *   devices=0            how many GPUs there are (default 1)
 *   sms=132              multiprocessors (default 2)
 *   memory=64            MiB of the card's memory (default 2048)
 *   oom_at=3             the third allocation, and each after it, fails
 *   oom_over=4096        an allocation of more bytes fails
 *   fails=KERNEL:5       from its fifth run on this kernel stops with an illegal access; "any" is every kernel
 *   fails_rows=FILE:3    it fails only once FILE has three lines
 *   stuck=1              not even a reset of the primary context helps
 *   missing=KERNEL       no module has this kernel
 *   wrong=KERNEL         one bit of what this kernel writes is wrong
 *   ns=KERNEL:2000,...   durations; without one a kernel takes 1 us, a copy or fill 2 us
 *   kernel_ns=100000     what everything lasts that `ns` does not name
 *   sleeps=1             who waits for the device sleeps most of the time, and does not spin
 *   launch_ns=1600       what a launch that is not in a graph adds (default 1600)
 *   khz=KERNEL:1755000,...  the clock while this kernel runs (default 1980000, its highest)
 *   reset_at=5           before the fifth stamp of the clock the cycle counters begin again at 0
 *   bus=0000:01:00.0     PCI bus id of the GPU
 *   ptx=80               what kernels were compiled from, ten times the compute capability (default 90)
 * Numbers of runs count from the start of the process, through resets. Thread rule: one thread. */
#ifndef IFM_TESTS_FAKE_CUDA_H
#define IFM_TESTS_FAKE_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exported, for tests that find them with dlsym. */
void fake_cuda_script(const char *script); /* forgets all counts */
void fake_cuda_observe(
    unsigned long long ns); /* what a profiler that looks on adds behind each kernel; 0 = none does */
unsigned long long fake_cuda_count(const char *what); /* see the table in fake_cuda.c: "kernels", "graphs alive", ... */

/* Told of everything: `what` is "kernel", "copy", "fill", "wait", or "call"; times in ns of the GPU, the number that
 * joins a call with what it started, and the graph of which it is a node (0 = none). */
typedef void fake_cuda_watcher(const char *what, const char *name, uint64_t start, uint64_t end, uint32_t number,
                               uint32_t graph, uint64_t bytes);
void fake_cuda_watch(fake_cuda_watcher *watcher);

/* ---- kernels.c ---- */
enum { FAKE_MOST_BYTES = 512 };
struct fake_launch {
    unsigned blocks, threads;
    _Alignas(16) unsigned char arguments[FAKE_MOST_BYTES]; /* the kernel's struct, by value */
};
struct fake_kernel {
    const char *name;
    size_t size;                                               /* of its struct; 0 = it takes none */
    bool (*run)(const struct fake_launch *launch, bool wrong); /* false = an illegal access */
};
/* The row after the last has no name. */
extern const struct fake_kernel fake_kernels[];

/* The GPU's timer, and the cycles that its multiprocessors have counted. */
uint64_t fake_cuda_now_ns(void);
uint64_t fake_cuda_cycles(void);

/* `n` bytes at `address` lie in one allocation. */
bool fake_cuda_owns(uint64_t address, uint64_t n);

#endif
