/* Value: parsing scalars, and saying what is allowed, by the type of their row. */
#include "config/schema.h"

#include "base/text.h"
#include "config/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_LENGTH = 2 + FORMULA_WHY_LENGTH };

_Static_assert(sizeof(int) == sizeof(uint32_t), "enums and their choices are stored as int");

static const struct {
    const char *name;
    size_t size;         /* 0: the row's capacity */
    const char *allowed; /* with the ends of the row's range; NULL of numbers and choices */
} types[] = {[TYPE_GROUP] = {"group", 0, "a mapping"},
             [TYPE_CONSTANTS] = {"named numbers", 0, "names with their numbers"},
             [TYPE_LIST] = {"list", 0, "%.0f to %.0f items"},
             [TYPE_BOOL] = {"bool", sizeof(bool), "true or false"},
             [TYPE_COUNT32] = {"count", sizeof(uint32_t), NULL},
             [TYPE_COUNT64] = {"count", sizeof(uint64_t), NULL},
             [TYPE_INTEGER] = {"integer", sizeof(int32_t), NULL},
             [TYPE_REAL] = {"number", sizeof(double), NULL},
             [TYPE_CHOICE] = {"choice", sizeof(int), NULL},
             [TYPE_TEXT] = {"text", 0, "text of %.0f to %.0f bytes"},
             [TYPE_FORMULA] = {"formula", 0, "a formula of %.0f to %.0f bytes"},
             [TYPE_NAME] = {"name", 0, "%.0f to %.0f letters, digits and _, the first no digit"}};

size_t value_size(const struct schema_row *row)
{
    return types[row->type].size > 0 ? types[row->type].size : row->capacity;
}

const char *value_type(const struct schema_row *row)
{
    return types[row->type].name;
}

/* ---- words ---- */

const char *value_word(const struct choice *choices, double value)
{
    while (choices && choices->word && choices->value != value)
        choices++;
    return choices ? choices->word : NULL;
}

void value_choices(const struct choice *choices, uint32_t among, char words[VALUE_WHY_LENGTH])
{
    size_t used = 0;
    words[0] = '\0';
    for (; choices->word; choices++) {
        if (!(among >> choices->value & 1U) || used >= VALUE_WHY_LENGTH)
            continue;
        among &= ~(UINT32_C(1) << choices->value);
        const bool is_last = among == 0 || !choices[1].word;
        used += (size_t)snprintf(words + used, VALUE_WHY_LENGTH - used, "%s%s",
                                 used == 0 ? "" : (is_last ? " or " : ", "), choices->word);
    }
}

void value_range(const struct schema_row *row, char words[VALUE_WHY_LENGTH])
{
    int used = 0;
    if (isfinite(row->low) && isfinite(row->high))
        used = snprintf(words, VALUE_WHY_LENGTH,
                        row->open ? " between %.16g and %.16g" : " from %.16g to %.16g", row->low, row->high);
    else if (isfinite(row->low))
        used = snprintf(words, VALUE_WHY_LENGTH, row->open ? " above %.16g" : " of at least %.16g", row->low);
    words[used] = '\0';
    if (row->choices)
        snprintf(words + used, VALUE_WHY_LENGTH - (size_t)used, ", or %s", row->choices[0].word);
}

static void allowed_numbers(const struct schema_row *row, char words[VALUE_WHY_LENGTH])
{
    char range[VALUE_WHY_LENGTH];
    value_range(row, range);
    snprintf(words, VALUE_WHY_LENGTH, "a %s%s%.*s", isfinite(row->low) ? "" : "finite ",
             row->type == TYPE_REAL ? "number" : "whole number", VALUE_WHY_LENGTH / 2, range);
}

void value_allowed(const struct schema_row *row, char words[VALUE_WHY_LENGTH])
{
    const char *allowed = types[row->type].allowed;
    if (row->type == TYPE_CHOICE)
        value_choices(row->choices, UINT32_MAX, words);
    else if (!allowed)
        allowed_numbers(row, words);
    else
        snprintf(words, VALUE_WHY_LENGTH, isfinite(row->high) ? allowed : "any number of items", row->low,
                 row->high);
    if (row->type == TYPE_TEXT && !row->is_path)
        strcat(words, " on one line");
}

