/* Writing pages of the elastic KV cache ("kv_encode.int8", ... in the dispatch table; type ifm_kv_encode_fn).
 *
 * All instruction sets write the same bytes: the arithmetic is defined value by value in f32 without contraction or
 * reassociation, so that the compiler may vectorise it across channels (K) or tokens (V) but not change it.
 * Compiled once per instruction set. Thread rule: reentrant; no allocation, a few hundred KiB of stack at most. */
#ifndef IFM_KERNEL_CPU_KV_ENCODE_H
#define IFM_KERNEL_CPU_KV_ENCODE_H

#include "kv/format.h"

/* How many ranges the clip search of 4 and 2 bits tries, from the full range down; the least squared error of the
 * decoded values wins, the wider range on a tie. */
enum { IFM_KV_CLIPS = 12 };
/* What each range of the search is narrower than the one before, as a part of the full width. */
#define IFM_KV_CLIP_4 0.04f
#define IFM_KV_CLIP_2 0.05f

#endif
