/* Names of the probes of stream, and what those of memory traffic amount to. */
#include "workload/data/data.h"
#include "workload/stream/stream.h"

const char *const ifm_probe_names[IFM_PROBES] = {"read", "write", "copy", "flops", "matrix", "caches"};

struct ifm_stream_offer ifm_stream_traffic(enum ifm_probe probe, const char *variant, uint64_t bytes)
{
    struct ifm_stream_offer offer = {.variant = variant, .ledger.rows = 1, .chosen = {.bytes = bytes, .isa = ""}};
    offer.ledger.bytes_read = probe == IFM_PROBE_WRITE ? 0 : bytes;
    offer.ledger.bytes_written = probe == IFM_PROBE_READ ? 0 : bytes;
    offer.working_set = ifm_data_add(offer.ledger.bytes_read, offer.ledger.bytes_written);
    return offer;
}
