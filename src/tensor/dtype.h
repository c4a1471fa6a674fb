/* Types of tensor elements, by the names of the safetensors format, and the values of floating-point ones as f32. Pure
 * functions.
 *
 * Types of less than a byte (F4, F6) are not supported. F8_E4M3 is OCP e4m3 without infinity ("e4m3fn"). */
#ifndef IFM_TENSOR_DTYPE_H
#define IFM_TENSOR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

enum ifm_dtype {
    IFM_DTYPE_BOOL = 0,
    IFM_DTYPE_U8,
    IFM_DTYPE_I8,
    IFM_DTYPE_U16,
    IFM_DTYPE_I16,
    IFM_DTYPE_U32,
    IFM_DTYPE_I32,
    IFM_DTYPE_U64,
    IFM_DTYPE_I64,
    IFM_DTYPE_F8_E5M2,
    IFM_DTYPE_F8_E4M3,
    IFM_DTYPE_F16,
    IFM_DTYPE_BF16,
    IFM_DTYPE_F32,
    IFM_DTYPE_F64,
    IFM_DTYPES
};

const char *ifm_dtype_name(enum ifm_dtype dtype);
/* False for a name that is none of them. */
bool ifm_dtype_find(const char *name, enum ifm_dtype *out);
unsigned ifm_dtype_bytes(enum ifm_dtype dtype); /* of an element */
bool ifm_dtype_is_float(enum ifm_dtype dtype);
/* "BOOL, U8, ... F64". */
const char *ifm_dtype_names(void);

/* `n` elements of a floating-point type from `bytes` (little-endian, of any alignment) as f32: exact where f32 can,
 * else to the nearest, ties to even; an F64 beyond f32 becomes infinity. */
void ifm_dtype_to_f32(enum ifm_dtype dtype, const void *bytes, size_t n, float *out);

#endif
