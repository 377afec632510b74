/* Formula source: recursive descent by muParser's rules, which are those of C but for three: ^ is a power,
 * from right to left, and above the sign before it (-x^2 is -(x^2)); all comparisons have one precedence,
 * from left to right; and comparisons, && and || are numbers, 0 or 1. */
#include "config/formula_source.h"

#include "config/config.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME_BYTES = 16, MOST_DEPTH = 200 /* compilers have a limit, 256 of clang */ };

#define UNKNOWN "the device cannot evaluate what stands here"

struct translation {
    const struct formula_name *names;
    const double *length;
    const char *text, *next; /* all of it, and what is left */
    char *source;            /* owned */
    size_t used, room;
    bool has_failed;
    char *why;
};

static void fail(struct translation *t, const char *what)
{
    if (!t->has_failed)
        snprintf(t->why, FORMULA_WHY_LENGTH, "position %zu of the formula: %s",
                 (size_t)(t->next - t->text) + 1, what);
    t->has_failed = true;
}

/* ---- what is written ---- */

static void insert(struct translation *t, size_t at, const char *words)
{
    const size_t length = strlen(words), needed = t->used + length + 1;
    if (needed > t->room) {
        char *grown = realloc(t->source, 2 * needed);
        if (!grown) {
            fail(t, "no memory for its translation");
            return;
        }
        t->source = grown;
        t->room = 2 * needed;
    }
    memmove(t->source + at + length, t->source + at, t->used - at);
    memcpy(t->source + at, words, length);
    t->used += length;
    t->source[t->used] = '\0';
}

static void append(struct translation *t, const char *words)
{
    insert(t, t->used, words);
}

static void append_value(struct translation *t, double value)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.17g", value);
    append(t, digits);
    if (!strpbrk(digits, ".e"))
        append(t, ".0"); /* whole numbers would be divided as such */
}

/* ---- what is read ---- */

/* Whether the next word is this one, which is then behind. */
static bool accept(struct translation *t, const char *word)
{
    while (isspace((unsigned char)*t->next))
        t->next++;
    const bool is_next = strncmp(t->next, word, strlen(word)) == 0;
    if (is_next)
        t->next += strlen(word);
    return is_next;
}

static void expect(struct translation *t, const char *word)
{
    if (!accept(t, word))
        fail(t, UNKNOWN);
}

static void take_conditional(struct translation *t);

/* A number, or a name that is no variable. */
static void take_value(struct translation *t, size_t length)
{
    char word[CONFIG_FORMULA_LENGTH], why[FORMULA_WHY_LENGTH];
    snprintf(word, sizeof word, "%.*s", (int)length, t->next);
    struct formula *formula = formula_open(word, "", t->length, why);
    const double value = formula ? formula_at(formula, NULL) : NAN;
    formula_close(formula);
    if (!isfinite(value))
        fail(t, UNKNOWN);
    append_value(t, value);
    t->next += length;
}

static size_t number_length(const char *text)
{
    static const char digits[] = "0123456789";
    size_t length = strspn(text, digits);
    if (text[length] == '.')
        length += 1 + strspn(text + length + 1, digits);
    if (text[length] == 'e' || text[length] == 'E') {
        const size_t sign = text[length + 1] == '+' || text[length + 1] == '-';
        const size_t exponent = strspn(text + length + 1 + sign, digits);
        length += exponent > 0 ? 1 + sign + exponent : 0;
    }
    return length;
}

/* A fold takes any number of arguments: it is the function of the first two, then of that and the third, ...
 */
enum kind { CALL, FOLD, MEAN /* a fold, by their number */ };

static const struct function {
    const char *name, *source;
    enum kind kind;
} functions[] = {
    {"sin", "sin(", CALL},           {"cos", "cos(", CALL},         {"tan", "tan(", CALL},
    {"asin", "asin(", CALL},         {"acos", "acos(", CALL},       {"atan", "atan(", CALL},
    {"atan2", "atan2(", CALL},       {"sinh", "sinh(", CALL},       {"cosh", "cosh(", CALL},
    {"tanh", "tanh(", CALL},         {"asinh", "asinh(", CALL},     {"acosh", "acosh(", CALL},
    {"atanh", "atanh(", CALL},       {"exp", "exp(", CALL},         {"ln", "log(", CALL},
    {"log", "log(", CALL},           {"log2", "log2(", CALL},       {"log10", "log10(", CALL},
    {"sqrt", "sqrt(", CALL},         {"abs", "fabs(", CALL},        {"sign", "formula_sign(", CALL},
    {"rint", "formula_rint(", CALL}, {"min", "formula_min(", FOLD}, {"max", "formula_max(", FOLD},
    {"sum", "formula_sum(", FOLD},   {"avg", "formula_sum(", MEAN}};

/* From behind its bracket on. */
static void take_call(struct translation *t, const struct function *function)
{
    const size_t start = t->used;
    int count = 0;
    do {
        if (count++ > 0)
            append(t, ", ");
        take_conditional(t);
        if (function->kind != CALL && count > 1) {
            insert(t, start, function->source);
            append(t, ")");
        }
    } while (!t->has_failed && accept(t, ","));
    if (function->kind == CALL || count == 1) {
        insert(t, start, function->kind == CALL ? function->source : "(");
        append(t, ")");
    }
    if (function->kind == MEAN) {
        insert(t, start, "(");
        append(t, " / ");
        append_value(t, count);
        append(t, ")");
    }
    expect(t, ")");
}

