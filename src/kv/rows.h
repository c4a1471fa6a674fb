/* Copies between f32 rows and f16 pages, token by token, on 128-bit vectors, which every 64-bit processor has.
 *
 * Rows are f32 [tokens][head_dim]; pages are of an f16 layout (kv/format.h). Must never allocate. Pure functions. */
#ifndef IFM_KV_ROWS_H
#define IFM_KV_ROWS_H

#include "kv/format.h"

/* to[i] = from[i] rounded to f16; n is a multiple of 8. */
void ifm_kv_round(const float *from, size_t n, float *to);
/* Put one token's K and V into slot `slot`. */
void ifm_kv_page_put(const struct ifm_kv_layout *layout, void *page, unsigned slot, const float *k, const float *v);
/* All slots as f32 rows: ifm_kv_page_read of a full f16 page, fast. */
void ifm_kv_page_rows(const struct ifm_kv_layout *layout, const void *page, float *k, float *v);
/* Set slots `from` and on to K = V = 0. */
void ifm_kv_page_blank(const struct ifm_kv_layout *layout, void *page, unsigned from);

#endif
