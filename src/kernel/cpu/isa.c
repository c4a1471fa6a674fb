/* Which instruction sets may run here: cpuid for the processor, xgetbv for the operating system. */
#include "kernel/cpu/isa.h"

#include <stdint.h>
#include <string.h>
#include <threads.h>

#if defined(__x86_64__)
#include <cpuid.h>

struct cpuid {
    unsigned eax, ebx, ecx, edx;
};

static struct cpuid query(unsigned leaf, unsigned subleaf)
{
    struct cpuid r = {0, 0, 0, 0};
    if (__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0)
        return (struct cpuid){0, 0, 0, 0};
    return r;
}

/* Register state that the operating system saves on a context switch; 0 when it cannot say. */
static uint64_t saved_state(void)
{
    enum { OSXSAVE = 1U << 27 };
    if ((query(1, 0).ecx & OSXSAVE) == 0)
        return 0;
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool has_all(unsigned word, unsigned mask)
{
    return (word & mask) == mask;
}

/* x86-64-v3, as the files compiled with -march=x86-64-v3 may use all of it. */
static bool has_avx2(void)
{
    const unsigned leaf1_ecx = 1U << 0 | 1U << 9 | 1U << 12 | 1U << 13 | 1U << 19 | 1U << 20 | 1U << 22 | 1U << 23 |
                               1U << 28 | 1U << 29; /* SSE3 SSSE3 FMA CX16 SSE4.1 SSE4.2 MOVBE POPCNT AVX F16C */
    const unsigned leaf7_ebx = 1U << 3 | 1U << 5 | 1U << 8; /* BMI1 AVX2 BMI2 */
    const unsigned lzcnt = 1U << 5;
    const uint64_t xmm_ymm = 0x6;
    return has_all(query(1, 0).ecx, leaf1_ecx) && has_all(query(7, 0).ebx, leaf7_ebx) &&
           has_all(query(0x80000001U, 0).ecx, lzcnt) && (saved_state() & xmm_ymm) == xmm_ymm;
}

/* x86-64-v4. */
static bool has_avx512(void)
{
    const unsigned leaf7_ebx = 1U << 16 | 1U << 17 | 1U << 28 | 1U << 30 | 1U << 31; /* F DQ CD BW VL */
    const uint64_t xmm_ymm_zmm = 0xe6;
    return has_avx2() && has_all(query(7, 0).ebx, leaf7_ebx) && (saved_state() & xmm_ymm_zmm) == xmm_ymm_zmm;
}

/* The byte dot products, in 512 bits. */
static bool has_avx512vnni(void)
{
    return has_avx512() && has_all(query(7, 0).ecx, 1U << 11);
}
#endif

static const char *const all_names[IFM_ISA_LIMIT] = {"avx512vnni", "avx512", "avx2", "sse2", "scalar"};

const char *ifm_isa_name(int index)
{
    return index >= 1 && index <= IFM_ISA_LIMIT ? all_names[index - 1] : "auto";
}

static once_flag once = ONCE_FLAG_INIT;
static size_t best = IFM_ISA_LIMIT - 1; /* index of the first supported one */

static void find_best(void)
{
#if defined(__x86_64__)
    best = has_avx512vnni() ? 0 : has_avx512() ? 1 : has_avx2() ? 2 : 3;
#endif
}

/* Queried once: a virtual machine traps each cpuid, at about 20 us. */
void ifm_isas(const char *const **names, size_t *n)
{
    call_once(&once, find_best);
    *names = all_names + best;
    *n = IFM_ISA_LIMIT - best;
}

size_t ifm_isa_supported(const char **names, size_t limit)
{
    const char *const *found;
    size_t n;
    ifm_isas(&found, &n);
    if (n > limit)
        n = limit;
    memcpy(names, found, n * sizeof *names);
    return n;
}
