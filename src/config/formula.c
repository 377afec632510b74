/* Formula: muParser's handle, the variables in it, and its errors in words; and profiles. */
#include "config/formula.h"

#include "base/pool.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <muParserDLL.h>
#include <stdlib.h>
#include <string.h>

struct formula {
    muParserHandle_t parser;
    size_t count;                     /* of variables */
    double values[FORMULA_VARIABLES]; /* which the parser reads */
};

/* muParser's numbers of errors, as its header muParserError.h has them. */
enum {
    UNKNOWN_WORD = 1,
    UNEXPECTED_END = 2,
    TOO_MANY_CLOSE = 7,
    MISSING_CLOSE = 11,
    TOO_MANY_ARGUMENTS = 14,
    TOO_FEW_ARGUMENTS = 15,
    EMPTY = 25
};

enum {
    MOST_BYTES =
        FORMULA_LENGTH - 1 /* muParser has 1,024 for a word that it does not know, and does not look */
};

static void explain(muParserHandle_t parser, char why[FORMULA_WHY_LENGTH])
{
    static const char *const words[] = {[UNKNOWN_WORD] = "is not known",
                                        [TOO_MANY_CLOSE] = "has no partner",
                                        [MISSING_CLOSE] = "is missing",
                                        [TOO_MANY_ARGUMENTS] = "has too many arguments",
                                        [TOO_FEW_ARGUMENTS] = "has too few arguments"};
    const int code = mupGetErrorCode(parser), position = mupGetErrorPos(parser) + 1;
    char token[TEXT_SHOWN_LENGTH];
    if (code == UNEXPECTED_END || code == EMPTY || position < 1) {
        snprintf(why, FORMULA_WHY_LENGTH, "the formula ends too early");
        return;
    }
    const char *found = mupGetErrorToken(parser);
    size_t length = strlen(found);
    while (length > 1 && found[length - 1] == ' ')
        length--;
    text_shown(found, length, token);
    const bool is_known = code > 0 && code <= TOO_FEW_ARGUMENTS && words[code];
    snprintf(why, FORMULA_WHY_LENGTH, "position %d of the formula: \"%.80s\" %s", position, token,
             is_known ? words[code] : "is out of place");
}

/* The position, from 1, of a sign as in "x = 3", for which muParser would store 3 in x; 0: none. */
static size_t find_assignment(const char *text)
{
    for (const char *sign = strchr(text, '='); sign; sign = strchr(sign + 1, '=')) {
        if (sign[1] == '=')
            sign++;
        else if (sign == text || !strchr("<>!", sign[-1]))
            return (size_t)(sign - text) + 1;
    }
    return 0;
}

/* Returns whether the text compiles to one value. */
static bool compiles(muParserHandle_t parser, const char *text, char why[FORMULA_WHY_LENGTH])
{
    int values = 0;
    if (strlen(text) > MOST_BYTES) {
        snprintf(why, FORMULA_WHY_LENGTH, "a formula has at most %d bytes", MOST_BYTES);
        return false;
    }
    const size_t assignment = find_assignment(text);
    if (assignment > 0) {
        snprintf(why, FORMULA_WHY_LENGTH, "position %zu of the formula: \"=\" is out of place", assignment);
        return false;
    }
    mupSetExpr(parser, text);
    if (!mupError(parser))
        mupEvalMulti(parser, &values);
    if (mupError(parser))
        explain(parser, why);
    else if (values != 1)
        snprintf(why, FORMULA_WHY_LENGTH, "the formula has %d values", values);
    return !mupError(parser) && values == 1;
}

static void define_variables(struct formula *formula, const char *variables)
{
    const bool are_words = strchr(variables, ' ') != NULL;
    for (const char *name = variables; *name != '\0'; formula->count++) {
        const size_t length = are_words ? strcspn(name, " ") : 1;
        char word[MOST_BYTES];
        snprintf(word, sizeof word, "%.*s", (int)length, name);
        mupDefineVar(formula->parser, word, &formula->values[formula->count]);
        name += length + strspn(name + length, " ");
    }
}

/* ---- constants ---- */

/* The next name of a formula, of `length` bytes; a number's exponent is none. NULL: there is no further. */
static const char *next_name(const char *text, size_t *length)
{
    while (*text != '\0' && *text != '_' && !isalpha((unsigned char)*text)) {
        const size_t digits = strspn(text, "0123456789.");
        text += digits > 0 ? digits : 1;
        if (digits > 0 && (*text == 'e' || *text == 'E'))
            text++;
    }
    for (*length = 0; isalnum((unsigned char)text[*length]) || text[*length] == '_';)
        ++*length;
    return *text != '\0' ? text : NULL;
}

