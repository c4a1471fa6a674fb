/* A temporary folder for a test, and whole files in it. Every step is asserted. Include after cmocka.h. */
#ifndef IFM_TEST_SAMPLE_FOLDER_H
#define IFM_TEST_SAMPLE_FOLDER_H

#include "base/text.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
    char path[64];
    char name[256]; /* of the file that was named last */
};

static inline struct folder folder_make(void)
{
    struct folder folder = {.path = "/tmp/ifm-sample-XXXXXX"};
    assert_non_null(mkdtemp(folder.path));
    return folder;
}

static inline const char *folder_name(struct folder *folder, const char *name)
{
    snprintf(folder->name, sizeof folder->name, "%s/%s", folder->path, name);
    return folder->name;
}

static inline void folder_write(struct folder *folder, const char *name, const char *data, size_t size)
{
    FILE *file = fopen(folder_name(folder, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Release with ifm_text_free. */
static inline struct ifm_text folder_read(struct folder *folder, const char *name)
{
    struct ifm_text text = {0};
    char chunk[4096];
    FILE *file = fopen(folder_name(folder, name), "rb");
    assert_non_null(file);
    ifm_text_append(&text, "", 0);
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;)
        ifm_text_append(&text, chunk, n);
    fclose(file);
    return text;
}

static inline void folder_assert_holds(struct folder *folder, const char *name, const struct ifm_text *expected)
{
    struct ifm_text text = folder_read(folder, name);
    assert_int_equal(text.size, expected->size);
    if (text.size > 0)
        assert_memory_equal(text.data, expected->data, text.size);
    ifm_text_free(&text);
}

static inline int folder_unlink(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static inline void folder_remove(struct folder *folder)
{
    assert_int_equal(nftw(folder->path, folder_unlink, 8, FTW_DEPTH | FTW_PHYS), 0);
}

#endif
