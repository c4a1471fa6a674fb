/* The instruments that exist: one row each. */
#include "instrument/instrument.h"
#include <string.h>

const struct ifm_instrument *const ifm_instruments[] = {&ifm_instrument_os, &ifm_instrument_gpu, NULL};

bool ifm_instrument_is_of(const struct ifm_instrument *instrument, const char *device)
{
    return instrument->device == NULL || strcmp(instrument->device, device) == 0;
}

const struct ifm_instrument *ifm_instrument_find(const char *name)
{
    for (size_t i = 0; ifm_instruments[i] != NULL; i++)
        if (strcmp(ifm_instruments[i]->name, name) == 0)
            return ifm_instruments[i];
    return strcmp(name, ifm_instrument_fake.name) == 0 ? &ifm_instrument_fake : NULL;
}
