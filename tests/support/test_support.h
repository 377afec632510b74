/* Test support: what every cmocka test of this project needs. Include it first: it brings cmocka and its
 * headers in order. */
#ifndef RADIXPIC_TEST_SUPPORT_H
#define RADIXPIC_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/status.h"

/* The device the tests run on: RADIXPIC_TEST_DEVICE, or "auto". */
static inline const char *test_device_spec(void)
{
    const char *chosen = getenv("RADIXPIC_TEST_DEVICE");
    return chosen && chosen[0] ? chosen : "auto";
}

/* Set where an interpreter runs the kernels, a thousand times slower than a device. */
static inline bool test_is_small(void)
{
    return getenv("RADIXPIC_TEST_SMALL") != NULL;
}

/* Skips a test that is too much for that. */
static inline void needs_speed(void)
{
    if (test_is_small())
        skip();
}

/* ---- the tests of a program, in the order in which they stand in its file ---- */

struct listed_test {
    int line;
    struct CMUnitTest test;
};
static struct listed_test listed_tests[64];
static size_t listed_count;

static inline void list_test(int line, const char *name, CMUnitTestFunction test, CMFixtureFunction setup,
                             CMFixtureFunction teardown)
{
    listed_tests[listed_count++] = (struct listed_test){line, {name, test, setup, teardown, NULL}};
}

static inline int compare_lines(const void *a, const void *b)
{
    return ((const struct listed_test *)a)->line - ((const struct listed_test *)b)->line;
}

/* Runs them between a setup and a teardown of them all, each a function or NULL. */
static inline int run_listed_tests(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    struct CMUnitTest tests[sizeof listed_tests / sizeof listed_tests[0]];
    qsort(listed_tests, listed_count, sizeof listed_tests[0], compare_lines);
    for (size_t n = 0; n < listed_count; n++)
        tests[n] = listed_tests[n].test;
    return _cmocka_run_group_tests("tests", tests, listed_count, setup, teardown);
}

/* ---- memory of a test ---- */

union test_block {
    union test_block *before;
    max_align_t alignment;
};
static union test_block *test_blocks;

/* Zeroed, for `count` elements; freed when the test ends. */
static inline void *test_array(size_t count, size_t size)
{
    union test_block *block = calloc(1, sizeof *block + count * size);
    if (!block)
        fail_msg("no memory for %zu elements of %zu bytes", count, size);
    block->before = test_blocks;
    test_blocks = block;
    return block + 1;
}

/* Frees the arrays that were made after `kept` was the last of test_blocks. */
static inline void free_arrays_since(const union test_block *kept)
{
    while (test_blocks != kept) {
        union test_block *block = test_blocks;
        test_blocks = block->before;
        free(block);
    }
}

static inline int free_arrays(void **state)
{
    (void)state;
    free_arrays_since(NULL);
    return 0;
}

/* ---- how a test is written ---- */

/* To be followed by the body of a test: TEST(what_it_shows) {...}; with a setup and a teardown of its own. */
#define TEST_WITH(name, setup, teardown)                                                                     \
    static void name(void **);                                                                               \
    __attribute__((constructor)) static void list_##name(void)                                               \
    {                                                                                                        \
        list_test(__LINE__, #name, name, setup, teardown);                                                   \
    }                                                                                                        \
    static void name(__attribute__((unused)) void **test_state)
#define TEST(name) TEST_WITH(name, NULL, free_arrays)

/* The end of a file. */
#define TEST_MAIN(setup, teardown)                                                                           \
    int main(void)                                                                                           \
    {                                                                                                        \
        return run_listed_tests(setup, teardown);                                                            \
    }

/* ---- checks ---- */

/* A call that must succeed; its sentence is shown when it does not. */
#define assert_ok(call)                                                                                      \
    do {                                                                                                     \
        if ((call) != STATUS_OK)                                                                             \
            fail_msg("%s: %s", #call, status_message());                                                     \
    } while (0)

/* A message has this part. */
#define assert_says(message, part)                                                                           \
    do {                                                                                                     \
        if (!strstr(message, part))                                                                          \
            fail_msg("\"%s\" is not in: %s", part, message);                                                 \
    } while (0)

/* The recorded sentence has it. */
#define assert_sentence_holds(words) assert_says(status_message(), words)

/* A call that must return this code with a sentence that holds all of these words, of which NULL is the last;
 * STATUS_FAILED or STATUS_USAGE, with the words one by one. */
#define assert_message(call, code, words)                                                                    \
    do {                                                                                                     \
        assert_int_equal((call), (code));                                                                    \
        for (const char *const *word = (words); *word; word++)                                               \
            assert_sentence_holds(*word);                                                                    \
    } while (0)
#define assert_fails(call, ...)                                                                              \
    assert_message(call, STATUS_FAILED, ((const char *const[]){__VA_ARGS__, NULL}))
#define assert_refuses(call, ...)                                                                            \
    assert_message(call, STATUS_USAGE, ((const char *const[]){__VA_ARGS__, NULL}))

/* |value - expected| <= tolerance; not-a-number fails. */
#define assert_near(value, expected, tolerance)                                                              \
    do {                                                                                                     \
        const double near_value = (value), near_expected = (expected), near_tolerance = (tolerance);         \
        if (!(fabs(near_value - near_expected) <= near_tolerance))                                           \
            fail_msg("%s = %.17g, expected %.17g within %.3g (differs by %.3g)", #value, near_value,         \
                     near_expected, near_tolerance, fabs(near_value - near_expected));                       \
    } while (0)

#endif
