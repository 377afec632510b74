/* Value: parsing, printing and describing scalars, by the type of their row. */
#include "config/value.h"

#include "config/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum number_form { FORM_NONE, FORM_WHOLE, FORM_DECIMAL };

_Static_assert(sizeof(int) == 4, "enums and their choices are stored as int");

size_t value_size(const struct schema_row *row)
{
    switch (row->type) {
    case TYPE_BOOL:
        return sizeof(bool);
    case TYPE_COUNT32:
        return sizeof(uint32_t);
    case TYPE_COUNT64:
        return sizeof(uint64_t);
    case TYPE_INTEGER:
        return sizeof(int32_t);
    case TYPE_REAL:
        return sizeof(double);
    case TYPE_CHOICE:
        return sizeof(int);
    case TYPE_TEXT:
    case TYPE_NAME:
        return row->capacity;
    case TYPE_GROUP:
    case TYPE_LIST:
        break;
    }
    return 0;
}

/* Words of the choices: "a, b or c". Returns the bytes written. */
static size_t list_choices(const struct choice *choices, char *words, size_t size)
{
    size_t used = 0;
    for (const struct choice *choice = choices; choice->word && used < size; choice++) {
        const char *joint = choice == choices ? "" : choice[1].word ? ", " : " or ";
        used += (size_t)snprintf(words + used, size - used, "%s%s", joint, choice->word);
    }
    return used;
}

/* "from 0 to 9", "above 0", ..., or any finite number. */
static void range_words(const struct schema_row *row, char *words, size_t size)
{
    const bool low = isfinite(row->low);
    const bool high = isfinite(row->high);
    if (low && high)
        snprintf(words, size, row->open ? " between %.16g and %.16g" : " from %.16g to %.16g", row->low,
                 row->high);
    else if (low)
        snprintf(words, size, row->open ? " above %.16g" : " of at least %.16g", row->low);
    else
        snprintf(words, size, ", finite");
}

void value_allowed(const struct schema_row *row, char words[VALUE_WHY_LENGTH])
{
    char range[96];
    switch (row->type) {
    case TYPE_BOOL:
        snprintf(words, VALUE_WHY_LENGTH, "true or false");
        return;
    case TYPE_COUNT32:
    case TYPE_COUNT64:
    case TYPE_INTEGER:
    case TYPE_REAL:
        range_words(row, range, sizeof range);
        snprintf(words, VALUE_WHY_LENGTH, "%s%s%s%s", row->type == TYPE_REAL ? "a number" : "a whole number",
                 range, row->choices ? ", or " : "", row->choices ? row->choices[0].word : "");
        return;
    case TYPE_CHOICE:
        list_choices(row->choices, words, VALUE_WHY_LENGTH);
        return;
    case TYPE_TEXT:
        snprintf(words, VALUE_WHY_LENGTH, "text of %.0f to %.0f bytes%s", row->low, row->high,
                 row->is_path ? "" : " on one line");
        return;
    case TYPE_NAME:
        snprintf(words, VALUE_WHY_LENGTH, "letters, digits and _, no digit first, at most %.0f", row->high);
        return;
    case TYPE_LIST:
        snprintf(words, VALUE_WHY_LENGTH, "%.0f to %.0f items", row->low, row->high);
        return;
    case TYPE_GROUP:
        break;
    }
    snprintf(words, VALUE_WHY_LENGTH, "keys below it");
}

/* The form of the whole of `text`: an optional sign and digits without leading zeros, or a decimal number. */
static enum number_form number_form(const char *text, size_t length)
{
    const size_t sign = length > 0 && (text[0] == '-' || text[0] == '+');
    size_t i = sign;
    const size_t whole = strspn(text + i, "0123456789");
    i += whole;
    if (i == length && whole > 0) {
        const bool zeros_first = text[sign] == '0' && (whole > 1 || sign == 1);
        return text[0] == '+' || zeros_first ? FORM_DECIMAL : FORM_WHOLE;
    }
    size_t digits = whole;
    if (text[i] == '.') {
        const size_t fraction = strspn(text + i + 1, "0123456789");
        digits += fraction;
        i += 1 + fraction;
    }
    if (digits > 0 && (text[i] == 'e' || text[i] == 'E')) {
        i += text[i + 1] == '-' || text[i + 1] == '+' ? 2 : 1;
        const size_t exponent = strspn(text + i, "0123456789");
        if (exponent == 0)
            return FORM_NONE;
        i += exponent;
    }
    return digits > 0 && i == length ? FORM_DECIMAL : FORM_NONE;
}

