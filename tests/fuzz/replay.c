/* Replays a corpus without libFuzzer: each file of each folder (or each file named) goes through the fuzz target once.
 * An empty or missing corpus is a failure: a replay that replays nothing tests nothing. So is an input that takes
 * longer than AT_MOST_S, which is then named; libFuzzer's -timeout does the same. */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AT_MOST_S = 60 }; /* a sanitizer on a busy machine is slow */

static const char *input; /* that runs */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void too_long(int number)
{
    static const char words[] = ": this input does not end\n";
    if (write(STDERR_FILENO, input, strlen(input)) < 0 || write(STDERR_FILENO, words, sizeof words - 1) < 0)
        _exit(number);
    abort();
}

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return -1;
    }
    struct stat info;
    if (fstat(fileno(file), &info) != 0 || info.st_size < 0) {
        perror(path);
        fclose(file);
        return -1;
    }
    /* Exactly as many bytes as the file has, so that a sanitizer sees a read past the end. */
    size_t size = (size_t)info.st_size;
    uint8_t *data = malloc(size == 0 ? 1 : size);
    size_t got = data == NULL ? 0 : fread(data, 1, size, file);
    fclose(file);
    if (data == NULL || got != size) {
        fprintf(stderr, "%s: cannot be read whole\n", path);
        free(data);
        return -1;
    }
    input = path;
    alarm(AT_MOST_S);
    LLVMFuzzerTestOneInput(data, size);
    alarm(0);
    free(data);
    return 1;
}

static int replay_folder(const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    if (n < 0) {
        perror(path);
        return -1;
    }
    int replayed = 0;
    for (int i = 0; i < n; i++) {
        char file[4096];
        struct stat info;
        int length = snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        free(entries[i]);
        if (replayed < 0 || length < 0 || (size_t)length >= sizeof file || stat(file, &info) != 0 ||
            !S_ISREG(info.st_mode))
            continue;
        int one = replay_file(file);
        replayed = one < 0 ? -1 : replayed + one;
    }
    free(entries);
    return replayed;
}

int main(int argc, char **argv)
{
    int total = 0;
    signal(SIGALRM, too_long);
    for (int i = 1; i < argc; i++) {
        struct stat info;
        int one = stat(argv[i], &info) == 0 && S_ISREG(info.st_mode) ? replay_file(argv[i]) : replay_folder(argv[i]);
        if (one < 0)
            return 1;
        total += one;
    }
    printf("%d inputs replayed\n", total);
    return total > 0 ? 0 : 1;
}
