/* `inferometer worker`: the process of one arm under measure.isolation=processes. Hidden: a run starts it. */
#include "cli/cli.h"

#include "run/remote/remote.h"

enum ifm_status ifm_cmd_worker(int argc, char **argv, struct ifm_error *error)
{
    (void)argc;
    (void)argv;
    return ifm_worker_serve(error);
}
