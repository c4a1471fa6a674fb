/* A folder made of one input, for targets whose parser reads files: a line "=== NAME" begins a file, and what follows
 * up to the next such line is its content. A name that leads out of the folder ends the input. The folder lies below
 * TMPDIR and is removed when the process ends. */
#ifndef TESTS_FUZZ_TREE_H
#define TESTS_FUZZ_TREE_H

#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TREE_PATH = 512, TREE_NAME = 200 };
static char tree_path[TREE_PATH / 4];
static pid_t tree_owner;

static inline int tree_remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    return at->level == 0 ? 0 : remove(path);
}

/* Empties the folder. */
static inline void tree_clear(void)
{
    nftw(tree_path, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void tree_remove(void)
{
    if (getpid() != tree_owner)
        return;
    tree_clear();
    rmdir(tree_path);
}

/* The folder, made by the first call. */
static inline const char *tree_root(void)
{
    if (tree_path[0] != '\0')
        return tree_path;
    const char *below = getenv("TMPDIR");
    int n = snprintf(tree_path, sizeof tree_path, "%s/ifm-fuzz-XXXXXX", below == NULL ? P_tmpdir : below);
    if (n < 0 || (size_t)n >= sizeof tree_path || mkdtemp(tree_path) == NULL)
        abort();
    tree_owner = getpid();
    atexit(tree_remove);
    return tree_path;
}

static inline bool tree_is_inside(const char *name)
{
    return name[0] != '\0' && name[0] != '/' && strstr(name, "..") == NULL;
}

/* False where no file of that name can be: it is a folder, or lies below a file. */
static inline bool tree_write(const char *name, const char *data, size_t size)
{
    char path[TREE_PATH];
    int n = snprintf(path, sizeof path, "%s/%s", tree_root(), name);
    if (n < 0 || (size_t)n >= sizeof path)
        return false;
    for (char *at = path + strlen(tree_root()) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    bool whole = fwrite(data, 1, size, file) == size;
    if (fclose(file) != 0 || !whole)
        abort();
    return true;
}

/* The files of an input; the number of them. */
static inline unsigned tree_make(const uint8_t *data, size_t size)
{
    static const char mark[] = "=== ";
    const char *at = (const char *)data, *end = at + size;
    unsigned n = 0;
    tree_root();
    while ((size_t)(end - at) > sizeof mark - 1 && memcmp(at, mark, sizeof mark - 1) == 0) {
        const char *name = at + sizeof mark - 1, *line = memchr(name, '\n', (size_t)(end - name));
        char copy[TREE_NAME];
        if (line == NULL || (size_t)(line - name) >= sizeof copy)
            break;
        memcpy(copy, name, (size_t)(line - name));
        copy[line - name] = '\0';
        if (!tree_is_inside(copy))
            break;
        const char *body = line + 1, *next = body;
        if ((size_t)(end - body) < sizeof mark - 1 || memcmp(body, mark, sizeof mark - 1) != 0) {
            next = memmem(body, (size_t)(end - body), "\n=== ", sizeof mark);
            next = next == NULL ? end : next + 1;
        }
        n += tree_write(copy, body, (size_t)(next - body));
        at = next;
    }
    return n;
}

#endif