/* Writes "QUOTE PROBLEM; allowed: ..." and returns false. */
static bool refuse(const struct schema_row *row, const char *text, size_t length, const char *problem,
                   char why[VALUE_WHY_LENGTH])
{
    char shown[TEXT_SHOWN_LENGTH];
    char allowed[VALUE_WHY_LENGTH];
    value_allowed(row, allowed);
    snprintf(why, VALUE_WHY_LENGTH, "\"%s\" %s; allowed: %.*s", text_shown(text, length, shown), problem,
             VALUE_WHY_LENGTH / 2, allowed);
    return false;
}

/* Whether `number` lies in the range of the row; NaN and infinities never do. */
static bool in_range(const struct schema_row *row, double number)
{
    if (!isfinite(number))
        return false;
    return row->open ? number > row->low && number < row->high : number >= row->low && number <= row->high;
}

static bool parse_whole(const struct schema_row *row, const char *text, size_t length, void *target,
                        char why[VALUE_WHY_LENGTH])
{
    const enum number_form form = number_form(text, length);
    if (form == FORM_NONE)
        return refuse(row, text, length, "is not a whole number", why);
    if (form == FORM_DECIMAL) {
        char problem[96] = "is not a whole number";
        const double meant = strtod(text, NULL) + 0.0; /* -0 becomes 0 */
        if (meant == floor(meant) && fabs(meant) <= 9e15)
            snprintf(problem, sizeof problem, "is not a plain whole number, write %.0f", meant);
        return refuse(row, text, length, problem, why);
    }
    /* Every range lies well within 2^53, so the double decides exactly whether the integer is in it. */
    if (!in_range(row, strtod(text, NULL)))
        return refuse(row, text, length, "is out of range", why);
    const int64_t number = strtoll(text, NULL, 10);
    const uint64_t count64 = (uint64_t)number;
    const uint32_t count32 = (uint32_t)count64;
    const int32_t integer = (int32_t)number;
    const void *source = row->type == TYPE_COUNT64   ? (const void *)&count64
                         : row->type == TYPE_COUNT32 ? (const void *)&count32
                                                     : (const void *)&integer;
    memcpy(target, source, value_size(row));
    return true;
}

static bool parse_real(const struct schema_row *row, const char *text, size_t length, void *target,
                       char why[VALUE_WHY_LENGTH])
{
    if (number_form(text, length) == FORM_NONE)
        return refuse(row, text, length, "is not a decimal number", why);
    const double number = strtod(text, NULL);
    if (!isfinite(number))
        return refuse(row, text, length, "is too large for a double", why);
    const size_t mantissa = strcspn(text, "eE");
    const size_t first_digit = strcspn(text, "123456789");
    if (number == 0 && first_digit < mantissa)
        return refuse(row, text, length, "is too small for a double", why);
    if (!in_range(row, number))
        return refuse(row, text, length, "is out of range", why);
    memcpy(target, &number, sizeof number);
    return true;
}

static bool parse_bool(const struct schema_row *row, const char *text, size_t length, void *target,
                       char why[VALUE_WHY_LENGTH])
{
    const bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0)
        return refuse(row, text, length, "is neither true nor false", why);
    memcpy(target, &yes, sizeof yes);
    return true;
}

/* Stores the value of the word among the row's choices, if it is one. */
static bool find_choice(const struct schema_row *row, const char *text, void *target)
{
    for (const struct choice *choice = row->choices; choice && choice->word; choice++) {
        if (strcmp(choice->word, text) == 0) {
            memcpy(target, &choice->value, sizeof choice->value);
            return true;
        }
    }
    return false;
}

