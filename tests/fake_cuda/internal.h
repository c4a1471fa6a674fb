/* What the files of the fake driver share. */
#ifndef IFM_TESTS_FAKE_CUDA_INTERNAL_H
#define IFM_TESTS_FAKE_CUDA_INTERNAL_H

#include "dyn/cuda.h"
#include "fake_cuda/fake_cuda.h"
#include "fake_script.h"

/* Each function that the device resolves has a twin here, of the same type. */
#define FAKE_DECLARE(name, parameters) CUresult fake_##name parameters;
IFM_CUDA_FUNCTIONS(FAKE_DECLARE)
#undef FAKE_DECLARE

/* The value of `key` in the script, in static storage until the next call; NULL where the script has none. */
const char *fake_value(const char *key);
unsigned long long fake_number(const char *key, unsigned long long fallback);
/* The number behind "name:" in the list that is the value of `key`. */
unsigned long long fake_number_in(const char *key, const char *name, unsigned long long fallback);
void fake_script_set(const char *text);

/* ---- device.c: a copy from the host, all but its end, and that end ---- */
void fake_copy_late(void *to, const void *from, size_t bytes);
void fake_let_arrive(void);
CUresult fake_may_copy(CUdeviceptr own, size_t bytes); /* to or from there, now; what is under way has arrived */

/* ---- watch.c: who is told of everything ---- */
extern unsigned long long fake_early_launches; /* that need not wait for the kernel before */
/* A call of the driver begins; what runs from here on has its number. Returns the time. */
uint64_t fake_begun(void);
/* The open call is over for the host, and its work begins; of several pieces the first. Returns the time. */
uint64_t fake_returns(void);
void fake_graph_begins(void); /* its kernels are nodes, until the call ends */
void fake_tell(const char *what, const char *name, uint64_t start, uint64_t bytes);
/* The call that began at `start` ends with `result`. */
CUresult fake_ended(const char *name, uint64_t start, CUresult result);

/* ---- decode.c ---- */
bool fake_decode_naive(const struct fake_launch *launch, bool wrong);
bool fake_decode_split(const struct fake_launch *launch, bool wrong);
bool fake_decode_digest(const struct fake_launch *launch, bool wrong);
bool fake_decode_advance(const struct fake_launch *launch, bool wrong);
struct ifm_decode_advance_of;
bool fake_decode_feed(const struct ifm_decode_advance_of *a, uint64_t head);
bool fake_decode_rewind(const struct fake_launch *launch, bool wrong);

/* ---- kv_pack.c ---- */
bool fake_kv_pack_int8(const struct fake_launch *launch, bool wrong);
bool fake_kv_pack_e4m3(const struct fake_launch *launch, bool wrong);
bool fake_kv_pack_int4(const struct fake_launch *launch, bool wrong);
bool fake_kv_pack_int2(const struct fake_launch *launch, bool wrong);

/* ---- kv_append.c ---- */
bool fake_kv_advance(const struct fake_launch *launch, bool wrong);
bool fake_kv_arrange(const struct fake_launch *launch, bool wrong);

/* ---- packed.c ---- */
bool fake_packed_plain(const struct fake_launch *launch, bool wrong);
bool fake_packed_split(const struct fake_launch *launch, bool wrong);
bool fake_packed_pair(const struct fake_launch *launch, bool wrong);
bool fake_packed_finish(const struct fake_launch *launch, bool wrong);
bool fake_packed_probe(const struct fake_launch *launch, bool wrong);
bool fake_packed_probe_bytes(const struct fake_launch *launch, bool wrong);

#endif
