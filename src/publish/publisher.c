/* Who published a folder. Two versions may say the same numbers in other words: verify needs to know whose words. */
#include "publish/publisher.h"

#include "base/program.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char member[] = "published_by";

static json_t *this_program(void)
{
    return json_pack("{s:s, s:s?}", "version", IFM_VERSION, "revision", ifm_program_revision());
}

void ifm_publisher_add(json_t *derived)
{
    json_object_set_new(derived, member, this_program());
}

/* The text comes from a file and goes to a terminal. */
static bool is_plain(const char *text)
{
    if (text == NULL || text[0] == '\0' || strlen(text) > 40)
        return false;
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char)*text) && strchr(".-+", *text) == NULL)
            return false;
    return true;
}

bool ifm_publisher_take(json_t *derived, char name[static IFM_PUBLISHER_SIZE])
{
    json_t *there = json_object_get(derived, member), *here = this_program();
    const char *version = json_string_value(json_object_get(there, "version"));
    const char *revision = json_string_value(json_object_get(there, "revision"));
    bool same = there != NULL && json_equal(there, here);
    if (is_plain(version) && is_plain(revision))
        snprintf(name, IFM_PUBLISHER_SIZE, "inferometer %s, revision %.12s", version, revision);
    else if (is_plain(version))
        snprintf(name, IFM_PUBLISHER_SIZE, "inferometer %s of an unknown revision", version);
    else
        snprintf(name, IFM_PUBLISHER_SIZE, "an earlier version of inferometer");
    json_decref(here);
    json_object_del(derived, member);
    return same;
}
