/* Files: what a failure is blamed on, who may read what is written, and what a user may name; texts of others in JSON
 * and on one line. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/file.h"
#include "base/json.h"
#include "base/plain.h"
#include "facts.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct ifm_error error;
static char dir[] = "/tmp/ifm-file-XXXXXX";

static const char *in(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(dir) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"a.json", "file", "link", "pipe", "folder"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)remove(in(names[i]));
    return rmdir(dir);
}

static void a_hint_is_about_its_cause(void **state)
{
    (void)state;
    static const struct {
        int code;
        enum ifm_status status;
        const char *has;
    } cases[] = {
        {ENOSPC, IFM_INTERNAL, "space"},    {EDQUOT, IFM_INTERNAL, "space"},     {EFBIG, IFM_INTERNAL, "ulimit -f"},
        {EROFS, IFM_USAGE, "read-only"},    {EMFILE, IFM_INTERNAL, "ulimit -n"}, {ENFILE, IFM_INTERNAL, "file-max"},
        {ELOOP, IFM_USAGE, "link"},         {EIO, IFM_INTERNAL, "dmesg"},        {ENOENT, IFM_USAGE, "name"},
        {ENAMETOOLONG, IFM_USAGE, "short"}, {EACCES, IFM_USAGE, "who"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ifm_file_fail("x", "cannot write", cases[i].code, &error), cases[i].status);
        assert_facts(error.hint, cases[i].has);
        assert_facts(error.message, strerror(cases[i].code));
        assert_true((strstr(error.hint, "dmesg") != NULL) == (cases[i].code == EIO));
        assert_true((strstr(error.hint, "space") != NULL) == (cases[i].code == ENOSPC || cases[i].code == EDQUOT));
    }
    assert_int_not_equal(strlen(ifm_file_hint(EPROTO)), 0); /* also of what nobody thought of */
}

static unsigned mode_of(const char *name)
{
    struct stat info;
    assert_int_equal(lstat(in(name), &info), 0);
    return info.st_mode & 0777;
}

static void private_files_are_their_owner_s_alone(void **state)
{
    (void)state;
    json_t *value = json_pack("{s:s}", "host", "x");
    mode_t before = umask(0);
    assert_int_equal(ifm_json_write_private(in("a.json"), value, &error), IFM_OK);
    assert_int_equal(mode_of("a.json"), 0600);
    assert_int_equal(ifm_json_write(in("a.json"), value, &error), IFM_OK);
    assert_int_equal(mode_of("a.json"), 0644);
    umask(before);
    json_decref(value);
}

static void only_what_was_named_is_written(void **state)
{
    (void)state;
    char text[16] = "";
    assert_int_equal(ifm_file_write_named(in("file"), "one", 3, &error), IFM_OK);
    assert_int_equal(symlink("file", in("link")), 0);
    assert_int_equal(ifm_file_write_named(in("link"), "two", 3, &error), IFM_USAGE);
    assert_int_equal(mkdir(in("folder"), 0755), 0);
    assert_int_equal(ifm_file_write_named(in("folder"), "two", 3, &error), IFM_USAGE);
    assert_true(ifm_file_line(in("file"), text, sizeof text));
    assert_string_equal(text, "one");
    assert_int_equal(mkfifo(in("pipe"), 0600), 0);
    int fd = open(in("pipe"), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ifm_file_write_named(in("pipe"), "three", 5, &error), IFM_OK);
    assert_int_equal(read(fd, text, sizeof text), 5);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    assert_int_equal(ifm_file_write_named(name, "four", 4, &error), IFM_OK);
    assert_int_equal(read(fd, text, sizeof text), 4);
    close(fd);
    struct stat info;
    assert_int_equal(lstat(in("pipe"), &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
}

/* What a terminal would act on, in every class: C0, DEL, C1, direction, separators, tags. */
#define HOSTILE                                                                                                        \
    "a\033[31m\177\xc2\x9b"                                                                                            \
    "b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xf3\xa0\x81\x81"

static void json_shows_no_control_character(void **state)
{
    (void)state;
    struct ifm_text text = {0};
    json_t *value = json_pack("{s:s}", HOSTILE, HOSTILE "\tc\r\n\xc2\xb5"), *back;
    ifm_json_print(value, true, &text);
    for (size_t i = 0; i < text.size; i++)
        assert_true(text.data[i] == '\n' || ((unsigned char)text.data[i] >= 0x20 && text.data[i] != 0x7f));
    for (const char *at = text.data; *at != '\0';) {
        uint32_t code;
        size_t length = ifm_plain_character(at, &code);
        assert_true(length > 0 && (code == '\n' || !ifm_plain_is_hostile(code)));
        at += length;
    }
    assert_non_null(strstr(text.data, "\xc2\xb5")); /* other characters stay */
    assert_int_equal(ifm_json_parse(text.data, text.size, "x", &back, &error), IFM_OK);
    assert_true(json_equal(value, back));
    json_decref(value);
    json_decref(back);
    ifm_text_free(&text);
}

static void a_line_is_made_plain(void **state)
{
    (void)state;
    char text[] = HOSTILE "\xff\n\tc\xc2\xb5", empty[] = "";
    ifm_plain_make(text);
    assert_string_equal(text, "a?[31m??b????? "
                              " c\xc2\xb5");
    ifm_plain_make(empty);
    assert_string_equal(empty, "");
}

static void a_span_ends_before_what_needs_a_look(void **state)
{
    (void)state;
    assert_int_equal(ifm_plain_span("", "\""), 0);
    assert_int_equal(ifm_plain_span("all ~ of it", ""), 11);
    assert_int_equal(ifm_plain_span("ab\"c", "\\\""), 2);
    for (int c = 1; c < 256; c++) {
        char text[] = {'a', (char)c, 'b', '\0'};
        assert_int_equal(ifm_plain_span(text, "&"), c >= 0x20 && c < 0x7f && c != '&' ? 3 : 1);
    }
}

static void a_path_is_tidied(void **state)
{
    static const char *const paths[][2] = {{"a", "a"},       {"a/", "a"}, {"a//b///c//", "a/b/c"}, {"/", "/"},
                                           {"//", "/"},      {"", ""},    {"/tmp//x/", "/tmp/x"},  {"./", "."},
                                           {"../a/", "../a"}};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char path[32];
        snprintf(path, sizeof path, "%s", paths[i][0]);
        assert_string_equal(ifm_path_tidy(path), paths[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hint_is_about_its_cause),
        cmocka_unit_test(private_files_are_their_owner_s_alone),
        cmocka_unit_test(only_what_was_named_is_written),
        cmocka_unit_test(json_shows_no_control_character),
        cmocka_unit_test(a_path_is_tidied),
        cmocka_unit_test(a_line_is_made_plain),
        cmocka_unit_test(a_span_ends_before_what_needs_a_look),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