/* ---- parsing ---- */

/* Each returns false and stores nothing where the text is no value of the row; `note` may add a reason. */

#define DECIMAL_BYTES "0123456789+-.eE"

/* Whether all of `text` is a decimal number; NaN, infinities and hexadecimal numbers are not. */
static bool parse_decimal(const char *text, size_t length, double *number, char note[NOTE_LENGTH])
{
    char *end = NULL;
    *number = strtod(text, &end);
    if (strspn(text, DECIMAL_BYTES) != length || end != text + length)
        return false;
    const bool is_rounded_to_zero = *number == 0 && strcspn(text, "123456789") < strcspn(text, "eE");
    if (isfinite(*number) && !is_rounded_to_zero)
        return true;
    snprintf(note, NOTE_LENGTH, ", which a double cannot hold");
    return false;
}

/* A formula of numbers, such as 2*pi/0.5. */
static bool parse_formula_of_numbers(const char *text, double *number, char note[NOTE_LENGTH])
{
    char why[FORMULA_WHY_LENGTH];
    struct formula *formula = formula_open(text, "", NULL, why);
    *number = formula ? formula_at(formula, (const double[]){0}) : 0;
    const bool is_number = formula && isfinite(*number);
    if (formula && !is_number)
        snprintf(note, NOTE_LENGTH, ", which a double cannot hold");
    else if (!formula)
        snprintf(note, NOTE_LENGTH, "; %s", why);
    formula_close(formula);
    return is_number;
}

static bool in_range(const struct schema_row *row, double number)
{
    return row->open ? number > row->low && number < row->high : number >= row->low && number <= row->high;
}

static bool store_whole(const struct schema_row *row, double number, void *target)
{
    if (!in_range(row, number)) /* every range lies well within 2^53, so that this is exact */
        return false;
    const int64_t whole = (int64_t)number;
    const uint32_t word = (uint32_t)whole;
    memcpy(target, value_size(row) == sizeof word ? (const void *)&word : &whole, value_size(row));
    return true;
}

/* An optional minus and digits without leading zeros; a whole number with an exponent, as 1e6; or a formula
 * of numbers that gives one, as 2^20, which a text with constants is; 2026-11-28 is none. */
static bool parse_whole(const struct schema_row *row, const char *text, size_t length, bool had_constants,
                        void *target, char note[NOTE_LENGTH])
{
    double number = 0;
    if (text[strspn(text, DECIMAL_BYTES " \t\n")] != '\0' || had_constants) {
        const bool is_number = parse_formula_of_numbers(text, &number, note);
        if (is_number && number != floor(number))
            snprintf(note, NOTE_LENGTH, ", which is %.16g", number);
        return is_number && number == floor(number) && store_whole(row, number, target);
    }
    if (!parse_decimal(text, length, &number, note))
        return false;
    const size_t sign = text[0] == '-', digits = strspn(text + sign, "0123456789");
    const bool is_plain = sign + digits == length && (text[sign] != '0' || (digits == 1 && sign == 0));
    const bool is_whole = number == floor(number) && fabs(number) <= 9e15;
    const bool has_exponent = memchr(text, 'e', length) || memchr(text, 'E', length);
    if (!is_plain && !(is_whole && has_exponent && text[sign] >= '1' && text[sign] <= '9')) {
        if (is_whole)
            snprintf(note, NOTE_LENGTH, "; write %.0f", number + 0.0);
        return false;
    }
    return store_whole(row, number, target);
}

static bool parse_real(const struct schema_row *row, const char *text, size_t length, bool had_constants,
                       void *target, char note[NOTE_LENGTH])
{
    double number = 0;
    const bool is_plain = strspn(text, DECIMAL_BYTES) == length && !had_constants;
    const bool is_number =
        is_plain ? parse_decimal(text, length, &number, note) : parse_formula_of_numbers(text, &number, note);
    if (!is_number || !in_range(row, number))
        return false;
    memcpy(target, &number, sizeof number);
    return true;
}

