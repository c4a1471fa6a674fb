/* The worker's side of an arm in a process of its own. */
#include "run/remote/remote.h"

#include "base/hash.h"
#include "base/private.h"
#include "device/cpu.h"
#include "instrument/gpu_activity.h"
#include "model/plan_json.h"
#include "run/cell/arm.h"
#include "sample/activity.h"
#include "workload/plugin/plugin.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

struct remote_worker {
    struct ifm_arena *arena;
    struct ifm_plan *plan;
    struct ifm_device *device;
    struct ifm_session session; /* without a journal; times stay marks of the clock */
    struct ifm_cell_run cell;   /* with the one arm that is open */
    unsigned char *memory;
    bool flushed; /* the caches, once: the first time maps a buffer */
};

/* The run has checked their tables against its own words; here the file must only be the same. */
static enum ifm_status load_plugins(const json_t *list, struct ifm_error *error)
{
    static const char *const none[] = {NULL};
    static const struct ifm_plugin_taken taken = {none, none, none};
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *plugin = json_array_get(list, i);
        const char *path = json_string_value(json_object_get(plugin, "path"));
        const char *sha256 = json_string_value(json_object_get(plugin, "sha256"));
        struct ifm_sha256 hash;
        if (path == NULL || sha256 == NULL)
            return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "a plugin does not reach the worker process");
        IFM_TRY(ifm_sha256_file(path, &hash, error));
        if (strcmp(hash.hex, sha256) != 0)
            return ifm_fail(error, IFM_INVALID, NULL, "measure again, and leave the file as it is",
                            "the file of a plugin was changed during the run");
        IFM_TRY(ifm_plugin_load(path, &taken, NULL, error));
    }
    return IFM_OK;
}

static enum ifm_status read_plan(struct remote_worker *worker, struct ifm_error *error)
{
    json_t *json = NULL;
    if (lseek(IFM_REMOTE_PLAN, 0, SEEK_SET) == 0)
        json = json_loadfd(IFM_REMOTE_PLAN, 0, NULL);
    if (json == NULL)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "the plan does not reach the worker process");
    enum ifm_status status = load_plugins(json_object_get(json, "plugins"), error);
    if (status == IFM_OK)
        status = ifm_plan_from_json(json_object_get(json, "plan"), "plan", worker->arena, &worker->plan, error);
    ifm_private_take(json_object_get(json, "private"));
    json_decref(json);
    if (status == IFM_OK)
        worker->plan->cells[0].measure.isolation = IFM_ISOLATION_SHARED; /* in here it is the only one */
    return status;
}

static enum ifm_status open_arm(struct remote_worker *worker, const struct ifm_remote_request *request,
                                struct ifm_error *error)
{
    struct ifm_device_options options = {.threads = request->threads,
                                         .huge_pages = request->huge_pages,
                                         .seed = request->seed,
                                         .no_graphs = request->no_graphs,
                                         .kernels = request->kernels};
    IFM_TRY(read_plan(worker, error));
    const struct ifm_cell *plan = worker->plan->cells;
    if (request->pass >= plan->n_passes)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "the plan has no pass %u", request->pass);
    const struct ifm_device_ops *ops = ifm_device_find(worker->plan->device);
    if (!ifm_cpu_mask_set(&request->cpus) || ops == NULL)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "the worker process cannot take its CPUs: %s",
                        strerror(errno));
    worker->memory = mmap(NULL, ifm_remote_bytes(&plan->passes[request->pass]), PROT_READ | PROT_WRITE, MAP_SHARED,
                          IFM_REMOTE_SAMPLES, 0);
    if (worker->memory == MAP_FAILED) {
        worker->memory = NULL;
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "the worker process cannot share memory: %s", strerror(errno));
    }
    if (request->records)
        ifm_gpu_activity_prepare();
    IFM_TRY(ops->open(&options, &worker->device, error));
    return ifm_cell_open_one(plan, worker->device, &worker->session, request->arm, request->pass, &worker->cell, error);
}

/* Room for the marks of a slot, touched before anything is timed. */
static enum ifm_status make_room(struct ifm_cell_run *cell, uint32_t samples, struct ifm_error *error)
{
    if (samples <= cell->most_samples)
        return IFM_OK;
    size_t bytes = (2 * (size_t)samples + 1) * sizeof *cell->marks;
    free(cell->marks);
    cell->most_samples = 0;
    cell->marks = malloc(bytes);
    if (cell->marks == NULL)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "out of memory");
    memset(cell->marks, 1, bytes);
    cell->most_samples = samples;
    return IFM_OK;
}

static enum ifm_status run_slot(struct remote_worker *worker, const struct ifm_remote_request *request,
                                struct ifm_slot *slot, struct ifm_error *error)
{
    struct ifm_cell_run *cell = &worker->cell;
    int64_t *columns = (int64_t *)(void *)worker->memory;
    struct ifm_sample *samples = (void *)(worker->memory + ifm_remote_samples_at(cell->pass));
    if (request->samples > IFM_REMOTE_MOST_SAMPLES)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "a slot of %u samples is too long", request->samples);
    IFM_TRY(make_room(cell, request->samples, error));
    if (cell->plan->measure.cache == IFM_CACHE_COLD && !worker->flushed) {
        IFM_TRY(cell->device->ops->flush(cell->device, error));
        worker->flushed = true;
    }
    cell->arms[request->arm].inner = request->inner;
    cell->arms[request->arm].lead = request->lead;
    cell->arms[request->arm].samples = request->samples;
    return ifm_arm_slot(cell, request->arm, slot, samples, columns, error);
}

