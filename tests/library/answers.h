/* Answers: what the library's functions return, for tests by its headers alone. After radixpic.h and
 * cmocka.h. */
#ifndef TESTS_LIBRARY_ANSWERS_H
#define TESTS_LIBRARY_ANSWERS_H

static inline void succeeds(enum radixpic_status status)
{
    if (status != RADIXPIC_OK)
        fail_msg("%s", radixpic_error());
}

static inline void refuses(enum radixpic_status status, const char *words)
{
    assert_int_equal(status, RADIXPIC_USAGE);
    if (!strstr(radixpic_error(), words))
        fail_msg("expected \"%s\" in: %s", words, radixpic_error());
}

#endif
