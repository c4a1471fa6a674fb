/* Version and revision of this program. The build defines both (cmake/revision.cmake). */
#include "base/program.h"

#include <stddef.h>

const char *ifm_program_version(void)
{
    return IFM_VERSION;
}

const char *ifm_program_revision(void)
{
#ifdef IFM_GIT_REVISION
    return IFM_GIT_REVISION;
#else
    return NULL;
#endif
}
