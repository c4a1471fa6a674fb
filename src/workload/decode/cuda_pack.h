/* Compressed pages made on a GPU, by the kernels of kernel/cuda/kv_pack.cu. Thread rule: the thread that drives the
 * device. */
#ifndef IFM_WORKLOAD_DECODE_CUDA_PACK_H
#define IFM_WORKLOAD_DECODE_CUDA_PACK_H

#include "device/cuda.h"
#include "kernel/cuda/kv_pack.h"
#include "kv/format.h"

struct ifm_decode_pack {
    struct ifm_kv_pack arguments;
    struct ifm_cuda_launch launch;
};

/* For pages of `layout`, of a compressed format. */
IFM_CHECKED enum ifm_status ifm_decode_pack_open(struct ifm_device *device, const struct ifm_kv_layout *layout,
                                                 struct ifm_decode_pack *out, struct ifm_error *error);
/* Put on the stream: `n` jobs, which lie on the device, of each of `layers`, out of the rows at `from` into the pages
 * at `to`. */
void ifm_decode_pack_launch(struct ifm_device *device, struct ifm_decode_pack *pack, const uint16_t *from,
                            unsigned char *to, const struct ifm_kv_pack_job *jobs, unsigned n, unsigned layers);

#endif
