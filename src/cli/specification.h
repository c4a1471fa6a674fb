/* The specification's names of flags, for `inferometer decode` only: aliases of our flags.
 *
 * Owns no setting: each alias is passed on under our name; an error names the flag as written. */
#ifndef IFM_CLI_SPECIFICATION_H
#define IFM_CLI_SPECIFICATION_H

#include "cli/cli.h"

/* The flags as help lists them. */
extern const struct ifm_option ifm_specification_options[];
extern const size_t ifm_specification_n_options;

/* Take the flag `name` if it is an alias and this is its command; `*alias` tells. `value` is the text after "=", `next`
 * the next argument; either may be NULL. `*used` is set to 2 when `next` was taken. */
IFM_CHECKED enum ifm_status ifm_specification_flag(const char *name, const char *value, const char *next,
                                                   struct ifm_config *config, struct ifm_options *options, int *used,
                                                   bool *alias, struct ifm_error *error);
/* The one of them that `name` was most likely meant to be, or NULL. */
const char *ifm_specification_nearest(const char *name, const char *workload);
/* Called after all arguments: with --json, an inference cycle is measured in addition to single passes. */
IFM_CHECKED enum ifm_status ifm_specification_done(struct ifm_config *config, const struct ifm_options *options,
                                                   struct ifm_error *error);

#endif
