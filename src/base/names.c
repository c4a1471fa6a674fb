/* Names and their numbers, in a hash table of jansson's. */
#include "base/names.h"

#include "base/log.h"
#include <jansson.h>

struct ifm_names {
    json_t *numbers;
};

static void release(void *numbers)
{
    json_decref(numbers);
}

struct ifm_names *ifm_names_create(struct ifm_arena *arena)
{
    struct ifm_names *names = IFM_ARENA_NEW(arena, struct ifm_names);
    names->numbers = json_object();
    ifm_arena_defer(arena, release, names->numbers);
    return names;
}

size_t ifm_names_find(const struct ifm_names *names, const char *name)
{
    const json_t *number = json_object_get(names->numbers, name);
    return number == NULL ? IFM_NO_NAME : (size_t)json_integer_value(number);
}

size_t ifm_names_add(struct ifm_names *names, const char *name)
{
    size_t number = ifm_names_find(names, name), n = ifm_names_count(names);
    if (number != IFM_NO_NAME)
        return number;
    /* Not checked for UTF-8: any text is a name. */
    if (json_object_set_new_nocheck(names->numbers, name, json_integer((json_int_t)n)) != 0)
        ifm_die("out of memory for a name");
    return n;
}

size_t ifm_names_count(const struct ifm_names *names)
{
    return json_object_size(names->numbers);
}
