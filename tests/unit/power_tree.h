/* A folder that stands for the root of a machine, and sensors found in it; for the tests of power. */
#ifndef IFM_TESTS_UNIT_POWER_TREE_H
#define IFM_TESTS_UNIT_POWER_TREE_H

#include <cmocka.h>

#include "power/power.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char tree_root[64];

/* Write `text` to a path below the root, with its folders. */
static inline void tree_put(const char *path, const char *text)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", tree_root, path);
    for (char *at = whole + strlen(tree_root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(whole, 0755);
        *at = '/';
    }
    FILE *file = fopen(whole, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline void tree_append(const char *path, const char *text)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", tree_root, path);
    FILE *file = fopen(whole, "ae");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline int tree_set_up(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    snprintf(tree_root, sizeof tree_root, "%s/ifm-power-XXXXXX",
             folder != NULL && strlen(folder) < 32 ? folder : "/tmp");
    return mkdtemp(tree_root) == NULL || chmod(tree_root, 0755) != 0 ? -1 : 0;
}

static inline int tree_remove(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline int tree_tear_down(void **state)
{
    (void)state;
    return nftw(tree_root, tree_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static inline struct ifm_power *tree_open(const struct ifm_power_options *options)
{
    return ifm_power_open(options);
}

/* The sensor's place in the list; IFM_POWER_MOST where there is none. */
static inline size_t tree_sensor(const struct ifm_power *power, const char *device, const char *source)
{
    const struct ifm_power_list *list = ifm_power_list(power);
    for (size_t i = 0; i < list->n_sensors; i++)
        if (strcmp(list->sensors[i].device, device) == 0 && strcmp(list->sensors[i].source, source) == 0)
            return i;
    return IFM_POWER_MOST;
}

static inline const struct ifm_power_absence *tree_absence(const struct ifm_power *power, const char *source)
{
    const struct ifm_power_list *list = ifm_power_list(power);
    for (size_t i = 0; i < list->n_absences; i++)
        if (strcmp(list->absences[i].source, source) == 0)
            return &list->absences[i];
    return NULL;
}

#endif
