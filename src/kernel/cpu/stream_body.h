/* Read, write and copy probes; compiled once per instruction set (see lanes.h).
 *
 * Every loop moves GROUP vectors at a time; the rest of a span is done in plain words. */
#include "kernel/cpu/kernels.h"
#include "kernel/cpu/lanes.h"

enum { GROUP = 8, GROUP_BYTES = GROUP * IFM_LANE_BYTES, STREAMS = 4 };

static uint64_t sum_tail(const unsigned char *from, size_t bytes)
{
    uint64_t sum = 0;
    for (; bytes >= sizeof(uint64_t); from += sizeof(uint64_t), bytes -= sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, from, sizeof word);
        sum += word;
    }
    uint64_t last = 0;
    memcpy(&last, from, bytes);
    return sum + last;
}

IFM_INLINE uint64_t sum_lanes(const words *accumulators, size_t n)
{
    uint64_t sum = 0, lane[IFM_LANE_BYTES / sizeof(uint64_t)];
    for (size_t i = 0; i < n; i++) {
        memcpy(lane, &accumulators[i], sizeof lane);
        for (size_t j = 0; j < sizeof lane / sizeof lane[0]; j++)
            sum += lane[j];
    }
    return sum;
}

/* One pointer, front to back; `ahead` bytes of software prefetch, 0 = none. */
IFM_INLINE uint64_t read_forward(const unsigned char *from, size_t bytes, size_t ahead)
{
    words sum[GROUP] = {0};
    size_t done = 0;
    for (; done + GROUP_BYTES <= bytes; done += GROUP_BYTES) {
        const words *at = (const words *)(from + done);
        if (ahead != 0)
            for (size_t line = 0; line < GROUP_BYTES; line += IFM_LINE)
                __builtin_prefetch(from + done + ahead + line, 0, 0);
        for (int i = 0; i < GROUP; i++)
            sum[i] += at[i];
    }
    return sum_lanes(sum, GROUP) + sum_tail(from + done, bytes - done);
}

uint64_t IFM_KERNEL(ifm_read_linear)(const void *from, size_t bytes)
{
    return read_forward(from, bytes, 0);
}

uint64_t IFM_KERNEL(ifm_read_prefetch)(const void *from, size_t bytes)
{
    return read_forward(from, bytes, 4096);
}

/* STREAMS pointers that advance together, each through its part of the span. */
uint64_t IFM_KERNEL(ifm_read_streams4)(const void *from, size_t bytes)
{
    enum { EACH = GROUP / STREAMS, STEP = EACH * IFM_LANE_BYTES };
    const size_t part = bytes / STREAMS / IFM_LINE * IFM_LINE;
    const unsigned char *start = from;
    words sum[GROUP] = {0};
    size_t done = 0;
    for (; done + STEP <= part; done += STEP)
        for (int s = 0; s < STREAMS; s++) {
            const words *at = (const words *)(start + (size_t)s * part + done);
            for (int i = 0; i < EACH; i++)
                sum[s * EACH + i] += at[i];
        }
    uint64_t total = sum_lanes(sum, GROUP);
    for (int s = 0; s < STREAMS; s++)
        total += sum_tail(start + (size_t)s * part + done, part - done);
    return total + sum_tail(start + STREAMS * part, bytes - STREAMS * part);
}

void IFM_KERNEL(ifm_write_store)(void *to, size_t bytes, uint64_t pattern)
{
    const words value = (words){0} + pattern;
    unsigned char *start = to;
    size_t done = 0;
    for (; done + GROUP_BYTES <= bytes; done += GROUP_BYTES) {
        words *at = (words *)(start + done);
        for (int i = 0; i < GROUP; i++)
            at[i] = value;
        IFM_KEEP_LOOP();
    }
    memset(start + done, (int)(pattern & 0xff), bytes - done);
}

void IFM_KERNEL(ifm_copy_load_store)(void *to, const void *from, size_t bytes)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    size_t done = 0;
    for (; done + GROUP_BYTES <= bytes; done += GROUP_BYTES) {
        const words *in = (const words *)(source + done);
        words *out = (words *)(target + done), value[GROUP];
        for (int i = 0; i < GROUP; i++)
            value[i] = in[i];
        for (int i = 0; i < GROUP; i++)
            out[i] = value[i];
        IFM_KEEP_LOOP();
    }
    memcpy(target + done, source + done, bytes - done);
}

#if defined(IFM_HAS_NONTEMPORAL)
void IFM_KERNEL(ifm_write_nontemporal)(void *to, size_t bytes, uint64_t pattern)
{
    const words value = (words){0} + pattern;
    unsigned char *start = to;
    size_t done = 0;
    for (; done + GROUP_BYTES <= bytes; done += GROUP_BYTES)
        for (int i = 0; i < GROUP; i++)
            store_nontemporal((words *)(start + done) + i, value);
    _mm_sfence();
    memset(start + done, (int)(pattern & 0xff), bytes - done);
}

void IFM_KERNEL(ifm_copy_nontemporal)(void *to, const void *from, size_t bytes)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    size_t done = 0;
    for (; done + GROUP_BYTES <= bytes; done += GROUP_BYTES)
        for (int i = 0; i < GROUP; i++)
            store_nontemporal((words *)(target + done) + i, ((const words *)(source + done))[i]);
    _mm_sfence();
    memcpy(target + done, source + done, bytes - done);
}
#endif
