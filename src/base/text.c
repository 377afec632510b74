/* Text: UTF-8 as it may stand in a config, and as it may be printed. */
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

size_t text_character(const char *text, size_t left, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* code of a sequence, by its bytes */
    const unsigned char *byte = (const unsigned char *)text;
    if (left == 0)
        return 0;
    const size_t length = byte[0] < 0x80             ? 1
                          : (byte[0] & 0xE0) == 0xC0 ? 2
                          : (byte[0] & 0xF0) == 0xE0 ? 3
                          : (byte[0] & 0xF8) == 0xF0 ? 4
                                                     : 0;
    if (length == 0 || length > left)
        return 0;
    uint32_t value = length == 1 ? byte[0] : byte[0] & (0x7FU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (byte[i] & 0x3FU);
    }
    if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *code = value;
    return length;
}

/* Control characters, line ends and byte order marks of Unicode: a line of YAML holds them as escapes. */
static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
           code == 0xFEFF || code == 0xFFFE || code == 0xFFFF;
}

bool text_is_hidden(uint32_t code)
{
    return is_control(code) || code == 0x61C || code == 0x200E || code == 0x200F ||
           (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

char *text_escaped(const char *text, bool has_lines)
{
    const size_t most = sizeof "\\xHH" - 1; /* for one byte of text */
    const size_t length = strlen(text);
    char *escaped = malloc(most * length + 1), *end = escaped;
    size_t i = 0;
    while (escaped && i < length) {
        uint32_t code = (unsigned char)text[i];
        const size_t bytes = text_character(text + i, length - i, &code);
        const bool is_layout = has_lines && (code == '\n' || code == '\t');
        if (bytes > 0 && (is_layout || !text_is_hidden(code)))
            end = mempcpy(end, text + i, bytes);
        else
            end += sprintf(end, bytes > 1 ? "\\u%04" PRIX32 : "\\x%02" PRIX32, code);
        i += bytes > 0 ? bytes : 1;
    }
    if (escaped)
        *end = '\0';
    return escaped;
}

void text_print_word(FILE *stream, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=,:@%";
    if (word[0] != '\0' && word[strspn(word, safe)] == '\0') {
        fputs(word, stream);
        return;
    }
    char *escaped = text_escaped(word, false);
    const bool is_escaped = escaped && strcmp(escaped, word) != 0; /* $'...' takes a backslash as an escape */
    fputs(is_escaped ? "$'" : "'", stream);
    for (const char *c = is_escaped ? escaped : word; *c; c++)
        fputs(*c != '\'' ? (const char[]){*c, '\0'} : is_escaped ? "\\'" : "'\\''", stream);
    fputc('\'', stream);
    free(escaped);
}

const char *text_fault(const char *text, size_t length, bool is_path)
{
    for (size_t i = 0; i < length;) {
        uint32_t code;
        const size_t bytes = text_character(text + i, length - i, &code);
        if (bytes == 0)
            return "bytes that are not UTF-8";
        if (code == 0 || (is_control(code) && !is_path))
            return "a control character or line break";
        i += bytes;
    }
    return NULL;
}

const char *text_shown(const char *text, size_t length, char shown[TEXT_SHOWN_LENGTH])
{
    size_t used = 0;
    size_t i = 0;
    while (i < length) {
        uint32_t code;
        const size_t bytes = text_character(text + i, length - i, &code);
        const bool printable = bytes > 0 && !text_is_hidden(code);
        const size_t needed = printable ? bytes : 1;
        if (used + needed > TEXT_SHOWN_LENGTH - sizeof "...")
            break;
        memcpy(shown + used, printable ? text + i : "?", needed);
        used += needed;
        i += bytes > 0 ? bytes : 1;
    }
    snprintf(shown + used, TEXT_SHOWN_LENGTH - used, "%s", i < length ? "..." : "");
    return shown;
}

const char *text_number(double number, char digits[TEXT_NUMBER_LENGTH])
{
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, TEXT_NUMBER_LENGTH, "%.*g", precision, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    return digits;
}
