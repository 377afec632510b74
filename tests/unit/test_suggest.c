/* Suggest: which known word a mistyped one stands for. */
#include "support/test_support.h"

#include "base/suggest.h"

#define COMMANDS                                                                                             \
    {                                                                                                        \
        "run", "check", "devices", "bench"                                                                   \
    }
#define KEYS                                                                                                 \
    {                                                                                                        \
        "positions", "perturb", "particles", "precision"                                                     \
    }
#define OUTPUTS                                                                                              \
    {                                                                                                        \
        "species", "coulomb_log", "every", "at"                                                              \
    }

TEST(the_nearest_word_is_suggested)
{
    static const struct {
        const char *word, *nearest; /* NULL: there is none */
        const char *known[4];
    } cases[] = {
        {"run", "run", COMMANDS},
        {"bench", "bench", COMMANDS},
        {"chek", "check", COMMANDS},      /* a letter is missing, */
        {"benchh", "bench", COMMANDS},    /* there is one too many, */
        {"devixes", "devices", COMMANDS}, /* another, */
        {"rnu", "run", COMMANDS},         /* two are swapped: one edit, where substitutions alone need two */
        {"Check", "check", COMMANDS},     /* case is free */
        {"pos", "positions", KEYS},       /* a beginning is near when only one word has it, */
        {"p", NULL, KEYS},
        {"pr", NULL, {"precision", "profile"}},
        {"coulomb_logarithm", "coulomb_log", OUTPUTS}, /* and a word that goes on when only one begins it, */
        {"atlas", NULL, OUTPUTS},                      /* but not three letters behind two */
        {"checkbench", NULL, {"check", "checkb"}},
        {"xyzzy", NULL, COMMANDS},
        {"rank", NULL, COMMANDS}, /* two edits of four letters from "run" */
        {"", NULL, COMMANDS},
        {"run", NULL, {NULL}},
        {"steps", "steps", {"step", "steps"}}, /* the nearer and then the earlier wins */
        {"cat", "bat", {"bat", "hat"}},
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        size_t count = 0;
        while (count < 4 && cases[n].known[count])
            count++;
        const char *found = suggest_nearest(cases[n].word, cases[n].known, count);
        if (!found || !cases[n].nearest)
            assert_ptr_equal(found, cases[n].nearest);
        else
            assert_string_equal(found, cases[n].nearest);
    }
}

TEST(a_word_beyond_any_length_has_none)
{
    static const char *const commands[] = COMMANDS;
    char word[4096];
    memset(word, 'r', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_null(suggest_nearest(word, commands, 4));
}

TEST_MAIN(NULL, NULL)
