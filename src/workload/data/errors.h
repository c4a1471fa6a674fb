/* Errors of outputs against a reference, added up row by row: single elements, all together, and what is systematic.
 *
 * An element is held against the largest reference of all, and against the root mean square of its own row, since rows
 * may differ in size by orders. A bias is what the errors have in common: a share of the reference (outputs x 1.01) or
 * a constant. It is far smaller than what single elements may be off by, so it has a bound of its own. Rows count as
 * independent, which gives it a standard error. Thread rule: no shared state. */
#ifndef IFM_WORKLOAD_DATA_ERRORS_H
#define IFM_WORKLOAD_DATA_ERRORS_H

#include "model/facts.h"

#include <stddef.h>

struct ifm_data_errors {
    uint64_t rows, values;
    double error2, reference2, error_max, reference_max;
    double row_max; /* the largest error of an element, over the root mean square of its row's reference */
    /* Sums over rows: of the share of the row's reference that its errors are, by least squares; of s, the sum of its
     * errors, and c, their number. */
    double shares, share, share2;
    double s, c, ss, sc, cc;
};

/* A row of outputs. Pieces of one long row may count as rows. */
void ifm_data_errors_add(struct ifm_data_errors *to, const float *values, const double *reference, size_t n);
/* In a fixed order, so that sums do not depend on the workers. */
void ifm_data_errors_join(struct ifm_data_errors *to, const struct ifm_data_errors *from);
/* error_rms_rel, error_max_rel, error_row, error_bias, values. */
void ifm_data_errors_tell(const struct ifm_data_errors *all, struct ifm_check *check);

#endif
