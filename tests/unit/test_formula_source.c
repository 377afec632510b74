/* Formula source: what is written for a formula, and what is refused. Values are those of
 * tests/kernel/test_external_formulas.c. */
#include "support/test_support.h"

#include "config/formula_source.h"

#include <string.h>

static const struct formula_name names[] = {{"x", "place.x"}, {"gamma", "relative"}, {NULL, NULL}};

static void check(const char *text, const char *expected)
{
    char why[FORMULA_WHY_LENGTH], *source;
    if (!formula_source(text, names, (double[]){7, 0.1}, &source, why))
        fail_msg("%s: %s", text, why);
    if (strcmp(source, expected) != 0)
        fail_msg("%s: expected %s, found %s", text, expected, source);
    free(source);
}

TEST(terms_are_written_anew)
{
    check("x", "place.x");
    check("  gamma*x ", "relative * place.x");
    check("2", "2.0");
    check("1e300", "1.0000000000000001e+300");
    check(".1", "0.10000000000000001");
    check("lx+ly*pi", "7.0 + 0.10000000000000001 * 3.1415926535897931");
    check("1-2/3", "1.0 - 2.0 / 3.0");
    check("-x^2", "(- formula_square(place.x))");
    check("x^-2^3", "pow(place.x, (- pow(2.0, 3.0)))");
    check("2^x^2", "pow(2.0, formula_square(place.x))");
    check("x^2.5", "pow(place.x, 2.5)");
    check("x<2==1", "(formula_real)((formula_real)(place.x < 2.0) == 1.0)");
    check("1==2<x", "(formula_real)((formula_real)(1.0 == 2.0) < place.x)");
    check("x||1&&0", "(formula_real)(0 != place.x || 0 != (formula_real)(0 != 1.0 && 0 != 0.0))");
    check("x?1:0?2:3", "(0 != place.x ? 1.0 : (0 != 0.0 ? 2.0 : 3.0))");
    check("ln(x) + abs(-x)", "log(place.x) + fabs((- place.x))");
    check("min(x)", "(place.x)");
    check("max(x,1,2-x)", "formula_max(formula_max(place.x, 1.0), 2.0 - place.x)");
    check("avg(x,1)", "(formula_sum(place.x, 1.0) / 2.0)");
}

static void check_refused(const char *text, const char *words)
{
    char why[FORMULA_WHY_LENGTH] = "", *source;
    assert_false(formula_source(text, names, (double[]){1, 1}, &source, why));
    assert_null(source);
    assert_says(why, words);
}

TEST(nothing_passes_that_muparser_refuses)
{
    static const char *const texts[] = {
        "place.x", "y",         "x;x",      "x) + system(1", "x /* */", "\"x\"", "x\\\n", "get(1)",
        "x, x",    "#define x", "x = 1",    "sin (x)",       "1.5.2",   "0x10",  "1e5e",  "formula_square(x)",
        "gamma.x", "x[1]",      "(float)x", "x & 1",         "x % 2",   "!x",    "x ? 1", "sum(x ? 1, 2 : 3)",
    };
    for (size_t n = 0; n < sizeof texts / sizeof texts[0]; n++)
        check_refused(texts[n], "formula");
}

/* As clang refuses them; 511 bytes have room for 255. */
TEST(brackets_within_one_another_have_a_limit)
{
    char text[512] = "";
    for (int n = 0; n < 200; n++)
        strcat(text, "(");
    strcat(text, "x");
    for (int n = 0; n < 200; n++)
        strcat(text, ")");
    char why[FORMULA_WHY_LENGTH], *source;
    assert_true(formula_source(text, names, (double[]){1, 1}, &source, why));
    free(source);
    memmove(text + 2, text, strlen(text) + 1);
    memcpy(text, "-(", 2);
    strcat(text, ")");
    check_refused(text, "more brackets within one another than compilers take");
}

TEST_MAIN(NULL, NULL)
