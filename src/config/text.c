/* Text: UTF-8 as it may stand in a config. */
#include "config/text.h"

#include <stdio.h>
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

bool text_is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
           code == 0xFEFF || code == 0xFFFE || code == 0xFFFF;
}

const char *text_fault(const char *text, size_t length, bool is_path)
{
    for (size_t i = 0; i < length;) {
        uint32_t code;
        const size_t bytes = text_character(text + i, length - i, &code);
        if (bytes == 0)
            return "bytes that are not UTF-8";
        if (code == 0 || (text_is_control(code) && !is_path))
            return "a control character or line break";
        i += bytes;
    }
    return NULL;
}

const char *text_shown(const char *text, size_t length, char shown[TEXT_SHOWN_LENGTH])
{
    const size_t room = TEXT_SHOWN_LENGTH - sizeof "...";
    size_t used = 0;
    size_t i = 0;
    while (i < length) {
        uint32_t code;
        const size_t bytes = text_character(text + i, length - i, &code);
        const bool printable = bytes > 0 && !text_is_control(code);
        const size_t needed = printable ? bytes : 1;
        if (used + needed > room)
            break;
        memcpy(shown + used, printable ? text + i : "?", needed);
        used += needed;
        i += bytes > 0 ? bytes : 1;
    }
    snprintf(shown + used, TEXT_SHOWN_LENGTH - used, "%s", i < length ? "..." : "");
    return shown;
}
