/* Workers, seen from the run. */
#include "run/remote/remote.h"

#include "base/private.h"
#include "device/cpu.h"
#include "model/plan_json.h"
#include "run/interrupt.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Our ends of the descriptors lie above those of a worker, so that handing them over overwrites none. */
enum { ABOVE = 16 };

struct ifm_remote {
    pid_t pid;
    int socket;
};

struct ifm_remote_shared {
    int samples, plan;
    unsigned char *memory;
    size_t bytes;
};

static enum ifm_status system_failed(const char *what, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INTERNAL, NULL, "measure with measure.isolation=shared or buffers", "cannot %s: %s",
                    what, strerror(errno));
}

/* `fd` again as a number out of the workers' way, closed when another program starts. */
static int lift(int fd)
{
    int lifted = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, ABOVE);
    if (fd >= 0)
        close(fd);
    return lifted;
}

/* The files of the plugins that this process has loaded: a worker loads them too. */
static json_t *plugins_json(void)
{
    json_t *list = json_array();
    for (size_t i = 0; ifm_workloads[i] != NULL; i++)
        if (ifm_workloads[i]->plugin != NULL)
            json_array_append_new(list, json_pack("{s:s, s:s}", "path", ifm_workloads[i]->plugin->path, "sha256",
                                                  ifm_workloads[i]->plugin->sha256));
    return list;
}

/* plan.json of this cell alone, the texts of its private parameters, and the plugins: in memory that only the workers
 * see. */
static bool write_plan(const struct ifm_cell *cell, const char *device, int fd)
{
    struct ifm_cell alone = *cell;
    struct ifm_plan plan = {.run_id = "", .config_hash = "", .device = device, .cells = &alone, .n_cells = 1};
    alone.index = 0;
    json_t *json = json_pack("{s:o, s:o*, s:o}", "plan", ifm_plan_to_json(&plan), "private", ifm_private_json(),
                             "plugins", plugins_json());
    bool written = json != NULL && json_dumpfd(json, fd, JSON_COMPACT) == 0;
    json_decref(json);
    return written;
}

void ifm_remote_free(struct ifm_remote_shared *shared)
{
    if (shared == NULL)
        return;
    if (shared->memory != MAP_FAILED)
        munmap(shared->memory, shared->bytes);
    if (shared->samples >= 0)
        close(shared->samples);
    if (shared->plan >= 0)
        close(shared->plan);
    free(shared);
}

static enum ifm_status share(struct ifm_cell_run *cell, struct ifm_error *error)
{
    struct ifm_remote_shared *shared = calloc(1, sizeof *shared);
    if (shared == NULL)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "out of memory");
    cell->shared = shared;
    shared->bytes = ifm_remote_bytes(cell->pass);
    shared->memory = MAP_FAILED;
    shared->samples = lift(memfd_create("inferometer samples", MFD_CLOEXEC));
    shared->plan = lift(memfd_create("inferometer plan", MFD_CLOEXEC));
    if (shared->samples >= 0 && ftruncate(shared->samples, (off_t)shared->bytes) == 0)
        shared->memory = mmap(NULL, shared->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared->samples, 0);
    if (shared->memory == MAP_FAILED || shared->plan < 0)
        return system_failed("share memory with worker processes", error);
    if (!write_plan(cell->plan, cell->device->ops->name, shared->plan))
        return system_failed("hand the plan to worker processes", error);
    return IFM_OK;
}

static int spawn_with(pid_t *pid, int socket, const struct ifm_remote_shared *shared)
{
    posix_spawn_file_actions_t actions;
    char *const argv[] = {(char *)"inferometer", (char *)"worker", NULL};
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0)
        return failure;
    failure = posix_spawn_file_actions_adddup2(&actions, socket, IFM_REMOTE_SOCKET);
    if (failure == 0)
        failure = posix_spawn_file_actions_adddup2(&actions, shared->samples, IFM_REMOTE_SAMPLES);
    if (failure == 0)
        failure = posix_spawn_file_actions_adddup2(&actions, shared->plan, IFM_REMOTE_PLAN);
    if (failure == 0)
        failure = posix_spawn(pid, "/proc/self/exe", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

static enum ifm_status start(struct ifm_cell_run *cell, struct ifm_remote **out, struct ifm_error *error)
{
    int pair[2];
    struct ifm_remote *remote = calloc(1, sizeof *remote);
    if (remote == NULL)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "out of memory");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        free(remote);
        return system_failed("open a socket to a worker process", error);
    }
    int theirs = lift(pair[1]);
    remote->socket = lift(pair[0]);
    errno = remote->socket < 0 || theirs < 0 ? EMFILE : spawn_with(&remote->pid, theirs, cell->shared);
    enum ifm_status status = errno == 0 ? IFM_OK : system_failed("start a worker process", error);
    if (theirs >= 0)
        close(theirs);
    if (status != IFM_OK) {
        if (remote->socket >= 0)
            close(remote->socket);
        free(remote);
        return status;
    }
    *out = remote;
    return IFM_OK;
}

