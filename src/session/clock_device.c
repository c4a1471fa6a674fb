/* A device that is only a clock: no pinning, no workers, no buffers.
 *
 * It must never change where or how the caller's threads run. */
#include "session/internal.h"

static void no_close(struct ifm_device *device)
{
    (void)device;
}

static struct ifm_instant mark(struct ifm_device *device)
{
    (void)device;
    return ifm_clock_now();
}

static void no_hold(struct ifm_device *device, unsigned threads)
{
    (void)device;
    (void)threads;
}

static const struct ifm_device_ops clock_ops = {
    .name = "cpu",
    .close = no_close,
    .mark = mark,
    .hold = no_hold,
    .release = no_close,
    .drop_buffers = no_close,
};

struct ifm_device *ifm_clock_device(void)
{
    static struct ifm_device device = {.ops = &clock_ops};
    return &device;
}
