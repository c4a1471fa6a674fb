/* A folder with a manifest.sha256: one error that says what is wrong, or a manifest that is, byte for byte, the one
 * that would be written of the folder. */
#include "base/file.h"
#include "sample/manifest.h"
#include "tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *read_manifest(size_t *size)
{
    char path[TREE_PATH], *text = NULL;
    snprintf(path, sizeof path, "%s/manifest.sha256", tree_root());
    if (ifm_file_read(path, SIZE_MAX, &text, size, NULL) != IFM_OK)
        abort();
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_error error = {0};
    tree_make(data, size);
    enum ifm_status status = ifm_manifest_check(tree_root(), false, &error);
    enum ifm_status of_record = ifm_manifest_check(tree_root(), true, NULL);
    if (status == IFM_OK) {
        size_t before = 0, after = 0;
        char *theirs = read_manifest(&before);
        if (of_record != IFM_OK || ifm_manifest_write(tree_root(), &error) != IFM_OK)
            abort();
        char *ours = read_manifest(&after);
        if (before != after || memcmp(theirs, ours, after) != 0)
            abort();
        free(theirs);
        free(ours);
    } else if (status != IFM_INVALID || error.message[0] == '\0' || error.where[0] == '\0') {
        abort();
    } else if (ifm_manifest_write(tree_root(), NULL) == IFM_OK &&
               ifm_manifest_check(tree_root(), false, NULL) != IFM_OK) {
        abort();
    }
    tree_clear();
    return 0;
}