/* The worker is gone: say how it ended. */
static enum ifm_status died(struct ifm_cell_run *cell, struct ifm_arm_run *arm, struct ifm_error *error)
{
    struct ifm_remote *remote = arm->remote;
    int how = 0;
    kill(remote->pid, SIGKILL); /* it may only have closed its end */
    while (waitpid(remote->pid, &how, 0) < 0 && errno == EINTR)
        continue;
    close(remote->socket);
    free(remote);
    arm->remote = NULL;
    IFM_TRY(ifm_interrupt_check(cell->plan->name, error));
    cell->session->arm_at_fault = true;
    if (WIFSIGNALED(how))
        return ifm_fail(error, IFM_INVALID, cell->plan->name, "run the arm alone with measure.isolation=shared to see",
                        "the process of arm %s was ended by signal %d (%s); its block is lost", arm->plan->name,
                        WTERMSIG(how), strsignal(WTERMSIG(how)));
    return ifm_fail(error, IFM_INVALID, cell->plan->name, "run the arm alone with measure.isolation=shared to see",
                    "the process of arm %s ended by itself with status %d; its block is lost", arm->plan->name,
                    WEXITSTATUS(how));
}

enum ifm_status ifm_remote_ask(struct ifm_cell_run *cell, unsigned index, struct ifm_remote_request request,
                               struct ifm_remote_answer *answer, struct ifm_error *error)
{
    struct ifm_arm_run *arm = &cell->arms[index];
    struct ifm_device *device = cell->device;
    ssize_t n;
    request.arm = index;
    /* Our own workers spin for a while after a slot; with all but the driver released, this waits until they sleep. */
    if (device->ops->resolve == NULL) {
        device->ops->hold(device, 1);
        device->ops->release(device);
    }
    if (send(arm->remote->socket, &request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request)
        return died(cell, arm, error);
    do
        n = recv(arm->remote->socket, answer, sizeof *answer, 0);
    while (n < 0 && errno == EINTR); /* an interruption ends the run between slots */
    if (n != (ssize_t)sizeof *answer)
        return died(cell, arm, error);
    if (answer->status != IFM_OK && error != NULL)
        *error = answer->error;
    return answer->status;
}

static struct ifm_remote_request opening(const struct ifm_cell_run *cell)
{
    const struct ifm_device_options *options = cell->session->device;
    return (struct ifm_remote_request){.op = IFM_REMOTE_OPEN,
                                       .threads = options->threads,
                                       .huge_pages = options->huge_pages,
                                       .seed = options->seed,
                                       .no_graphs = options->no_graphs,
                                       .kernels = options->kernels};
}

enum ifm_status ifm_remote_open_recorded(struct ifm_cell_run *cell, unsigned index, struct ifm_error *error)
{
    struct ifm_remote_request request = opening(cell);
    struct ifm_remote_answer answer;
    request.pass = (uint32_t)(cell->pass - cell->plan->passes);
    request.records = true;
    if (cell->shared == NULL)
        IFM_TRY(share(cell, error));
    if (!ifm_cpu_mask_process(&request.cpus))
        return system_failed("read the CPUs of this process", error);
    IFM_TRY(start(cell, &cell->arms[index].remote, error));
    return ifm_remote_ask(cell, index, request, &answer, error);
}

const char *ifm_remote_text(const struct ifm_cell_run *cell)
{
    return (const char *)cell->shared->memory;
}

enum ifm_status ifm_remote_open(struct ifm_cell_run *cell, unsigned index, struct ifm_error *error)
{
    struct ifm_remote_request request = opening(cell);
    struct ifm_remote_answer answer;
    if (cell->shared == NULL)
        IFM_TRY(share(cell, error));
    if (!ifm_cpu_mask_before(cell->device, &request.cpus))
        return ifm_fail(error, IFM_USAGE, cell->plan->name, "choose device.kind=cpu",
                        "processes of their own need the device cpu");
    IFM_TRY(start(cell, &cell->arms[index].remote, error));
    cell->arms[index].processes++;
    return ifm_remote_ask(cell, index, request, &answer, error);
}

void ifm_remote_close(struct ifm_arm_run *arm)
{
    struct ifm_remote *remote = arm->remote;
    if (remote == NULL)
        return;
    close(remote->socket); /* it reads the end of its requests, and ends */
    while (waitpid(remote->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    free(remote);
    arm->remote = NULL;
}

enum ifm_status ifm_remote_slot(struct ifm_cell_run *cell, unsigned arm, struct ifm_slot *slot,
                                struct ifm_sample *samples, int64_t *columns, struct ifm_error *error)
{
    struct ifm_remote_request request = {.op = IFM_REMOTE_SLOT,
                                         .inner = cell->arms[arm].inner,
                                         .samples = cell->arms[arm].samples,
                                         .lead = cell->arms[arm].lead};
    struct ifm_remote_answer answer;
    int64_t base = cell->session->offset_ns - cell->session->base.ns;
    IFM_TRY(ifm_remote_ask(cell, arm, request, &answer, error));
    cell->displaced = answer.displaced > 0 ? answer.displaced : cell->displaced;
    memcpy(columns, cell->shared->memory, cell->pass->n_columns * sizeof *columns);
    memcpy(samples, cell->shared->memory + ifm_remote_samples_at(cell->pass), request.samples * sizeof *samples);
    for (uint32_t i = 0; i < request.samples; i++)
        samples[i].start_ns += base;
    *slot = answer.slot;
    slot->start_ns += base;
    slot->end_ns += base;
    slot->columns = columns;
    return IFM_OK;
}
