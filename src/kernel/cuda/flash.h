/* The tiles of the kernels of flash.cu, whose arguments are those of attention.h: C and CUDA. */
#ifndef IFM_KERNEL_CUDA_FLASH_H
#define IFM_KERNEL_CUDA_FLASH_H

#include "kernel/cuda/attention.h"

/* F(name of the head dimension, head_dim, m16 tiles of a warp, warps, keys of a tile, keys of a part of it, blocks of a
 * multiprocessor): the queries of a block are 16 x tiles x warps. */
#define IFM_FLASH_KERNELS(F)                                                                                           \
    F(32, 2, 4, 64, 32, 3)                                                                                             \
    F(64, 2, 4, 64, 64, 2)                                                                                             \
    F(96, 1, 4, 64, 32, 3)                                                                                             \
    F(128, 2, 8, 64, 32, 1)                                                                                            \
    F(160, 1, 4, 32, 32, 2)                                                                                            \
    F(192, 1, 4, 32, 32, 2)                                                                                            \
    F(224, 1, 4, 32, 32, 2)                                                                                            \
    F(256, 1, 4, 32, 32, 1)

enum { IFM_FLASH_STAGES = 2, IFM_FLASH_PAD = 8 /* values behind a row in shared memory: its banks differ */ };

/* Dynamic shared memory of a block, bytes: its queries, and IFM_FLASH_STAGES tiles of K and V. */
#define IFM_FLASH_SHARED(dim, tiles, warps, keys)                                                                      \
    (2 * ((dim) + IFM_FLASH_PAD) * (16 * (tiles) * (warps) + 2 * IFM_FLASH_STAGES * (keys)))

/* Of flash_sm90.cu, for compute capability 9.0. F(head_dim, warpgroups, keys of a tile, blocks of a multiprocessor): a
 * block has 64 x warpgroups queries. Of two for a head dimension the first is faster, but where it takes one wave more.
 */
#define IFM_HOPPER_KERNELS(F)                                                                                          \
    F(64, 1, 64, 3)                                                                                                    \
    F(64, 2, 64, 2)                                                                                                    \
    F(128, 2, 64, 1)

enum { IFM_HOPPER_STAGES = 3 };
#define IFM_HOPPER_SHARED(dim, keys) (IFM_HOPPER_STAGES * 2 * 2 * (keys) * (dim) + 1024)

#endif
