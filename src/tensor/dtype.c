/* Element types. Owns nothing. Loads are by byte, so that neither alignment nor byte order matters. */
#include "tensor/dtype.h"

#include "base/half.h"
#include <stdint.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned bytes;
    bool is_float;
} rows[IFM_DTYPES] = {
    [IFM_DTYPE_BOOL] = {"BOOL", 1, false},      [IFM_DTYPE_U8] = {"U8", 1, false},
    [IFM_DTYPE_I8] = {"I8", 1, false},          [IFM_DTYPE_U16] = {"U16", 2, false},
    [IFM_DTYPE_I16] = {"I16", 2, false},        [IFM_DTYPE_U32] = {"U32", 4, false},
    [IFM_DTYPE_I32] = {"I32", 4, false},        [IFM_DTYPE_U64] = {"U64", 8, false},
    [IFM_DTYPE_I64] = {"I64", 8, false},        [IFM_DTYPE_F8_E5M2] = {"F8_E5M2", 1, true},
    [IFM_DTYPE_F8_E4M3] = {"F8_E4M3", 1, true}, [IFM_DTYPE_F16] = {"F16", 2, true},
    [IFM_DTYPE_BF16] = {"BF16", 2, true},       [IFM_DTYPE_F32] = {"F32", 4, true},
    [IFM_DTYPE_F64] = {"F64", 8, true},
};

const char *ifm_dtype_name(enum ifm_dtype dtype)
{
    return rows[dtype].name;
}

bool ifm_dtype_find(const char *name, enum ifm_dtype *out)
{
    for (unsigned i = 0; i < IFM_DTYPES; i++)
        if (strcmp(rows[i].name, name) == 0) {
            *out = (enum ifm_dtype)i;
            return true;
        }
    return false;
}

unsigned ifm_dtype_bytes(enum ifm_dtype dtype)
{
    return rows[dtype].bytes;
}

bool ifm_dtype_is_float(enum ifm_dtype dtype)
{
    return rows[dtype].is_float;
}

const char *ifm_dtype_names(void)
{
    return "BOOL, U8, I8, U16, I16, U32, I32, U64, I64, F8_E5M2, F8_E4M3, F16, BF16, F32, F64";
}

static inline uint16_t word16(const unsigned char *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t word32(const unsigned char *at)
{
    return (uint32_t)word16(at) | (uint32_t)word16(at + 2) << 16;
}

static inline uint64_t word64(const unsigned char *at)
{
    return (uint64_t)word32(at) | (uint64_t)word32(at + 4) << 32;
}

static float f64_at(const unsigned char *at)
{
    const uint64_t bits = word64(at);
    double x;
    memcpy(&x, &bits, sizeof x);
    return (float)x;
}

/* A loop of its own for each type: the compiler vectorises them. */
#define EACH(value)                                                                                                    \
    for (size_t i = 0; i < n; i++)                                                                                     \
        out[i] = (value);                                                                                              \
    break

void ifm_dtype_to_f32(enum ifm_dtype dtype, const void *bytes, size_t n, float *out)
{
    const unsigned char *at = bytes;
    switch (dtype) {
    case IFM_DTYPE_F8_E5M2: /* the upper byte of an f16 */
        EACH(ifm_f16_to_f32((uint16_t)(at[i] << 8)));
    case IFM_DTYPE_F8_E4M3:
        EACH(ifm_e4m3_to_f32(at[i]));
    case IFM_DTYPE_F16:
        EACH(ifm_f16_to_f32(word16(at + 2 * i)));
    case IFM_DTYPE_BF16:
        EACH(ifm_bf16_to_f32(word16(at + 2 * i)));
    case IFM_DTYPE_F32:
        EACH(ifm_f32_of_bits(word32(at + 4 * i)));
    default:
        EACH(f64_at(at + 8 * i));
    }
}
