/* Which counters of a GPU are read together: data/counters, one file for the chips of a generation.
 *
 * A set is what one pass of the range profiler holds, so that nothing is ever run again. Where one set does not hold
 * all, each has ranges of its own. Pure; thread rule: any. */
#ifndef IFM_MODEL_COUNTER_SETS_H
#define IFM_MODEL_COUNTER_SETS_H

#include "model/catalog.h"
#include "model/embedded.h"
#include <stdbool.h>
#include <stddef.h>

/* The columns that a set may fill, and behind them what counting a slot costs the host. Of the unit "ppm" are metrics
 * that the profiler gives in per cent. */
enum { IFM_COUNTER_COST = 32, IFM_COUNTER_COLUMNS, IFM_COUNTER_SETS_MOST = 8, IFM_COUNTER_METRICS_MOST = 16 };
extern const struct ifm_column ifm_counter_columns[IFM_COUNTER_COLUMNS];

struct ifm_counter_set {
    char name[24];
    char texts[IFM_COUNTER_METRICS_MOST][96]; /* names of CUPTI */
    size_t column[IFM_COUNTER_METRICS_MOST];  /* that each is added to */
    size_t n;
};

struct ifm_counter_sets {
    char chip[16];
    struct ifm_counter_set items[IFM_COUNTER_SETS_MOST];
    size_t n;
};

/* In words, with the name of the chip. */
#define IFM_NO_COUNTER_SETS "this build has no list of counters for the chip %.16s"
#define IFM_NO_COUNTER_SETS_REMEDY "a file in data/counters makes one (docs/maintain/counters.md)"
/* The sets of the file that names the chip, or its compute capability ("9.0"); false where none does, or the file is
 * broken. */
bool ifm_counter_sets_of(const char *chip, struct ifm_counter_sets *out);
/* The same of one file's text: false too where the file is of other chips. `chip` NULL: of any. */
bool ifm_counter_sets_read(const char *text, const char *chip, struct ifm_counter_sets *out);
/* Does a set of the chip fill the column? */
bool ifm_counter_sets_have(const struct ifm_counter_sets *sets, size_t column);

#endif
