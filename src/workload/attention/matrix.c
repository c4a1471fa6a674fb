/* The ten configurations of the specification's baseline. */
#include "workload/attention/matrix.h"

#include <stddef.h>

static const struct ifm_attention_config configs[] = {
    {"b32h8s128", 32, 8, 128},   {"b32h8s256", 32, 8, 256},   {"b32h8s512", 32, 8, 512}, {"b32h8s1024", 32, 8, 1024},
    {"b32h8s2048", 32, 8, 2048}, {"b8h8s512", 8, 8, 512},     {"b16h8s512", 16, 8, 512}, {"b64h8s512", 64, 8, 512},
    {"b32h4s512", 32, 4, 512},   {"b32h16s512", 32, 16, 512},
};

const struct ifm_attention_config *ifm_attention_config(int index)
{
    return index >= 1 && (size_t)index <= sizeof configs / sizeof configs[0] ? &configs[index - 1] : NULL;
}