/* The constant of that name, lx and ly not among them where the first two are passed over; NULL: none. */
static struct constant *find_constant(const struct constants *constants, bool has_variables, const char *name,
                                      size_t length)
{
    for (uint32_t n = has_variables ? 2 : 0; n < constants->count; n++) {
        struct constant *constant = &constants->items[n];
        if (!isnan(constant->value) && strlen(constant->name) == length &&
            memcmp(constant->name, name, length) == 0)
            return constant;
    }
    return NULL;
}

static struct formula *open_with(const char *text, const char *variables, const double length[2],
                                 const struct constants *constants, char why[FORMULA_WHY_LENGTH])
{
    struct formula *formula = calloc(1, sizeof *formula);
    muParserHandle_t parser = formula ? mupCreate(muBASETYPE_FLOAT) : NULL;
    if (!parser) {
        snprintf(why, FORMULA_WHY_LENGTH, "no memory for the formula");
        free(formula);
        return NULL;
    }
    formula->parser = parser;
    mupDefineConst(parser, "pi", M_PI);
    mupDefineConst(parser, "e", M_E);
    if (length) {
        mupDefineConst(parser, "lx", length[0]);
        mupDefineConst(parser, "ly", length[1]);
    }
    for (uint32_t n = 0; constants && n < constants->count; n++)
        if (!isnan(constants->items[n].value))
            mupDefineConst(parser, constants->items[n].name, constants->items[n].value);
    define_variables(formula, variables);
    if (compiles(parser, text, why))
        return formula;
    formula_close(formula);
    return NULL;
}

struct formula *formula_open(const char *text, const char *variables, const double length[2],
                             char why[FORMULA_WHY_LENGTH])
{
    return open_with(text, variables, length, NULL, why);
}

double formula_at(struct formula *formula, const double *values)
{
    for (size_t n = 0; n < formula->count; n++)
        formula->values[n] = values[n];
    return mupEval(formula->parser);
}

void formula_close(struct formula *formula)
{
    if (formula)
        mupRelease(formula->parser);
    free(formula);
}

bool formula_is_sound(const char *text, const char *names, const double *length, char why[FORMULA_WHY_LENGTH])
{
    struct formula *formula = formula_open(text, names, length, why);
    formula_close(formula);
    return formula != NULL;
}

const char *formula_resolve(const char *text, const char *variables, const struct constants *constants,
                            char resolved[FORMULA_LENGTH], char why[FORMULA_WHY_LENGTH])
{
    size_t length, used = 0;
    const char *from = text;
    for (const char *name = text; constants && (name = next_name(name, &length)); name += length) {
        struct constant *constant = find_constant(constants, variables != NULL, name, length);
        char digits[TEXT_NUMBER_LENGTH];
        if (!constant || used >= FORMULA_LENGTH)
            continue;
        constant->is_used = true;
        used += (size_t)snprintf(resolved + used, FORMULA_LENGTH - used,
                                 constant->value < 0 ? "%.*s(%s)" : "%.*s%s", (int)(name - from), from,
                                 text_number(constant->value, digits));
        from = name + length;
    }
    if (from == text)
        return text;
    if (used < FORMULA_LENGTH)
        used += (size_t)snprintf(resolved + used, FORMULA_LENGTH - used, "%s", from);
    struct formula *formula = open_with(text, variables ? variables : "",
                                        variables ? (const double[]){1, 1} : NULL, constants, why);
    const bool is_read = formula != NULL, is_whole = used < FORMULA_LENGTH;
    if (is_read && !is_whole)
        snprintf(why, FORMULA_WHY_LENGTH, "with the values of its constants it has more than %d bytes",
                 MOST_BYTES);
    formula_close(formula);
    return is_read && is_whole ? resolved : NULL;
}

bool formula_has_word(const char *word)
{
    char why[FORMULA_WHY_LENGTH], call[FORMULA_LENGTH]; /* muParser finds a function by its bracket */
    struct formula *formula =
        formula_open("0", "x y t u v w gamma energy charge mass c ", (double[]){1, 1}, why);
    snprintf(call, sizeof call, "%s(", word);
    if (formula) {
        mupSetExpr(formula->parser, call);
        mupEval(formula->parser);
    }
    const bool is_known = formula && mupGetErrorCode(formula->parser) != UNKNOWN_WORD;
    formula_close(formula);
    return is_known;
}