/* Stores the value of the word among the row's choices, if it is one. */
static bool parse_choice(const struct schema_row *row, const char *text, void *target)
{
    for (const struct choice *choice = row->choices; choice && choice->word; choice++) {
        if (strcmp(choice->word, text) == 0) {
            const double real = choice->value;
            if (row->type == TYPE_REAL)
                memcpy(target, &real, sizeof real);
            else
                memcpy(target, &choice->value, sizeof choice->value);
            return true;
        }
    }
    return false;
}

static bool parse_text(const struct schema_row *row, const char *text, size_t length, void *target,
                       char note[NOTE_LENGTH])
{
    const char *fault = text_fault(text, length, row->is_path);
    char why[FORMULA_WHY_LENGTH];
    if (fault)
        snprintf(note, NOTE_LENGTH, ", which holds %s", fault);
    if (fault || (double)length < row->low || (double)length > row->high)
        return false;
    if (row->type == TYPE_NAME && (strspn(text, NAME_BYTES) != length || isdigit((unsigned char)text[0])))
        return false;
    if (row->type == TYPE_FORMULA && length > 0 &&
        !formula_is_sound(text, row->variables, (double[]){1, 1}, why)) {
        snprintf(note, NOTE_LENGTH, "; %s", why);
        return false;
    }
    memset(target, 0, row->capacity);
    memcpy(target, text, length);
    return true;
}

/* The text with the values of constants put in; in formulas lx and ly stay. NULL: they cannot be. */
static const char *put_constants(const struct schema_row *row, const char *text, size_t *length,
                                 const struct constants *constants, char resolved[FORMULA_LENGTH],
                                 char note[NOTE_LENGTH])
{
    char why[FORMULA_WHY_LENGTH];
    const bool has_end = memchr(text, '\0', *length) != NULL; /* which the type refuses */
    const char *result = has_end ? text : formula_resolve(text, row->variables, constants, resolved, why);
    if (!result)
        snprintf(note, NOTE_LENGTH, "; %s", why);
    else if (result != text)
        *length = strlen(result);
    return result;
}

static bool parse(const struct schema_row *row, const char *text, size_t length, bool plain,
                  const struct constants *constants, void *target, char note[NOTE_LENGTH])
{
    char resolved[FORMULA_LENGTH];
    if (row->type == TYPE_FORMULA && !(text = put_constants(row, text, &length, constants, resolved, note)))
        return false;
    if (row->type == TYPE_TEXT || row->type == TYPE_NAME || row->type == TYPE_FORMULA)
        return parse_text(row, text, length, target, note);
    if (memchr(text, '\0', length))
        return false;
    if (parse_choice(row, text, target))
        return true;
    if (row->type == TYPE_CHOICE)
        return false;
    if (!plain) {
        snprintf(note, NOTE_LENGTH, " in quotes");
        return false;
    }
    if (row->type != TYPE_BOOL) {
        const char *number = put_constants(row, text, &length, constants, resolved, note);
        return number && (row->type == TYPE_REAL ? parse_real : parse_whole)(row, number, length,
                                                                             number != text, target, note);
    }
    const bool yes = strcmp(text, "true") == 0, no = strcmp(text, "false") == 0;
    if (yes || no)
        *(bool *)target = yes;
    return yes || no;
}

bool value_parse(const struct schema_row *row, const char *text, size_t length, bool plain,
                 const struct constants *constants, void *target, char why[VALUE_WHY_LENGTH])
{
    char shown[TEXT_SHOWN_LENGTH], allowed[VALUE_WHY_LENGTH], note[NOTE_LENGTH] = "";
    const bool is_missing = length == 0 && plain;
    if (!is_missing && parse(row, text, length, plain, constants, target, note))
        return true;
    value_allowed(row, allowed);
    if (!is_missing && memmem(text, length, "np.", 3))
        snprintf(note, NOTE_LENGTH,
                 "; numpy 2 prints its numbers so in a list: convert them by tolist() or float()");
    const char *quote = is_missing ? "" : "\"";
    snprintf(why, VALUE_WHY_LENGTH, "expected %.*s, found %s%s%s%s", VALUE_WHY_LENGTH / 2, allowed, quote,
             is_missing ? "nothing" : text_shown(text, length, shown), quote, note);
    return false;
}
