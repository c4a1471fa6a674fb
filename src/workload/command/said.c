/* The last lines that a program wrote to standard error. */
#include "workload/command/said.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT = 1 << 20, MOST_LINES = 10 };

int ifm_said_open(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY)
        return -1;
    int fd = memfd_create("standard error", MFD_CLOEXEC);
    if (fd >= 0 && fcntl(fd, F_SETFL, O_APPEND) != 0) { /* a program that empties it goes on at its begin */
        close(fd);
        return -1;
    }
    return fd;
}

void ifm_said_clear(int fd)
{
    if (fd >= 0)
        (void)!ftruncate(fd, 0);
}

void ifm_said_thin(void *with)
{
    int fd = *(const int *)with;
    struct stat file;
    if (fd >= 0 && fstat(fd, &file) == 0 && file.st_size > KEPT)
        (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, file.st_size - KEPT);
}

/* Where the last MOST_LINES lines of a text begin that ends with a line's end. */
static const char *last_lines(const char *text)
{
    const char *at = text + strlen(text);
    for (int lines = -1; at > text; at--)
        if (at[-1] == '\n' && ++lines == MOST_LINES)
            return at;
    return text;
}

bool ifm_said_show(int fd, struct ifm_error *error)
{
    struct stat file;
    char text[sizeof error->said];
    if (fd < 0 || error == NULL || fstat(fd, &file) != 0)
        return true;
    off_t from = file.st_size > (off_t)sizeof text - 2 ? file.st_size - ((off_t)sizeof text - 2) : 0;
    ssize_t n = pread(fd, text, sizeof text - 2, from);
    while (n > 0 && strchr(" \n\r\t", text[n - 1]) != NULL)
        n--;
    if (n <= 0)
        return n < 0;
    for (ssize_t i = 0; i < n; i++)
        text[i] = text[i] == '\0' ? '?' : text[i] == '\r' ? '\n' : text[i];
    memcpy(text + n, "\n", 2);
    const char *cut = from == 0 ? NULL : strchr(text, '\n'); /* the begin of a line is missing */
    snprintf(error->said, sizeof error->said, "%s", last_lines(cut != NULL && cut[1] != '\0' ? cut + 1 : text));
    return true;
}
