/* The licence beside a model or a data set, as its folder names it. `from` says which file was read. Unknown licence
 * texts are reported as unknown, not guessed. */
#include "host/host.h"
#include "host/probe.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ID = 64, FIRST_BYTES = 4096 };

#define REMEDY "put the model's LICENSE beside it, or a README.md whose front matter has `license: ID`"

/* "license: apache-2.0" between the two lines "---" that open a model card. */
static bool from_front_matter(const char *text, const char *key, char id[static MOST_ID])
{
    size_t length = strlen(key);
    if (strncmp(text, "---\n", 4) != 0)
        return false;
    for (const char *line = text + 4; *line != '\0' && strncmp(line, "---", 3) != 0;) {
        const char *next = line + strcspn(line, "\n");
        if (strncmp(line, key, length) == 0 && line[length] == ':') {
            const char *value = line + length + 1;
            value += strspn(value, " \"'");
            return ifm_probe_copy(value, strcspn(value, " \"'\r\n"), id, MOST_ID) && ifm_probe_is_plain(id, MOST_ID);
        }
        line = *next == '\n' ? next + 1 : next;
    }
    return false;
}

/* A licence matches when both phrases stand in the first lines; more specific texts come first. */
static const struct phrase {
    const char *first, *second, *id;
} phrases[] = {
    {"GNU AFFERO GENERAL PUBLIC LICENSE", "Version 3", "AGPL-3.0"},
    {"GNU LESSER GENERAL PUBLIC LICENSE", "Version 3", "LGPL-3.0"},
    {"GNU LESSER GENERAL PUBLIC LICENSE", "Version 2.1", "LGPL-2.1"},
    {"GNU GENERAL PUBLIC LICENSE", "Version 3", "GPL-3.0"},
    {"GNU GENERAL PUBLIC LICENSE", "Version 2", "GPL-2.0"},
    {"Apache License", "Version 2.0", "Apache-2.0"},
    {"Mozilla Public License", "2.0", "MPL-2.0"},
    {"Attribution-NonCommercial-ShareAlike 4.0", "", "CC-BY-NC-SA-4.0"},
    {"Attribution-NonCommercial-NoDerivatives 4.0", "", "CC-BY-NC-ND-4.0"},
    {"Attribution-NonCommercial 4.0", "", "CC-BY-NC-4.0"},
    {"Attribution-ShareAlike 4.0", "", "CC-BY-SA-4.0"},
    {"Attribution 4.0 International", "", "CC-BY-4.0"},
    {"CC0 1.0 Universal", "", "CC0-1.0"},
    {"Llama 3.3 Community License", "", "llama3.3"},
    {"Llama 3.2 Community License", "", "llama3.2"},
    {"Llama 3.1 Community License", "", "llama3.1"},
    {"Meta Llama 3 Community License", "", "llama3"},
    {"Llama 2 Community License", "", "llama2"},
    {"Gemma Terms of Use", "", "gemma"},
    {"The Unlicense", "", "Unlicense"},
    {"This is free and unencumbered software released into the public domain", "", "Unlicense"},
    {"Neither the name of", "Redistribution and use in source and binary forms", "BSD-3-Clause"},
    {"Redistributions in binary form must reproduce", "Redistribution and use in source and binary forms",
     "BSD-2-Clause"},
    {"Permission is hereby granted, free of charge", "without restriction", "MIT"},
    {"MIT License", "", "MIT"},
};

static bool from_text(const char *text, char id[static MOST_ID])
{
    static const char tag[] = "SPDX-License-Identifier:";
    const char *found = strstr(text, tag);
    if (found != NULL) {
        found += sizeof tag - 1;
        found += strspn(found, " ");
        if (ifm_probe_copy(found, strcspn(found, " \r\n*"), id, MOST_ID))
            return ifm_probe_is_plain(id, MOST_ID);
    }
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (strcasestr(text, phrases[i].first) != NULL && strcasestr(text, phrases[i].second) != NULL) {
            snprintf(id, MOST_ID, "%s", phrases[i].id);
            return true;
        }
    return false;
}

/* The first lines; line ends and indents become single blanks, so that a phrase may be broken over lines. */
static void flatten(char *text)
{
    size_t n = 0;
    for (size_t i = 0; text[i] != '\0' && n < FIRST_BYTES; i++) {
        bool blank = strchr(" \t\r\n", text[i]) != NULL;
        if (!blank || (n > 0 && text[n - 1] != ' '))
            text[n++] = blank ? ' ' : text[i];
    }
    text[n] = '\0';
}

static json_t *licence(const char *id, const char *file)
{
    return json_pack("{s:s, s:s}", "id", id, "from", file);
}

json_t *ifm_host_licence(const char *folder)
{
    static const char *const files[] = {"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING"};
    char id[MOST_ID];
    char *card = ifm_probe_text("", "%s/README.md", folder);
    /* "other" names the licence in a member of its own. */
    bool named = card != NULL && from_front_matter(card, "license", id) &&
                 (strcmp(id, "other") != 0 || from_front_matter(card, "license_name", id)) && strcmp(id, "other") != 0;
    free(card);
    if (named)
        return licence(id, "README.md");
    bool there = false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *text = ifm_probe_text("", "%s/%s", folder, files[i]);
        if (text == NULL)
            continue;
        there = true;
        flatten(text);
        bool known = from_text(text, id);
        free(text);
        if (known)
            return licence(id, files[i]);
    }
    return ifm_probe_absent(there ? "unknown: the licence text beside the file is not recognised"
                                  : "unknown: there is no licence beside the file",
                            REMEDY);
}
