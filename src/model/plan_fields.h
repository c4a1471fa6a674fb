/* The members of plan.json as tables, one for each struct of the plan, so that what is written is what is read.
 *
 * Private to plan_json.c and plan_json_read.c. Order is the order in the file; every member is required unless
 * its row says that it is optional, no other is allowed. */
#ifndef IFM_MODEL_PLAN_FIELDS_H
#define IFM_MODEL_PLAN_FIELDS_H

#include "base/json.h"
#include "model/plan.h"

enum ifm_field_kind {
    IFM_FIELD_TEXT,
    IFM_FIELD_BOOL,
    IFM_FIELD_F64,
    IFM_FIELD_U32,    /* unsigned */
    IFM_FIELD_U64,    /* an integer; above INT64_MAX, where our JSON integers end, decimal text */
    IFM_FIELD_SEED,   /* uint64_t as decimal text: a reader in doubles must not round it */
    IFM_FIELD_WORD,   /* int or enum, by name */
    IFM_FIELD_NESTED, /* array or object, written and read by its own function */
};

struct ifm_plan_field {
    const char *key;
    enum ifm_field_kind kind;
    size_t offset;
    const char *const *words; /* of IFM_FIELD_WORD, NULL-terminated */
    bool optional;            /* newer than the schema: left out where it has the value that folders without it mean,
                                 which is 0, false or an empty text, but for */
    double otherwise;         /* of IFM_FIELD_F64 and IFM_FIELD_U64: that value */
};

struct ifm_field_table {
    const struct ifm_plan_field *rows;
    size_t n;
};

extern const struct ifm_field_table ifm_plan_fields, ifm_machine_fields, ifm_gpu_fields, ifm_cell_fields,
    ifm_measure_fields, ifm_arm_fields, ifm_ledger_fields, ifm_pass_fields, ifm_gate_fields;

/* The value of a member that is not nested, which lies at `at`, as it stands in the file. New reference. */
json_t *ifm_plan_field_json(const struct ifm_plan_field *field, const void *at);

#endif