static void write_row(FILE *file, const struct ifm_activity_row *row)
{
    ifm_activity_write(file, ifm_activity_names[row->kind],
                       (const uint64_t[]){row->start, row->end, row->correlation, row->place, row->graph, row->bytes},
                       row->name);
}

/* How many slots were recorded, and the rows of the last one, as text in the memory that the run shares with us. */
static enum ifm_status tell(struct remote_worker *worker, struct ifm_remote_answer *answer, struct ifm_error *error)
{
    const struct ifm_activity_rows rows = ifm_gpu_activity_rows();
    const struct ifm_cell_run *cell = &worker->cell;
    for (size_t i = 0; i < cell->n_instruments; i++) {
        struct ifm_instrument_told told;
        if (!cell->instruments[i].instrument->own_process)
            continue;
        cell->instruments[i].instrument->tell(cell->instruments[i].state, &told);
        snprintf(answer->told.source, sizeof answer->told.source, "%s", told.source);
        snprintf(answer->told.why, sizeof answer->told.why, "%s", told.why);
        answer->told.slots = told.slots;
        answer->told.read = told.read;
    }
    answer->told.rows = rows.n < IFM_TRACE_MOST_ROWS ? rows.n : IFM_TRACE_MOST_ROWS;
    answer->told.left_out = rows.n - answer->told.rows;
    FILE *file = fmemopen(worker->memory, ifm_remote_bytes(cell->pass), "w");
    if (file == NULL)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "out of memory");
    for (size_t i = 0; i < answer->told.rows; i++)
        write_row(file, &rows.items[i]);
    const bool written = fflush(file) == 0 && ferror(file) == 0;
    answer->told.bytes = (size_t)ftell(file);
    fclose(file);
    return written ? IFM_OK : ifm_fail(error, IFM_INTERNAL, NULL, NULL, "the rows of a slot do not fit");
}

static enum ifm_status serve(struct remote_worker *worker, const struct ifm_remote_request *request,
                             struct ifm_remote_answer *answer, struct ifm_error *error)
{
    struct ifm_cell_run *cell = &worker->cell;
    switch (request->op) {
    case IFM_REMOTE_OPEN:
        return open_arm(worker, request, error);
    case IFM_REMOTE_CHECK:
        cell->check_s = request->check_s;
        return ifm_arm_check(cell, request->arm, request->first, &answer->check, error);
    case IFM_REMOTE_ROUGH:
        return ifm_arm_rough_ns(cell, request->arm, &answer->ns, error);
    case IFM_REMOTE_ROLL:
        return ifm_arm_roll(cell, request->arm, &request->roll, NULL, error);
    case IFM_REMOTE_SLOT:
        IFM_TRY(run_slot(worker, request, &answer->slot, error));
        answer->displaced = 1 + ifm_cpu_displaced(worker->device, &(bool){false});
        return IFM_OK;
    case IFM_REMOTE_TELL:
        return tell(worker, answer, error);
    case IFM_REMOTE_FEATURES:
        return ifm_arm_feature_runs(cell, request->arm, &answer->runs, error);
    }
    return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "a request that no worker knows");
}

static void end(struct remote_worker *worker)
{
    if (worker->cell.plan != NULL)
        ifm_cell_close(&worker->cell);
    if (worker->device != NULL)
        worker->device->ops->close(worker->device);
    ifm_arena_destroy(worker->arena);
}

static void stay(int number)
{
    (void)number;
}

enum ifm_status ifm_worker_serve(struct ifm_error *error)
{
    int type = 0;
    socklen_t size = sizeof type;
    if (getsockopt(IFM_REMOTE_SOCKET, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET)
        return ifm_fail(error, IFM_USAGE, "", "use `inferometer run` with measure.isolation=processes",
                        "a worker is started by a run, not by hand");
    /* A signal from the keyboard reaches every process of the terminal; it is the run that answers it. A handler, since
     * programs that an arm starts would inherit that a signal is ignored. */
    struct sigaction action = {.sa_handler = stay, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int fd = IFM_REMOTE_SOCKET; fd <= IFM_REMOTE_PLAN; fd++) /* programs that an arm starts must not hold them */
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    struct remote_worker worker = {.arena = ifm_arena_create()};
    struct ifm_remote_request request;
    while (recv(IFM_REMOTE_SOCKET, &request, sizeof request, 0) == (ssize_t)sizeof request) {
        struct ifm_remote_answer answer = {0};
        answer.status = serve(&worker, &request, &answer, &answer.error);
        if (worker.device != NULL &&
            worker.device->ops->resolve == NULL) { /* asleep, all of them, before another process works */
            worker.device->ops->hold(worker.device, 1);
            worker.device->ops->release(worker.device);
        }
        if (send(IFM_REMOTE_SOCKET, &answer, sizeof answer, MSG_NOSIGNAL) != (ssize_t)sizeof answer)
            break;
    }
    end(&worker);
    return IFM_OK;
}
