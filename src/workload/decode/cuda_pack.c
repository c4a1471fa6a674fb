/* Launches of the kernels of kernel/cuda/kv_pack.cu. */
#include "workload/decode/cuda_pack.h"

#include <stdio.h>

_Static_assert(IFM_KV_PAGE + 0 == IFM_KV_PACK_TOKENS, "pages of both are alike");

enum ifm_status ifm_decode_pack_open(struct ifm_device *device, const struct ifm_kv_layout *l,
                                     struct ifm_decode_pack *out, struct ifm_error *error)
{
    char name[32];
    snprintf(name, sizeof name, "ifm_kv_pack_%s", ifm_kv_format_name(l->format));
    *out = (struct ifm_decode_pack){.arguments = {.head_dim = l->head_dim,
                                                  .page_bytes = (uint32_t)l->page_bytes,
                                                  .k_scale = (uint32_t)l->k_scale,
                                                  .k_zero = (uint32_t)l->k_zero,
                                                  .v_scale = (uint32_t)l->v_scale,
                                                  .promoted = (uint32_t)l->promoted,
                                                  .k_codes = (uint32_t)l->k_codes,
                                                  .v_codes = (uint32_t)l->v_codes,
                                                  .k_low = (uint32_t)l->k_low}};
    out->launch.threads = IFM_KV_PACK_THREADS;
    out->launch.shared =
        l->format == IFM_KV_E4M3 ? IFM_KV_PACK_SHARED_E4M3(l->head_dim) : IFM_KV_PACK_SHARED(l->head_dim);
    IFM_TRY(ifm_cuda_find(device, "kv_pack", name, &out->launch.function, error));
    return ifm_cuda_allow_shared(device, out->launch.function, out->launch.shared, error);
}

void ifm_decode_pack_launch(struct ifm_device *device, struct ifm_decode_pack *pack, const uint16_t *from,
                            unsigned char *to, const struct ifm_kv_pack_job *jobs, unsigned n, unsigned layers)
{
    pack->arguments.from = from;
    pack->arguments.to = to;
    pack->arguments.jobs = jobs;
    pack->arguments.n_jobs = n;
    pack->launch.blocks = 2 * n * layers;
    pack->launch.arguments = &pack->arguments;
    if (n > 0)
        ifm_cuda_launch(device, &pack->launch);
}
