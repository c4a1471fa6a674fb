/* What the cuDNN for tests asks of the driver for tests: the kernel fake_cudnn (tests/fake_cuda/attention.c). */
#ifndef IFM_TESTS_FAKE_CUDNN_H
#define IFM_TESTS_FAKE_CUDNN_H

#include "kernel/cuda/attention.h"

struct fake_sdpa {
    struct ifm_attention_strided at; /* at.of.seq_len: queries of a head; lengths NULL: all keys */
    uint32_t keys;                   /* of a head of K and V */
};

#endif
