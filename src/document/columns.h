/* Which metrics a summary shows, in which order: the one table that joins metric ids to places on the page. */
#ifndef IFM_DOCUMENT_COLUMNS_H
#define IFM_DOCUMENT_COLUMNS_H

#include "model/plan.h"

/* A quantity whose text, if any, says why it has no interval; a share of a ceiling, whose text names the ceiling's arm;
 * a comparison, whose word stands in IFM_METRIC_CHANGE; steps in a sample (K), which go without saying when one; a
 * ratio of bytes, which does so too, and which never loses the digits that keep it from its nominal value. */
enum ifm_column_kind {
    IFM_COLUMN_QUANTITY = 0,
    IFM_COLUMN_SHARE,
    IFM_COLUMN_COMPARISON,
    IFM_COLUMN_BATCH,
    IFM_COLUMN_RATIO
};

struct ifm_column_spec {
    const char *heading;
    const char *metric;
    enum ifm_column_kind kind;
    int part; /* 1: how fast; 2: how near to the machine's limits */
};

/* Columns of the arms' table, in order. */
extern const struct ifm_column_spec ifm_columns[];
extern const size_t ifm_n_columns;
/* Columns of the table of compressed arms: their bytes, what the output lost by it, and their speed. */
extern const struct ifm_column_spec ifm_compression_columns[];
extern const size_t ifm_n_compression_columns;

/* Columns of the table of energy: what a token or a step took, gross and above idle, what drew it, and what it bought;
 * of cells whose steps make tokens, and of the others. */
extern const struct ifm_column_spec ifm_energy_columns[], ifm_energy_step_columns[];
extern const size_t ifm_n_energy_columns, ifm_n_energy_step_columns;

/* The cell's number that holds the measured ceiling of a kind. */
const char *ifm_column_ceiling_metric(enum ifm_ceiling kind);
/* The time of a step, and the time of one load of a cache probe. */
#define IFM_METRIC_TIME "step_ns"
#define IFM_METRIC_WRITE "write_bytes_per_s"
#define IFM_METRIC_LOAD "load_ns"
#define IFM_METRIC_CHANGE "change_percent"
#define IFM_METRIC_BLOCKS_NEEDED "blocks_needed"
#define IFM_METRIC_ERROR "error_rms_rel"
#define IFM_METRIC_SPEEDUP "speedup"
#define IFM_METRIC_LOSS "loss_rms_rel"
#define IFM_METRIC_KL "attention_kl_nats"
#define IFM_METRIC_TV "attention_tv"
#define IFM_METRIC_COMPRESSION "compression_ratio"
#define IFM_METRIC_BYTES_RATIO "bytes_ratio"
#define IFM_METRIC_TOKEN_ENERGY "energy_per_token_j"
#define IFM_METRIC_STEP_ENERGY "energy_per_step_j"
#define IFM_METRIC_TOKEN_ENERGY_CHANGE "energy_per_token_change_percent"
#define IFM_METRIC_TOTAL_ENERGY "total_energy_j"
#define IFM_METRIC_POWER "power_mean_w"
/* The cell's number that holds the size of a cache; levels count from 1. */
enum { IFM_CACHES_SHOWN = 3 };
const char *ifm_column_cache_metric(int level);

#endif