/* ---- tables ---- */

enum { PIECE_VALUES = 4096 };

/* The rows of a piece. */
static uint32_t piece_rows(const struct formula_table *table)
{
    return (PIECE_VALUES + table->columns - 1) / table->columns;
}

/* A parser is for one thread: each piece compiles the formula anew. */
static enum status fill_piece(void *context, size_t n, void *scratch)
{
    const struct formula_table *table = context;
    const uint32_t rows = piece_rows(table), begin = (uint32_t)n * rows;
    char why[FORMULA_WHY_LENGTH];
    struct formula *formula = formula_open(table->text, table->names, table->length, why);
    (void)scratch;
    if (!formula)
        return status_fail(STATUS_FAILED, "the formula %s: %s", table->text, why);
    for (uint32_t i = begin; i < table->rows && i - begin < rows; i++)
        for (uint32_t j = 0; j < table->columns; j++) {
            double *value = &table->values[(size_t)i * table->columns + j];
            *value =
                (table->multiplies ? *value : 1) *
                formula_at(formula, (const double[]){table->of_row[i], table->of_column[j], table->third});
        }
    formula_close(formula);
    return STATUS_OK;
}

enum status formula_tabulate(const struct formula_table *table)
{
    const struct pool_work work = {.make = fill_piece, .context = (void *)table};
    return pool_run(&work, (table->rows + piece_rows(table) - 1) / piece_rows(table));
}

/* ---- nodes ---- */

size_t nodes_count(const struct nodes *nodes)
{
    return (nodes->intervals[0] + (size_t)1) * (nodes->intervals[1] + (size_t)1);
}

double nodes_place(const struct nodes *nodes, uint32_t variable, size_t n)
{
    const size_t across = nodes->intervals[1] + (size_t)1, place = variable == 0 ? n / across : n % across;
    const double *ends = nodes->ends[variable];
    return place == 0 ? ends[0] : ends[0] + (double)place * (ends[1] - ends[0]) / nodes->intervals[variable];
}

bool nodes_tabulate(const struct nodes *nodes, const char *text, bool multiplies, double *values)
{
    const uint32_t rows = nodes->intervals[0] + 1, columns = nodes->intervals[1] + 1;
    double *places = malloc((rows + (size_t)columns) * sizeof *places);
    for (size_t i = 0; places && i < rows; i++)
        places[i] = nodes_place(nodes, 0, i * columns);
    for (size_t j = 0; places && j < columns; j++)
        places[rows + j] = nodes_place(nodes, 1, j);
    const struct formula_table table = {.text = text,
                                        .names = nodes->names,
                                        .length = nodes->length,
                                        .rows = rows,
                                        .columns = columns,
                                        .of_row = places,
                                        .of_column = places + rows,
                                        .multiplies = multiplies,
                                        .values = values};
    const bool is_done = places && formula_tabulate(&table) == STATUS_OK;
    free(places);
    return is_done;
}

struct nodes box_nodes(const uint32_t intervals[2], const double length[2])
{
    return (struct nodes){.names = "xyt",
                          .length = length,
                          .intervals = {intervals[0], intervals[1]},
                          .ends = {{0, length[0]}, {0, length[1]}}};
}

struct nodes nodes_once(struct nodes nodes)
{
    for (int axis = 0; axis < 2; axis++)
        nodes.ends[axis][1] -= (nodes.ends[axis][1] - nodes.ends[axis][0]) / nodes.intervals[axis]--;
    return nodes;
}

double nodes_mean(const struct nodes *nodes, const char *text, int power)
{
    double sum = 0, *values = malloc(nodes_count(nodes) * sizeof *values);
    const bool is_done = values && nodes_tabulate(nodes, text, false, values);
    for (size_t n = 0; is_done && n < nodes_count(nodes); n++)
        sum += pow(values[n], power);
    free(values);
    return is_done ? sum / (double)nodes_count(nodes) : NAN;
}

/* ---- profiles ---- */

bool profile_is_given(const char *formula, const char *none)
{
    return formula[0] != '\0' && strcmp(formula, none) != 0;
}

static uint32_t profile_intervals(uint32_t cells)
{
    enum { LEAST = 1024, MOST = 4096 };
    return cells > MOST ? MOST : cells * ((LEAST + cells - 1) / cells);
}

struct nodes profile_nodes(const uint32_t cells[2], const double length[2])
{
    return box_nodes((const uint32_t[]){profile_intervals(cells[0]), profile_intervals(cells[1])}, length);
}
