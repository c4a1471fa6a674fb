/* Facts that `run` writes to run.log beside the samples. Plain data.
 *
 * A line is described in sample/journal.h; the stages, and the members of `meta`, in docs/maintain/journal.md. */
#ifndef IFM_MODEL_FACTS_H
#define IFM_MODEL_FACTS_H

#include <stdbool.h>
#include <stdint.h>

/* The remedy of a run that did not end, as it is typed. */
#define IFM_GO_ON "`inferometer run --resume RUN-FOLDER` goes on"

/* In memory, an integer column that was not read; in a file, an empty field. Never zero. */
#define IFM_ABSENT INT64_MIN

/* What other programs take of each allowed CPU, as a share, above which the machine counts as loaded (rule 7): a run
 * says so, derive and the checklists hold its journal against it. */
#define IFM_LOADED 0.1
/* In the one unit in which it is told: "other programs take 97 % of each CPU". Ticks may add up to a little more than
 * there is. */
static inline double ifm_load_percent(double load)
{
    return load > 1 ? 100 : 100 * load;
}

/* What a check may say of an arm whose elements may be off by `tolerance`, and still be right (rule 10). Kernels that
 * round their inputs are off by much in single elements; what makes an output wrong is bounded more tightly: an element
 * beside its row, what all errors have in common, and a part of the input that is missing, or counted too often. */
static inline double ifm_row_bound(double tolerance)
{
    return tolerance * 8 < 0.01 ? 0.01 : tolerance * 8 > 1 ? 1 : tolerance * 8;
}
static inline double ifm_bias_bound(double tolerance)
{
    return tolerance / 4 < 0.0005 ? 0.0005 : tolerance / 4 > 0.005 ? 0.005 : tolerance / 4;
}
#define IFM_PART_MOST 0.5 /* more than any rounding makes of a part, and half of what a forgotten one is */

/* An arm's outputs compared with its oracle. */
struct ifm_check {
    bool done;              /* false: the workload has no oracle */
    double error_rms_rel;   /* sqrt(sum (x - ref)^2 / sum ref^2) */
    double error_max_rel;   /* max |x - ref| / max |ref| */
    bool has_part;          /* the oracle knows what each part of the input adds to the outputs */
    double error_part;      /* the share of some part that is certainly missing or counted too often; 0 = none */
    bool has_rows;          /* outputs are rows whose elements are of one size */
    double error_row;       /* max |x - ref| over the root mean square of ref in its row */
    double error_bias;      /* what errors certainly have in common: a share of ref, or a constant over its rms */
    uint64_t values;        /* outputs compared */
    bool finite;            /* no NaN or infinity that the oracle does not have */
    uint64_t output_xxh3;   /* of all output bytes */
    bool has_quality;       /* a task was scored; independent of `done` */
    double quality_percent; /* of its items, how many the arm got right: 0 .. 100 */
    bool has_loss;          /* what compression did, kernel errors left out: f64 attention over what the cache holds
                               against f64 attention over the original values, on the compared outputs */
    double loss_rms_rel;    /* sqrt(sum (x - exact)^2 / sum exact^2) of the outputs */
    double loss_p99_rel;    /* 99th percentile of |x - exact|, over the root mean square of exact */
    double loss_cosine;     /* least cosine between an output row and the exact one */
    double loss_kl;         /* mean over rows of KL(exact || x) of the attention weights, nats; negative = infinite,
                               because tokens were dropped */
    double loss_tv;         /* mean over rows of the total variation of the weights, 0 .. 1 */
    char isa[16];     /* instruction set of the kernel that made the outputs, a row of the dispatch table; of a library
                         the core type that it works with; "" = there is no choice, or it is not known */
    bool sets_differ; /* the same inputs in another set of buffers gave another output */
};

#endif
