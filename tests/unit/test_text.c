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
        char *escaped = text_escaped(cases[n][0], true);
        assert_string_equal(escaped, cases[n][1]);
        free(escaped);
    }
    char *line = text_escaped("a\n\tb", false);
    assert_string_equal(line, "a\\x0A\\x09b");
    free(line);
}

/* A name in a sentence may have a line end, which is none of the sentence. */
TEST(sentences)
{
    assert_refuses(status_fail(STATUS_USAGE, "no file %s", "a\nb\x1B"), "no file a\\x0Ab\\x1B");
    assert_refuses(status_fail_lines(STATUS_USAGE, "%s", "a\nb\x1B"), "a\nb\\x1B");
    char *sentence = status_take();
    assert_refuses(status_keep(STATUS_USAGE, sentence, STATUS_OK), "a\nb\\x1B");
}

/* The middle of a line is left out, of each line by itself; a stop's command stays. */
TEST(sentences_that_are_long)
{
    enum { BYTES = 100002 };
    char word[BYTES + 1] = "", wanted[1100] = "";
    for (int n = 0; n < BYTES; n += 2)
        memcpy(word + n, "\u00e9", 2);
    for (int n = 0; n < 249; n++)
        strcat(wanted, "\u00e9");
    strcat(wanted, "\\xC3... (99203 bytes left out) ...");
    for (int n = 0; n < 150; n++)
        strcat(wanted, "\u00e9");
    (void)status_fail_lines(STATUS_USAGE, "first\na%s\nlast", word);
    const char *said = status_message();
    assert_memory_equal(said, "first\na", 7);
    assert_memory_equal(said + 7, wanted, strlen(wanted));
    assert_string_equal(said + 7 + strlen(wanted), "\nlast");
    (void)status_fail(STATUS_STOPPED, "%s", word);
    assert_string_equal(status_message(), word);
}

TEST(lines_of_the_log)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    log_line(&(struct log){.file = file}, LOG_NORMAL, "%s, %d", "\x1B]0;\ntitle\a", 7);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, "\\x1B]0;\\x0Atitle\\x07, 7\n");
    free(text);
}

TEST_MAIN(NULL, NULL)
