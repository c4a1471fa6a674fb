/* How a run of a program ended. */
#include "workload/command/ended.h"

#include "model/failure.h"
#include <stdio.h>
#include <string.h>

const char *ifm_command_failure_words(const struct ifm_subprocess_result *result, char *out, size_t size)
{
    out[0] = '\0';
    switch (result->end) {
    case IFM_SUBPROCESS_EXITED:
        if (result->code != 0)
            snprintf(out, size, "ended with exit status %d", result->code);
        break;
    case IFM_SUBPROCESS_SIGNALED:
        snprintf(out, size, "was ended by signal %d (%s)", result->code, strsignal(result->code));
        break;
    case IFM_SUBPROCESS_TIMED_OUT:
        snprintf(out, size, "ran longer than --timeout allows and was killed");
        break;
    case IFM_SUBPROCESS_STRAYS:
        snprintf(out, size, "left a process behind that outlived it by more than %d s", IFM_COMMAND_STRAYS_S);
        break;
    case IFM_SUBPROCESS_INTERRUPTED:
        snprintf(out, size, "was interrupted");
        break;
    case IFM_SUBPROCESS_NOT_STARTED:
        snprintf(out, size, "could not be started: %s", strerror(result->code));
        break;
    }
    return out;
}

int64_t ifm_command_failure_code(const struct ifm_subprocess_result *result)
{
    switch (result->end) {
    case IFM_SUBPROCESS_SIGNALED:
        return IFM_FAILURE_SIGNAL + result->code;
    case IFM_SUBPROCESS_TIMED_OUT:
        return IFM_FAILURE_TIMEOUT;
    case IFM_SUBPROCESS_STRAYS:
        return IFM_FAILURE_STRAY;
    default:
        return result->code;
    }
}
