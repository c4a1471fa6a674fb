/* The instruments that exist: one row each. */
#include "instrument/instrument.h"
#include <string.h>

const struct ifm_instrument *const ifm_instruments[] = {&ifm_instrument_os,
                                                        &ifm_instrument_gpu,
                                                        &ifm_instrument_gpu_counters,
                                                        &ifm_instrument_gpu_activity,
                                                        &ifm_instrument_cpu_counters,
                                                        &ifm_instrument_gpu_monitor,
                                                        NULL};

struct ifm_instrument_entry ifm_instrument_entry(const struct ifm_instrument *instrument)
{
    return (struct ifm_instrument_entry){instrument->name, instrument->intrusion, instrument->columns,
                                         instrument->n_columns};
}

size_t ifm_instruments_of_class(const char *device, enum ifm_intrusion intrusion, struct ifm_instrument_entry *entries,
                                size_t room)
{
    size_t n = 0;
    for (size_t i = 0; ifm_instruments[i] != NULL && n < room; i++) {
        const struct ifm_instrument *instrument = ifm_instruments[i];
        bool works = instrument->device == NULL || strcmp(instrument->device, device) == 0;
        if (works && instrument->intrusion == intrusion)
            entries[n++] = ifm_instrument_entry(instrument);
    }
    return n;
}

size_t ifm_instruments_offered(const char *device, struct ifm_instrument_entry *entries, size_t room)
{
    return ifm_instruments_of_class(device, IFM_INTRUSION_PASSIVE, entries, room);
}

const struct ifm_instrument *ifm_instrument_find(const char *name)
{
    for (size_t i = 0; ifm_instruments[i] != NULL; i++)
        if (strcmp(ifm_instruments[i]->name, name) == 0)
            return ifm_instruments[i];
    for (size_t i = 0; i < IFM_INTRUSIONS; i++)
        if (strcmp(ifm_fake_instruments[i]->name, name) == 0)
            return ifm_fake_instruments[i];
    return NULL;
}