static bool parse_text(const struct schema_row *row, const char *text, size_t length, void *target,
                       char why[VALUE_WHY_LENGTH])
{
    if ((double)length < row->low)
        return refuse(row, text, length, "is empty", why);
    if ((double)length > row->high)
        return refuse(row, text, length, "is too long", why);
    const char *trouble = text_trouble(text, length, row->is_path);
    if (trouble) {
        char problem[96];
        snprintf(problem, sizeof problem, "holds %s", trouble);
        return refuse(row, text, length, problem, why);
    }
    if (row->type == TYPE_NAME) {
        for (size_t i = 0; i < length; i++)
            if (!(isascii(text[i]) && (isalnum((unsigned char)text[i]) || text[i] == '_')))
                return refuse(row, text, length, "is not a name", why);
        if (isdigit((unsigned char)text[0]))
            return refuse(row, text, length, "begins with a digit", why);
    }
    memset(target, 0, row->capacity);
    memcpy(target, text, length);
    return true;
}

bool value_parse(const struct schema_row *row, const char *text, size_t length, bool plain, void *target,
                 char why[VALUE_WHY_LENGTH])
{
    const bool is_text = row->type == TYPE_TEXT || row->type == TYPE_NAME;
    if (length == 0 && plain) {
        char allowed[VALUE_WHY_LENGTH];
        value_allowed(row, allowed);
        snprintf(why, VALUE_WHY_LENGTH, "the value is missing; allowed: %.*s", VALUE_WHY_LENGTH / 2, allowed);
        return false;
    }
    if (is_text)
        return parse_text(row, text, length, target, why);
    if (memchr(text, '\0', length))
        return refuse(row, text, length, "holds a control character or line break", why);
    if (find_choice(row, text, target))
        return true;
    if (row->type == TYPE_CHOICE)
        return refuse(row, text, length, "is not known here", why);
    if (!plain)
        return refuse(row, text, length, "is a text: write it without quotes", why);
    if (row->type == TYPE_BOOL)
        return parse_bool(row, text, length, target, why);
    return row->type == TYPE_REAL ? parse_real(row, text, length, target, why)
                                  : parse_whole(row, text, length, target, why);
}

/* The fewest digits that give the same double back: 0.1 stays 0.1. */
static void print_real(double number, FILE *stream)
{
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    fputs(digits, stream);
}

/* Without quotes where no YAML rule can change the meaning. */
static void print_text(const char *text, FILE *stream)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    if (isalpha((unsigned char)text[0]) && text[strspn(text, safe)] == '\0') {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (size_t left = strlen(text), bytes = 1; left > 0; text += bytes, left -= bytes) {
        uint32_t code;
        bytes = text_character(text, left, &code);
        if (bytes == 0) /* not UTF-8: no reader lets it in */
            break;
        if (text_is_control(code))
            fprintf(stream, "\\u%04" PRIX32, code);
        else
            fprintf(stream, "%s%.*s", *text == '"' || *text == '\\' ? "\\" : "", (int)bytes, text);
    }
    fputc('"', stream);
}

/* Prints the word of `value` if it is one of the row's choices. */
static bool print_choice(const struct schema_row *row, const void *source, FILE *stream)
{
    int value;
    if (!row->choices)
        return false;
    memcpy(&value, source, sizeof value);
    for (const struct choice *choice = row->choices; choice->word; choice++) {
        if (choice->value == value) {
            fputs(choice->word, stream);
            return true;
        }
    }
    return false;
}

void value_print(const struct schema_row *row, const void *source, FILE *stream)
{
    if (print_choice(row, source, stream))
        return;
    switch (row->type) {
    case TYPE_BOOL:
        fputs(*(const bool *)source ? "true" : "false", stream);
        break;
    case TYPE_COUNT32:
        fprintf(stream, "%" PRIu32, *(const uint32_t *)source);
        break;
    case TYPE_COUNT64:
        fprintf(stream, "%" PRIu64, *(const uint64_t *)source);
        break;
    case TYPE_INTEGER:
        fprintf(stream, "%" PRId32, *(const int32_t *)source);
        break;
    case TYPE_REAL:
        print_real(*(const double *)source, stream);
        break;
    case TYPE_TEXT:
    case TYPE_NAME:
        print_text(source, stream);
        break;
    case TYPE_CHOICE: /* done above */
    case TYPE_GROUP:
    case TYPE_LIST:
        break;
    }
}
