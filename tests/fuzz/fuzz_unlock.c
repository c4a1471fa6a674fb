/* A machine of files with a state file of locks: everything is put back and the file is gone, or one error says what is
 * wrong and the file is still there. A knob with another value is such an error. A second time there is nothing to do,
 * or the same error. */
#include "base/file.h"
#include "lock/lock.h"
#include "tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum ifm_status unlock(const struct ifm_lock_options *options)
{
    struct ifm_lock *lock = NULL;
    struct ifm_error error = {0};
    size_t n, failed = 0;
    bool present = access(options->state, F_OK) == 0;
    enum ifm_status status = ifm_lock_recover(options, &lock, &error);
    const struct ifm_lock_row *rows = ifm_lock_rows(lock, &n);
    for (size_t i = 0; i < n; i++) {
        if (rows[i].outcome == IFM_LOCK_PLANNED)
            abort();
        bool is_clock = strstr(ifm_lock_knob(&rows[i]), "clock") != NULL;
        failed += rows[i].outcome == IFM_LOCK_FAILED || (rows[i].outcome == IFM_LOCK_LEFT && !is_clock);
    }
    if ((status != IFM_OK) != (present && access(options->state, F_OK) == 0) || (failed > 0 && status == IFM_OK) ||
        (status != IFM_OK && error.message[0] == '\0'))
        abort();
    ifm_lock_close(lock);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char state[TREE_PATH];
    tree_make(data, size);
    snprintf(state, sizeof state, "%s/locks.json", tree_root());
    const struct ifm_lock_options options = {.root = tree_root(), .state = state};
    enum ifm_status first = unlock(&options);
    if (unlock(&options) != first)
        abort();
    tree_clear();
    return 0;
}
