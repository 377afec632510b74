/* Formula: values, and what is wrong with a text that is none. */
#include "support/test_support.h"

#include "config/formula.h"
#include "field/tabulate.h"

#include <math.h>
#include <string.h>

TEST(values)
{
    const struct {
        const char *text;
        double value;
    } cases[] = {
        {"2*pi/0.5", 4 * M_PI},
        {"-x^2", -9},
        {"2^3^2", 512},
        {"ln(e) + log10(100)", 3},
        {"x < y ? lx : ly", 7},
        {"max(x, y, 1e1) - min(x, 2.5E-1)", 9.75},
        {"exp(-((x-lx/2)^2+(y-ly/2)^2)/4)", exp(-(0.25 + 0.25) / 4)},
        {"(x >= 3 && y != 4) + 10*(x == 3)", 11},
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        char why[FORMULA_WHY_LENGTH];
        struct formula *formula = formula_open(cases[n].text, "xy", (double[]){7, 9}, why);
        if (!formula)
            fail_msg("%s: %s", cases[n].text, why);
        assert_near(formula_at(formula, (double[]){3, 5}), cases[n].value, 1e-15 * fabs(cases[n].value));
        formula_close(formula);
    }
}

TEST(variables_are_those_that_are_named)
{
    char why[FORMULA_WHY_LENGTH];
    struct formula *formula = formula_open("lx*u + t*0", "ut", (double[]){7, 9}, why);
    assert_near(formula_at(formula, (double[]){2, 3}), 14, 0);
    formula_close(formula);
    assert_true(formula_is_sound("tan(2)", "xy", NULL, why));
    assert_null(formula_open("x*t", "xy", (double[]){7, 9}, why));
    assert_says(why, "\"t\" is not known");
}

TEST(errors_have_a_position)
{
    static const char *const cases[][2] = {
        {"1+foo*2", "position 3 of the formula: \"foo\" is not known"},
        {"1+", "the formula ends too early"},
        {"", "the formula ends too early"},
        {"(1+x", "\")\" is missing"},
        {"1+x)", "position 4 of the formula: \")\" has no partner"},
        {"sin(1,2)", "\"sin\" has too many arguments"},
        {"max()", "\"max\" has too few arguments"},
        {"1 2", "position 3 of the formula: \"2\" is out of place"},
        {"1 + (x = 3)", "position 8 of the formula: \"=\" is out of place"},
        {"x += 3", "position 4 of the formula: \"=\" is out of place"},
        {"x, y", "the formula has 2 values"},
        {"1;2", "position 2 of the formula: \";2\" is not known"},
        {"1 + \"a\"", "is out of place"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        char why[FORMULA_WHY_LENGTH] = "";
        assert_null(formula_open(cases[n][0], "xy", (double[]){1, 1}, why));
        assert_says(why, cases[n][1]);
    }
    char why[FORMULA_WHY_LENGTH];
    assert_null(formula_open("2*x", "", NULL, why)); /* of numbers alone */
    assert_says(why, "\"x\" is not known");
    char word[5001];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_null(formula_open(word, "", NULL, why));
    assert_says(why, "a formula has at most 511 bytes");
}

/* Of a formula that is resolved the value is the same to the bit: the digits of a constant give it back. */
TEST(constants_put_in_change_no_bit)
{
    static const char text[] = "k*2.5e5 - k2*k2 + -e5*1e-5/(k + 1e5) + lx";
    struct constant items[] = {
        {"lx", 7, false}, {"ly", 7, false}, {"k", 0, false}, {"k2", 0, false}, {"e5", 0, false}};
    const struct constants constants = {items, 5};
    const double length[2] = {3, 3};
    char why[FORMULA_WHY_LENGTH], resolved[FORMULA_LENGTH];
    uint64_t state = 1;
    for (int n = 0; n < 300; n++) {
        double values[3];
        for (int c = 0; c < 3; c++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
            values[c] = items[2 + c].value = ldexp((double)(int64_t)state, (int)(state % 90) - 108);
        }
        assert_ptr_equal(formula_resolve(text, "x", &constants, resolved, why), resolved);
        struct formula *formula = formula_open(resolved, "x", length, why);
        const double found = formula_at(formula, values),
                     expected = values[0] * 2.5e5 - values[1] * values[1] +
                                -values[2] * 1e-5 / (values[0] + 1e5) + 3;
        assert_memory_equal(&found, &expected, sizeof found);
        formula_close(formula);
    }
    assert_true(items[2].is_used && items[3].is_used && items[4].is_used && !items[0].is_used);
    assert_string_equal(formula_resolve("2*lx", NULL, &constants, resolved, why), "2*7");
    assert_string_equal(formula_resolve("2*lx + 1e5", "x", &constants, resolved, why), "2*lx + 1e5");
    char longest[FORMULA_LENGTH] = "k";
    while (strlen(longest) + 3 < sizeof longest)
        strcat(longest, "+k");
    assert_null(formula_resolve(longest, "x", &constants, resolved, why));
    assert_says(why, "with the values of its constants it has more than 511 bytes");
}

TEST(words_of_formulas_are_no_names)
{
    static const char *const taken[] = {"x",  "y",  "t", "u",   "v",   "w",    "lx",
                                        "ly", "pi", "e", "sin", "max", "rint", "gamma"};
    static const char *const others[] = {"k", "T_e", "xy", "sine", "l", "E", "p"};
    for (size_t n = 0; n < sizeof taken / sizeof taken[0]; n++)
        assert_true(formula_has_word(taken[n]));
    for (size_t n = 0; n < sizeof others / sizeof others[0]; n++)
        assert_false(formula_has_word(others[n]));
}

TEST(what_fails_on_a_grid_names_its_key)
{
    const struct grid box = {.nx = 4, .ny = 4, .lx = 2, .ly = 2, .dx = 0.5, .dy = 0.5};
    const struct slab slab = slab_whole_box(&box);
    double values[16];
    assert_ok(tabulate(&slab, "fields.external.E", "x+lx*y", 0, values));
    assert_near(values[4 * 3 + 2], 3.5, 0);
    assert_fails(tabulate(&slab, "fields.external.E", "1+", 0, values),
                 "fields.external.E: the formula 1+: ", "ends too early");
    assert_fails(tabulate(&slab, "fields.external.E", "1/(x-1)", 3, values),
                 "fields.external.E: the formula 1/(x-1) is inf at x = 1, y = 0, t = 3", "");
}

TEST_MAIN(NULL, NULL)
