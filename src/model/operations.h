/* What the matrix units of a GPU executed, over the operations of the ledger. Pure; thread rule: any. */
#ifndef IFM_MODEL_OPERATIONS_H
#define IFM_MODEL_OPERATIONS_H

#include "model/plan.h"
#include "model/value.h"

#define IFM_OPERATIONS_SLACK 0.01

/* Does it contradict the ledger? An arm that does all of its operations there cannot execute fewer. More are padding of
 * tiles. `over_ledger` NULL: it was not counted. */
static inline bool ifm_lacks_operations(const struct ifm_arm *arm, const struct ifm_value *over_ledger)
{
    return arm->matrix && over_ledger != NULL && over_ledger->state == IFM_STATE_OK &&
           over_ledger->number < 1 - IFM_OPERATIONS_SLACK;
}

#endif
