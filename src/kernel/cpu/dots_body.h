/* Peak probes of byte products: chains of unsigned by signed bytes, four products added to each lane of 32 bits, in as
 * many accumulators as hide the latency of any of the instructions; compiled once per instruction set.
 *
 * IFM_DOT_BYTES: one instruction does it (VNNI); otherwise pairs of products, added in pairs, and plain C where vectors
 * are one word. The factor is hidden from the compiler at each step, or it would multiply once. */
#include "kernel/cpu/kernels.h"
#include "kernel/cpu/lanes.h"

enum { PRODUCTS = 4, ACCUMULATORS = 12 };

#if IFM_LANES == 1
typedef uint32_t bytes;
IFM_INLINE bytes all(uint8_t value)
{
    return value;
}
IFM_INLINE bytes add_products(bytes sum, bytes a, bytes b)
{
    for (int i = 0; i < PRODUCTS; i++) {
        __asm__ volatile("" : "+r"(a));
        sum += a * b;
    }
    return sum;
}
#define HIDE(value) __asm__ volatile("" : "+r"(value))
#else
#if IFM_LANES == 16
typedef __m512i bytes;
#define OF(op) _mm512_##op
#define HIDE(value) __asm__ volatile("" : "+v"(value))
#else
typedef __m256i bytes;
#define OF(op) _mm256_##op
#define HIDE(value) __asm__ volatile("" : "+x"(value))
#endif
IFM_INLINE bytes all(uint8_t value)
{
    return OF(set1_epi8)((char)value);
}
IFM_INLINE bytes add_products(bytes sum, bytes a, bytes b)
{
#if defined(IFM_DOT_BYTES)
    return OF(dpbusd_epi32)(sum, a, b);
#else
    return OF(add_epi32)(sum, OF(madd_epi16)(OF(maddubs_epi16)(a, b), OF(set1_epi16)(1)));
#endif
}
#endif

/* Lane j of accumulator i starts at 17 i + j. */
IFM_INLINE bytes start_value(int i)
{
    uint32_t lane[IFM_LANES];
    for (int j = 0; j < IFM_LANES; j++)
        lane[j] = (uint32_t)(17 * i + j);
    bytes value;
    memcpy(&value, lane, sizeof value);
    return value;
}

uint64_t IFM_KERNEL(ifm_dots_dot12)(uint64_t rounds, uint8_t left, uint8_t right)
{
    bytes x[ACCUMULATORS], a = all(left);
    const bytes b = all(right);
    for (int i = 0; i < ACCUMULATORS; i++)
        x[i] = start_value(i);
    for (uint64_t round = 0; round < rounds; round++)
        for (int twice = 0; twice < 2; twice++)
            for (int i = 0; i < ACCUMULATORS; i++) {
                HIDE(a);
                x[i] = add_products(x[i], a, b);
            }
    uint64_t sum = 0;
    for (int i = 0; i < ACCUMULATORS; i++) {
        uint32_t lane[IFM_LANES];
        memcpy(lane, &x[i], sizeof lane);
        for (int j = 0; j < IFM_LANES; j++)
            sum += lane[j];
    }
    return sum;
}
