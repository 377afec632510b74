/* Suggest: which known word a mistyped one stands for. */
#include "support/test_support.h"

#include "base/suggest.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *const commands[] = {"run", "check", "devices", "bench"};

static const char *nearest(const char *word)
{
    return suggest_nearest(word, commands, COUNT_OF(commands));
}

TEST(a_known_word_is_its_own_nearest)
{
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        assert_ptr_equal(nearest(commands[i]), commands[i]);
}

TEST(one_edit_is_near)
{
    assert_string_equal(nearest("chek"), "check");      /* a letter missing */
    assert_string_equal(nearest("benchh"), "bench");    /* one too many */
    assert_string_equal(nearest("devixes"), "devices"); /* another */
    assert_string_equal(nearest("rnu"),
                        "run"); /* two swapped: one edit, where substitutions alone need two */
    assert_string_equal(nearest("Check"), "check"); /* case is free */
}

TEST(a_beginning_is_near_when_only_one_word_has_it)
{
    static const char *const keys[] = {"positions", "perturb", "particles", "precision"};
    assert_string_equal(suggest_nearest("pos", keys, COUNT_OF(keys)), "positions");
    assert_null(suggest_nearest("p", keys, COUNT_OF(keys)));
    assert_null(suggest_nearest("pr", (const char *const[]){"precision", "profile"}, 2));
}

TEST(a_word_that_goes_on_is_near_when_only_one_word_begins_it)
{
    static const char *const keys[] = {"species", "coulomb_log", "every", "at"};
    assert_string_equal(suggest_nearest("coulomb_logarithm", keys, COUNT_OF(keys)), "coulomb_log");
    assert_null(suggest_nearest("atlas", keys, COUNT_OF(keys))); /* three letters behind two */
    assert_null(suggest_nearest("checkbench", (const char *const[]){"check", "checkb"}, 2));
}

TEST(a_strange_word_has_none)
{
    assert_null(nearest("xyzzy"));
    assert_null(nearest("rank")); /* two edits of four letters from "run" */
    assert_null(nearest(""));
    assert_null(suggest_nearest("run", NULL, 0));
}

TEST(a_word_beyond_any_length_is_refused)
{
    char word[4096];
    memset(word, 'r', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_null(nearest(word));
}

TEST(the_nearer_and_then_the_earlier_wins)
{
    assert_string_equal(suggest_nearest("steps", (const char *const[]){"step", "steps"}, 2), "steps");
    assert_string_equal(suggest_nearest("cat", (const char *const[]){"bat", "hat"}, 2), "bat");
}

TEST_MAIN(NULL, NULL)
