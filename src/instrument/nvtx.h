/* Ranges by NVTX: what this process is at, for a profiler that is attached to it (nsys, ncu), or for our own recorder.
 *
 * A profiler names a library in NVTX_INJECTION64_PATH; it is opened at the first range and puts its functions into our
 * table, as NVIDIA's header-only NVTX 3 would have it. Without one a range costs a branch. Ranges never lie inside a
 * timed sample. Thread rule: the driving thread. */
#ifndef IFM_INSTRUMENT_NVTX_H
#define IFM_INSTRUMENT_NVTX_H

/* Each sample of a slot that has something between its samples, inside the slot's range. */
#define IFM_NVTX_SAMPLE "sample"

/* Tell these instead of a tool: a recorder in this process. */
void ifm_nvtx_tap(void (*push)(const char *name), void (*pop)(void));
void ifm_nvtx_push(const char *name);
void ifm_nvtx_pop(void);

#endif
