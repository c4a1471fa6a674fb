/* How a run of a program ended, in words and as a number of a slot's column. */
#ifndef IFM_WORKLOAD_COMMAND_ENDED_H
#define IFM_WORKLOAD_COMMAND_ENDED_H

#include "base/subprocess.h"

#include <stddef.h>
#include <stdint.h>

/* How long a descendant may outlive its program where command.timeout sets no limit to both. */
enum { IFM_COMMAND_STRAYS_S = 10 };

/* A result that is a failure, in words, in `out`; "" for success. No text of the user's. */
const char *ifm_command_failure_words(const struct ifm_subprocess_result *result, char *out, size_t size);
/* 0 for success; else as the column child_failure has it (model/failure.h). */
int64_t ifm_command_failure_code(const struct ifm_subprocess_result *result);

#endif
