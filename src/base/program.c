/* The revision of this program, which the build defines (cmake/revision.cmake). */
#include "base/program.h"

#include <stddef.h>

const char *ifm_program_revision(void)
{
#ifdef IFM_GIT_REVISION
    return IFM_GIT_REVISION;
#else
    return NULL;
#endif
}
