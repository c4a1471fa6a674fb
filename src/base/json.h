/* JSON: jansson with one way to print and typed reads that say where they failed.
 *
 * Reals are printed with 17 significant digits only when fewer do not read back
 * as the same double, so 0.1 prints as 0.1. Key order is insertion order. Objects
 * made here follow jansson's reference counting: the creator owns, `_new` steals. */
#ifndef IFM_BASE_JSON_H
#define IFM_BASE_JSON_H

#include "base/error.h"
#include "base/text.h"
#include <jansson.h>

/* Indented form for files, or one line for logs and hashes. Appends to `out`. */
void ifm_json_print(const json_t *value, bool indented, struct ifm_text *out);
IFM_CHECKED enum ifm_status ifm_json_write(const char *path, const json_t *value, struct ifm_error *error);
/* For the owner alone: mode 0600. */
IFM_CHECKED enum ifm_status ifm_json_write_private(const char *path, const json_t *value, struct ifm_error *error);
/* Duplicate keys, trailing text, NUL and depth beyond jansson's limit are errors with line and column. */
IFM_CHECKED enum ifm_status ifm_json_read(const char *path, json_t **out, struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_json_parse(const char *data, size_t size, const char *where, json_t **out,
                                           struct ifm_error *error);

/* The member "schema" is `reads`; else IFM_INVALID: the file is of another version. `hint` says what to do then. */
IFM_CHECKED enum ifm_status ifm_json_check_schema(const json_t *object, int64_t reads, const char *where,
                                                  const char *hint, struct ifm_error *error);

/* Typed members of an object. `where` names the file (and path) for the message. */
IFM_CHECKED enum ifm_status ifm_json_get_string(const json_t *object, const char *key, const char *where,
                                                const char **out, struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_json_get_i64(const json_t *object, const char *key, const char *where, int64_t *out,
                                             struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_json_get_u64(const json_t *object, const char *key, const char *where, uint64_t *out,
                                             struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_json_get_f64(const json_t *object, const char *key, const char *where, double *out,
                                             struct ifm_error *error); /* integers are accepted */
IFM_CHECKED enum ifm_status ifm_json_get_bool(const json_t *object, const char *key, const char *where, bool *out,
                                              struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_json_get_array(const json_t *object, const char *key, const char *where,
                                               const json_t **out, struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_json_get_object(const json_t *object, const char *key, const char *where,
                                                const json_t **out, struct ifm_error *error);

#endif
