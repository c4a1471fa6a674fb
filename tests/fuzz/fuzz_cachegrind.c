/* Any bytes as the file that cachegrind writes: one error, or a summary that is the sum of its lines, of one function
 * no more than of all. */
#include "instrument/cachegrind.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_cachegrind_counts all, own;
    struct ifm_error error = {0};
    if (ifm_cachegrind_read((const char *)data, size, NULL, &all, &error) == IFM_OK) {
        require(ifm_cachegrind_read((const char *)data, size, "one", &own, &error) == IFM_OK);
        for (int i = 0; i < IFM_CG_EVENTS; i++)
            require(own.events[i] <= all.events[i]);
    } else {
        require(error.code == IFM_INVALID && error.message[0] != '\0' && error.hint[0] != '\0');
    }
    return 0;
}
