/* What the emulated kernels are held against: kv/format.h and the encoders, which are C. */
#ifndef IFM_TESTS_EMULATED_KV_FORMAT_H
#define IFM_TESTS_EMULATED_KV_FORMAT_H

#include <cstddef>
#include <cstdint>

struct ifm_kv_fragment;

extern "C" {
struct ifm_kv_layout {
    int format;
    unsigned head_dim, tokens, bits, n_promoted;
    bool rotated;
    size_t k_scale, k_zero, v_scale, promoted, k_codes, v_codes, k_low, page_bytes;
};
ifm_kv_layout ifm_kv_layout_of(int format, unsigned head_dim);
ifm_kv_fragment ifm_kv_fragment_of(const ifm_kv_layout *layout);
void ifm_kv_pages_to_fragments(const ifm_kv_fragment *, const void *canonical, void *out, uint64_t pages);
void ifm_kv_page_read(const ifm_kv_layout *, const void *page, unsigned tokens, float *k, float *v);
void ifm_kv_encode_int8_scalar(const ifm_kv_layout *, const float *, const float *, unsigned, void *);
void ifm_kv_encode_e4m3_scalar(const ifm_kv_layout *, const float *, const float *, unsigned, void *);
void ifm_kv_encode_int4_scalar(const ifm_kv_layout *, const float *, const float *, unsigned, void *);
void ifm_kv_encode_int2_scalar(const ifm_kv_layout *, const float *, const float *, unsigned, void *);
}

#endif
