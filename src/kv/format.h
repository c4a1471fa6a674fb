/* The pages of the elastic KV cache: which bytes they hold, in which order, and what the bytes mean.
 *
 * A page holds K and V of IFM_KV_PAGE successive tokens of one KV head (of one sequence and layer). These bytes are
 * canonical: every instruction set writes and reads the same. A page starts at a multiple of 64 bytes, and so does
 * every section in it. Owns the formats; must never allocate, and knows no cache and no thread. Pure functions.
 *
 * Formats (D = head_dim, a multiple of 32 from 32 to 256; T = IFM_KV_PAGE):
 *
 *   f16    K and V in binary16.
 *   e4m3   K and V in OCP e4m3, each multiplied by one f32 scale of the page.
 *   int8   K: u8 code per value, f16 scale and zero per channel over the page's tokens: k = zero + code * scale.
 *          V: s8 code in [-127, 127], f16 scale per token: v = code * scale.
 *   int4   K: as int8 with codes 0 .. 15. V: rotated, v' = code' * scale with code' = code - 7.5, code 0 .. 15.
 *   int2   K: codes 0 .. 3, but codes 0 .. 15 in the D/8 promoted channels, those of the widest range in this page.
 *          V: rotated, code' = code - 1.5, code 0 .. 3.
 *
 * Rotation: v' = H v with H the orthonormal Walsh-Hadamard matrix of the largest power of two that divides D, applied
 * to each run of that many channels; H is its own inverse. Attention sums rotated rows and rotates the sum once.
 * Ranges of 4 and 2 bits are chosen by a search for the least squared error (see kernel/cpu/kv_encode.h).
 * Sources: per-channel K and per-token V: KIVI (Liu et al. 2024); promoted channels: Kitty (2026); rotated V: KVLinC,
 * QuaRot (Ashkboos et al. 2024).
 *
 * Order of the codes. All of one size of block: a block is 16 * (8 / bits) items of the inner axis (int8: 16, int4: 32,
 * int2: 64), and
 *
 *   K integer codes  [token block][channel / 4][16 tokens][4 channels], one byte each; field f of the byte (bits
 *                    f * bits ... ) belongs to token 16 f + i of the block.
 *
 *   V integer codes  [channel block][token / 4][16 channels][4 tokens], one byte each; field f belongs to channel
 *                    16 f + i of the block. A last block that D does not fill is there in full, its codes zero.
 *
 *   K f16, e4m3      [token block of 64][channel][64 tokens]
 *
 *   V f16, e4m3      [channel block of 64][token][64 channels]; the last block is as narrow as what is left of D.
 *
 * so that one 64-byte load gives 16 lanes of four successive channels (or tokens), which is what a u8 x s8 dot product
 * of four takes, and the fields of a byte share the other factor.
 *
 * int2, promoted channels: `promoted` lists their D/8 channel numbers, ascending, one byte each. In the K codes such a
 * channel holds the upper two bits of its code (code >> 2); the lower two (code & 3) stand in the section `k_low`,
 * which is laid out like K codes of 2 bits with D/8 channels in the order of the list. So k = zero + scale * (4 * upper
 * + lower), and elsewhere k = zero + scale * code.
 *
 * Token slots that a partial page does not use hold the codes of K = V = 0 as far as the scales allow, and are masked
 * by the reader; their V scale is 0. */
#ifndef IFM_KV_FORMAT_H
#define IFM_KV_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IFM_KV_PAGE 128 /* tokens */
#define IFM_KV_WIDE 64  /* tokens or channels in a block of f16 and e4m3 */
#define IFM_KV_LINE 64  /* bytes: alignment of pages and sections */
#define IFM_KV_DIM_MOST 256

enum ifm_kv_format { IFM_KV_F16 = 0, IFM_KV_INT8, IFM_KV_E4M3, IFM_KV_INT4, IFM_KV_INT2, IFM_KV_FORMATS };

/* Where the sections of a page lie; offsets in bytes from its start, 0 for a section that the format lacks unless it
 * is the first. */
struct ifm_kv_layout {
    enum ifm_kv_format format;
    unsigned head_dim;
    unsigned tokens;     /* slots of the page: IFM_KV_PAGE, or IFM_KV_WIDE in a sink page */
    unsigned bits;       /* of a code: 16, 8, 4, 2 */
    unsigned n_promoted; /* channels */
    bool rotated;        /* V is */
    size_t k_scale;      /* f16[D]; e4m3: f32[1] */
    size_t k_zero;       /* f16[D] */
    size_t v_scale;      /* f16[T]; e4m3: f32[1] */
    size_t promoted;     /* u8[D/8] */
    size_t k_codes, v_codes;
    size_t k_low;      /* lower bits of promoted channels */
    size_t page_bytes; /* of all sections, a multiple of 64 */
};

/* `head_dim` is a multiple of 32 from 32 to 256. */
struct ifm_kv_layout ifm_kv_layout_of(enum ifm_kv_format format, unsigned head_dim);
/* An f16 page of IFM_KV_WIDE tokens only, in which a cache keeps its first tokens. */
struct ifm_kv_layout ifm_kv_sink_layout(unsigned head_dim);
/* "f16", "int8", "e4m3", "int4", "int2". */
const char *ifm_kv_format_name(enum ifm_kv_format format);

/* The reference reading of a page: K and V of its first `tokens` tokens as f32, rows of head_dim, V rotated back (in
 * f64, then rounded). Slow, straightforward, the definition of the format. */
void ifm_kv_page_read(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, float *k, float *v);

/* H x in place, n runs of head_dim values each; orthonormal, its own inverse (fast Walsh-Hadamard, Fino and Algazi
 * 1976). */
void ifm_kv_rotate(float *x, unsigned head_dim, size_t n);

/* Write K and V rows (f32, each row head_dim values; rows [tokens][head_dim], tokens <= IFM_KV_PAGE) into a page. The
 * implementations of the instruction sets write the same bytes. No NaN or infinity is lost: a channel (K) or token (V)
 * that holds one reads back as NaN. */
typedef void ifm_kv_encode_fn(const struct ifm_kv_layout *layout, const float *k, const float *v, unsigned tokens,
                              void *page);

#endif
