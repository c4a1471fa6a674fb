/* The shape that the settings of gemm mean. */
#include "workload/gemm/gemm.h"

struct ifm_gemm_shape ifm_gemm_shape_of(const struct ifm_gemm_settings *s, enum ifm_gemm_format format)
{
    static const unsigned groups[] = {128, 64, 32};
    return (struct ifm_gemm_shape){s->m, s->n, s->k, groups[s->group], format};
}
