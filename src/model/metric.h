/* The metrics: what a derived number is, in which unit, which way it improves, and how and where it is shown.
 *
 * Constant data. One record of data/metrics is the only source of a metric; cmake/write_metrics.cmake makes the
 * enum and the tables of it at build. A number is found by its enum; an id that a user gives becomes one here. */
#ifndef IFM_MODEL_METRIC_H
#define IFM_MODEL_METRIC_H

#include "model/metric_ids.h"

#include <stdbool.h>
#include <stddef.h>

/* What a metric is about decides which rule can withhold it. */
enum ifm_metric_class {
    IFM_CLASS_COUNT,   /* how much was recorded: never withheld */
    IFM_CLASS_TIME,    /* durations of one arm */
    IFM_CLASS_RATE,    /* amount over time */
    IFM_CLASS_COMPARE, /* one arm against another */
    IFM_CLASS_CEILING, /* of the cell */
    IFM_CLASS_CACHE,   /* of the cell */
    IFM_CLASS_ERROR,   /* against the oracle: never withheld */
    IFM_CLASS_COUNTER, /* columns of the instruments: never withheld */
    IFM_CLASS_ENERGY,  /* joules and watts */
    IFM_CLASS_ESTIMATE /* nothing measured it: in no sum, no change and no gate */
};

enum ifm_better { IFM_BETTER_LOWER = -1, IFM_BETTER_NONE = 0, IFM_BETTER_HIGHER = 1 };

/* How a number is shown in a table. */
enum ifm_rounding {
    IFM_ROUNDING_INTERVAL,   /* the digits that its interval allows, and the interval, or why there is none */
    IFM_ROUNDING_PLAIN,      /* three or four digits, alone */
    IFM_ROUNDING_RATIO,      /* "3.71x", with the digits that keep it from its nominal value; 1 is left out */
    IFM_ROUNDING_COMPARISON, /* beside the word of change_percent: "faster 1.94x" */
    IFM_ROUNDING_STEPS,      /* steps in a sample: 1 is left out */
};

/* Whose number it is. */
enum ifm_metric_scope { IFM_SCOPE_ARM, IFM_SCOPE_CELL, IFM_SCOPE_RUN };

struct ifm_metric {
    const char *id, *unit;
    enum ifm_metric_class kind;
    enum ifm_better better;
    const char *undirected;     /* why it has no better side; "" when it has one */
    enum ifm_metric_id instead; /* what to gate in its place; IFM_M_NONE: nothing else says it */
    enum ifm_rounding rounding;
    enum ifm_metric_scope scope;
    const char *formula, *source, *limits, *prose;
};

/* By enum. The row of IFM_M_NONE has the id "". */
extern const struct ifm_metric ifm_metrics[IFM_M_COUNT];
/* All metrics by the order of their ids. */
extern const enum ifm_metric_id ifm_metrics_sorted[IFM_M_COUNT - 1];

/* A column of a table: `part` 1 says how fast, 2 how near to the machine's limits; 0: the table has no parts. */
struct ifm_metric_column {
    const char *heading;
    enum ifm_metric_id metric;
    int part;
};
struct ifm_metric_columns {
    const struct ifm_metric_column *items;
    size_t n;
};
/* Of the arms; of compressed arms; of energy where steps make tokens, and where they do not; of counters and traces. */
extern const struct ifm_metric_columns ifm_columns_arms, ifm_columns_compression, ifm_columns_energy,
    ifm_columns_energy_step, ifm_columns_counters, ifm_columns_trace;

/* The cell's number that holds the measured ceiling of a kind (enum ifm_ceiling), and the size of a cache (L1 is 0). */
enum { IFM_CACHES_SHOWN = 3 };
extern const enum ifm_metric_id ifm_ceiling_metrics[], ifm_cache_metrics[IFM_CACHES_SHOWN];

/* IFM_M_NONE when there is no such id. */
enum ifm_metric_id ifm_metric_of(const char *id);
/* The id nearest to a mistyped one; NULL when none is near. */
const char *ifm_metric_nearest(const char *id);
/* How people read a metric: what gates and comparisons are made of by name, where files have ids; the output error in
 * percent, where files and gates have a fraction. */
struct ifm_metric_told {
    const char *name, *unit;
    double factor;
};
struct ifm_metric_told ifm_metric_told(enum ifm_metric_id metric);
/* A share of a measured ceiling; `integer`: of an arm that multiplies bytes, whose ceiling of operations is another. */
bool ifm_is_share(enum ifm_metric_id metric);
const char *ifm_share_told(enum ifm_metric_id metric, bool integer);
/* As the records write them. */
const char *ifm_better_word(enum ifm_better better);
const char *ifm_scope_word(enum ifm_metric_scope scope);

#endif
