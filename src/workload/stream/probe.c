/* Names of the probes of stream, and what those of memory traffic amount to. */
#include "workload/data/data.h"
#include "workload/stream/stream.h"

const char *const ifm_probe_names[IFM_PROBES] = {"read", "write", "copy", "flops", "int8", "clock", "matrix", "caches"};

struct ifm_stream_offer ifm_stream_traffic(enum ifm_probe probe, const char *variant, uint64_t bytes, uint64_t piece)
{
    struct ifm_stream_offer offer = {
        .variant = variant, .ledger.rows = 1, .chosen = {.bytes = bytes, .piece = piece, .isa = ""}};
    const uint64_t moved = piece == 0 ? bytes : piece;
    offer.ledger.bytes_read = probe == IFM_PROBE_WRITE ? 0 : moved;
    offer.ledger.bytes_written = probe == IFM_PROBE_READ ? 0 : moved;
    offer.working_set = probe == IFM_PROBE_COPY ? ifm_data_mul(2, bytes) : bytes;
    return offer;
}
