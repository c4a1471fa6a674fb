/* The exact keys, values and queries of decode: what every arm compresses, and what its loss is measured against.
 *
 * All layers of a cell hold the same tokens, each in memory of its own: reading them costs what different ones would
 * cost, and a step has one result, whichever layer it was. Thread rule: as workload/data/source.h. */
#ifndef IFM_WORKLOAD_DECODE_SOURCE_H
#define IFM_WORKLOAD_DECODE_SOURCE_H

#include "workload/data/source.h"
#include "workload/decode/shape.h"
#include "workload/workload.h"

/* As ifm_data_source_open, of what the settings say; close it so. */
IFM_CHECKED enum ifm_status ifm_decode_source(const struct ifm_decode_settings *s, uint64_t seed,
                                              struct ifm_data_source *out, struct ifm_error *error);

/* Which of `length` tokens a form that evicts keeps: keep[i] is 1 or 0, ifm_decode_kept of them are 1. By `evict`:
 *   window  the sinks and the newest ones (Xiao et al. 2024, "StreamingLLM")
 *   mass    the sinks, the IFM_KV_PAGE newest, and those that got most attention from eight queries at the last
 *           positions, none of which is a query of a step (Li et al. 2024, "SnapKV"; Zhang et al. 2023, "H2O") */
IFM_CHECKED enum ifm_status ifm_decode_keep(const struct ifm_data_source *source, const struct ifm_decode_settings *s,
                                            const struct ifm_decode_form *form, uint64_t pair, uint64_t length,
                                            uint8_t *keep, struct ifm_error *error);
/* `ready` of the implementations: the user's file is there and has what is asked for. */
IFM_CHECKED enum ifm_status ifm_decode_ready(const struct ifm_opening *opening, struct ifm_error *error);

#endif
