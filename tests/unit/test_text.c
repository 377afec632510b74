/* Text: what a terminal would obey is escaped, all else stays as it is. */
#include "support/test_support.h"

#include "base/log.h"
#include "base/text.h"

#include <stdlib.h>

static const char *const cases[][2] = {
    {"plain, \"quoted\" \\ and %s\n\tas it is", "plain, \"quoted\" \\ and %s\n\tas it is"},
    {"gr\xC3\xB6\xC3\x9F"
     "er \xE2\x82\xAC \xF0\x9F\x9A\x80",
     "gr\xC3\xB6\xC3\x9F"
     "er \xE2\x82\xAC \xF0\x9F\x9A\x80"},
    {"\x1B[31mred\r\a\x7F", "\\x1B[31mred\\x0D\\x07\\x7F"},
    {"\xC2\x9B"
     "31m",
     "\\u009B31m"},
    {"a\xE2\x80\xAE"
     "b\xE2\x81\xA6"
     "c\xE2\x80\x8F"
     "d",
     "a\\u202Eb\\u2066c\\u200Fd"},
    {"\xFF\xFE \xC3", "\\xFF\\xFE \\xC3"},
    {"", ""},
};

TEST(escaped)
{
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        char *escaped = text_escaped(cases[n][0]);
        assert_string_equal(escaped, cases[n][1]);
        free(escaped);
    }
}

TEST(lines_of_the_log)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    log_line(&(struct log){.file = file}, LOG_NORMAL, "%s, %d", "\x1B]0;title\a", 7);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, "\\x1B]0;title\\x07, 7\n");
    free(text);
}

TEST_MAIN(NULL, NULL)
