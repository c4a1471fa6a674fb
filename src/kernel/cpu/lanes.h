/* Vectors of the instruction set that a file is compiled for, as the compiler's own vector types.
 *
 * A file defines IFM_ISA (avx512, avx2, sse2 or scalar) and IFM_LANE_BYTES, then includes this and a body. */
#ifndef IFM_KERNEL_CPU_LANES_H
#define IFM_KERNEL_CPU_LANES_H

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define IFM_JOIN_(a, b) a##_##b
#define IFM_JOIN(a, b) IFM_JOIN_(a, b)
/* IFM_KERNEL(ifm_read_linear) is ifm_read_linear_avx512 in the file for avx512. */
#define IFM_KERNEL(name) IFM_JOIN(name, IFM_ISA)
#define IFM_INLINE static inline __attribute__((always_inline))

/* Keeps the compiler from turning a loop of stores into a call of memset or memcpy. */
#define IFM_KEEP_LOOP() __asm__ volatile("" ::: "memory")

#if IFM_LANE_BYTES == 8
typedef uint64_t words __attribute__((may_alias));
typedef float floats;
#define IFM_LANES 1
#else
typedef uint64_t words __attribute__((vector_size(IFM_LANE_BYTES), may_alias));
typedef float floats __attribute__((vector_size(IFM_LANE_BYTES)));
#define IFM_LANES (IFM_LANE_BYTES / 4)
#endif

/* Loads and stores at any multiple of four bytes. */
#if IFM_LANE_BYTES == 8
IFM_INLINE floats load_floats(const float *from)
{
    return *from;
}
IFM_INLINE void store_floats(float *to, floats value)
{
    *to = value;
}
#else
typedef float loose_floats __attribute__((vector_size(IFM_LANE_BYTES), aligned(4), may_alias));
IFM_INLINE floats load_floats(const float *from)
{
    return *(const loose_floats *)from;
}
IFM_INLINE void store_floats(float *to, floats value)
{
    *(loose_floats *)to = value;
}
#endif

#if defined(__x86_64__)
#define IFM_HAS_NONTEMPORAL 1
IFM_INLINE void store_nontemporal(words *to, words value)
{
#if IFM_LANE_BYTES == 64
    _mm512_stream_si512((__m512i *)to, (__m512i)value);
#elif IFM_LANE_BYTES == 32
    _mm256_stream_si256((__m256i *)to, (__m256i)value);
#elif IFM_LANE_BYTES == 16
    _mm_stream_si128((__m128i *)to, (__m128i)value);
#else
    _mm_stream_si64((long long *)to, (long long)value);
#endif
}
#endif

#endif
