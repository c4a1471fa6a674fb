/* The check of decode: any implementation hands in its cache and outputs, and is compared with f64 attention.
 *
 * Thread rule: called by the thread that drives the device, outside timed regions. */
#ifndef IFM_WORKLOAD_DECODE_CHECK_H
#define IFM_WORKLOAD_DECODE_CHECK_H

#include "device/device.h"
#include "model/facts.h"
#include "workload/decode/source.h"

/* A cache of plain rows, as a GPU has it, read back. */
struct ifm_decode_rows {
    const uint16_t *k, *v; /* f16, [page][IFM_KV_PAGE][head_dim] */
    const uint32_t *table; /* pages of all pairs, one pair's behind another's */
    const uint64_t *first; /* [pairs]: of a pair in `table` */
    uint64_t more;         /* tokens of each pair beyond those of the settings */
};

/* What the last step left, in the processor's memory. */
struct ifm_decode_outputs {
    struct ifm_device *device; /* whose workers compare */
    unsigned threads;
    const struct ifm_decode_settings *settings;
    const struct ifm_decode_form *form;
    const struct ifm_data_source *source;
    const struct ifm_kv_cache *cache;   /* of the layer that the step attended over; NULL: `rows` are its */
    const float *q, *out;               /* [batch][q_heads][head_dim] */
    uint64_t draw;                      /* by the seed: whose loss is taken */
    const struct ifm_decode_rows *rows; /* all tokens of the settings and `more`, in f16 */
};

/* `code`: the instruction set that made the outputs, for check->isa. */
IFM_CHECKED enum ifm_status ifm_decode_compare(const struct ifm_decode_outputs *outputs, const char *code,
                                               struct ifm_check *out, struct ifm_error *error);

#endif
