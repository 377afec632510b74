/* Suggest: which known word a mistyped one stands for. */
#include "support/test_support.h"

#include "base/suggest.h"

#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *const commands[] = {"run", "check", "devices", "bench"};

static const char *nearest(const char *word)
{
    return suggest_nearest(word, commands, COUNT_OF(commands));
}

static void a_known_word_is_its_own_nearest(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        assert_ptr_equal(nearest(commands[i]), commands[i]);
}

static void one_edit_is_near(void **state)
{
    (void)state;
    assert_string_equal(nearest("chek"), "check");      /* a letter missing */
    assert_string_equal(nearest("benchh"), "bench");    /* one too many */
    assert_string_equal(nearest("devixes"), "devices"); /* another */
    assert_string_equal(nearest("rnu"),
                        "run"); /* two swapped: one edit, where substitutions alone need two */
    assert_string_equal(nearest("Check"), "check"); /* case is free */
}

static void a_beginning_is_near_when_only_one_word_has_it(void **state)
{
    static const char *const keys[] = {"positions", "perturb", "particles", "precision"};
    (void)state;
    assert_string_equal(suggest_nearest("pos", keys, COUNT_OF(keys)), "positions");
    assert_null(suggest_nearest("p", keys, COUNT_OF(keys)));
    assert_null(suggest_nearest("pr", (const char *const[]){"precision", "profile"}, 2));
}

static void a_strange_word_has_none(void **state)
{
    (void)state;
    assert_null(nearest("xyzzy"));
    assert_null(nearest("rank")); /* two edits of four letters from "run" */
    assert_null(nearest(""));
    assert_null(suggest_nearest("run", NULL, 0));
}

static void a_word_beyond_any_length_is_refused(void **state)
{
    char word[4096];
    (void)state;
    memset(word, 'r', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_null(nearest(word));
}

static void the_nearer_and_then_the_earlier_wins(void **state)
{
    (void)state;
    assert_string_equal(suggest_nearest("steps", (const char *const[]){"step", "steps"}, 2), "steps");
    assert_string_equal(suggest_nearest("cat", (const char *const[]){"bat", "hat"}, 2), "bat");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_word_is_its_own_nearest),
        cmocka_unit_test(one_edit_is_near),
        cmocka_unit_test(a_beginning_is_near_when_only_one_word_has_it),
        cmocka_unit_test(a_strange_word_has_none),
        cmocka_unit_test(a_word_beyond_any_length_is_refused),
        cmocka_unit_test(the_nearer_and_then_the_earlier_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