static void take_name(struct translation *t, size_t length)
{
    const bool is_call = t->next[length] == '(';
    for (size_t n = 0; is_call && n < sizeof functions / sizeof functions[0]; n++)
        if (strlen(functions[n].name) == length && memcmp(functions[n].name, t->next, length) == 0) {
            t->next += length + 1;
            take_call(t, &functions[n]);
            return;
        }
    for (const struct formula_name *name = t->names; name->name && !is_call; name++)
        if (strlen(name->name) == length && memcmp(name->name, t->next, length) == 0) {
            t->next += length;
            append(t, name->source);
            return;
        }
    take_value(t, length);
}

/* ---- precedence ---- */

enum { LEAST_LEVEL = 1, POWER_LEVEL = 7 };

/* Those with a sign that begins with another one's come first. Sums and products are C's own. */
static const struct operation {
    const char *sign;
    int level; /* of its precedence */
    const char *before, *between, *after;
} operations[] = {
    {"||", LEAST_LEVEL, "(formula_real)(0 != ", " || 0 != ", ")"},
    {"&&", 2, "(formula_real)(0 != ", " && 0 != ", ")"},
    {"<=", 4, "(formula_real)(", " <= ", ")"},
    {">=", 4, "(formula_real)(", " >= ", ")"},
    {"==", 4, "(formula_real)(", " == ", ")"},
    {"!=", 4, "(formula_real)(", " != ", ")"},
    {"<", 4, "(formula_real)(", " < ", ")"},
    {">", 4, "(formula_real)(", " > ", ")"},
    {"+", 5, "", " + ", ""},
    {"-", 5, "", " - ", ""},
    {"*", 6, "", " * ", ""},
    {"/", 6, "", " / ", ""},
    {"^", POWER_LEVEL, "pow(", ", ", ")"},
};

/* The operation that comes next, of at least that precedence; it is behind then. NULL: another or none. */
static const struct operation *accept_operation(struct translation *t, int level)
{
    const char *before = t->next;
    for (size_t n = 0; n < sizeof operations / sizeof operations[0]; n++)
        if (accept(t, operations[n].sign)) {
            if (operations[n].level >= level)
                return &operations[n];
            t->next = before;
            return NULL;
        }
    return NULL;
}

static void take_operations(struct translation *t, int level);

static void take_operand(struct translation *t)
{
    const bool is_negative = accept(t, "-");
    if (is_negative || accept(t, "+")) {
        append(t, is_negative ? "(- " : "(");
        take_operations(t, POWER_LEVEL);
        append(t, ")");
    } else if (accept(t, "(")) {
        append(t, "(");
        take_conditional(t);
        append(t, ")");
        expect(t, ")");
    } else if (isdigit((unsigned char)*t->next) || *t->next == '.') {
        take_value(t, number_length(t->next));
    } else {
        take_name(t, strspn(t->next, "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"));
    }
}

static void take_operations(struct translation *t, int level)
{
    const size_t start = t->used;
    const struct operation *operation;
    take_operand(t);
    while (!t->has_failed && (operation = accept_operation(t, level))) {
        const size_t end = t->used;
        append(t, operation->between);
        take_operations(t, operation->level + (operation->level < POWER_LEVEL));
        if (operation->level == POWER_LEVEL && !t->has_failed && strcmp(t->source + end, ", 2.0") == 0) {
            t->used = end; /* what is raised most often costs a product, and is rounded once */
            insert(t, start, "formula_square(");
        } else {
            insert(t, start, operation->before);
        }
        append(t, operation->after);
    }
}

static void take_conditional(struct translation *t)
{
    const size_t start = t->used;
    take_operations(t, LEAST_LEVEL);
    if (t->has_failed || !accept(t, "?"))
        return;
    insert(t, start, "(0 != ");
    append(t, " ? ");
    take_conditional(t);
    expect(t, ":");
    append(t, " : ");
    take_conditional(t);
    append(t, ")");
}

static void require_depth(struct translation *t)
{
    int depth = 0, most = 0;
    for (const char *byte = t->source; *byte != '\0'; byte++) {
        depth += (*byte == '(') - (*byte == ')');
        most = depth > most ? depth : most;
    }
    if (most > MOST_DEPTH)
        fail(t, "it has more brackets within one another than compilers take");
}

bool formula_source(const char *text, const struct formula_name *names, const double length[2], char **source,
                    char why[FORMULA_WHY_LENGTH])
{
    struct translation translation = {
        .names = names, .length = length, .text = text, .next = text, .why = why};
    char variables[FORMULA_VARIABLES * (MOST_NAME_BYTES + 1)] = "";
    *source = NULL;
    for (const struct formula_name *name = names; name->name; name++) {
        strncat(variables, name->name, MOST_NAME_BYTES);
        strcat(variables, " ");
    }
    if (!formula_is_sound(text, variables, length, why))
        return false;
    take_conditional(&translation);
    accept(&translation, ""); /* spaces */
    if (*translation.next != '\0')
        fail(&translation, UNKNOWN);
    if (!translation.has_failed)
        require_depth(&translation);
    if (translation.has_failed)
        free(translation.source);
    else
        *source = translation.source;
    return !translation.has_failed;
}
