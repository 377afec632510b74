/* Status: the one recorded sentence. */
#include "base/status.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char *recorded = NULL;

/* Replaces the middle of a line that is too long for a message, as of a long command line, by its length. */
static void cut_lines(char *text)
{
    enum { LONGEST = 1000, BEGIN = 500, END = 300 };
    for (size_t length; text[0] != '\0'; text += length + (text[length] != '\0')) {
        length = strcspn(text, "\n");
        if (length <= LONGEST)
            continue;
        const char *rest = text + length - END;
        length = BEGIN + (size_t)sprintf(text + BEGIN, "... (%zu bytes left out) ...", length - BEGIN - END);
        memmove(text + length, rest, strlen(rest) + 1);
        length += END;
    }
}

/* The sentence of a stop ends with a command to go on by, which stays whole. */
static void record(enum status code, const char *format, va_list arguments, bool has_lines)
{
    char *message = NULL;
    if (vasprintf(&message, format, arguments) < 0)
        return;
    if (code != STATUS_STOPPED)
        cut_lines(message);
    char *escaped = text_escaped(message, has_lines);
    free(recorded); /* after formatting: the old sentence may be one of the arguments */
    recorded = escaped ? escaped : message;
    if (escaped)
        free(message);
}

enum status status_fail(enum status code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(code, format, arguments, false);
    va_end(arguments);
    return code;
}

enum status status_fail_lines(enum status code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(code, format, arguments, true);
    va_end(arguments);
    return code;
}

const char *status_message(void)
{
    return recorded ? recorded : "";
}

enum status status_keep(enum status status, char *sentence, enum status next)
{
    if (status != STATUS_OK)
        (void)status_fail_lines(status, "%s", sentence ? sentence : "out of memory");
    free(sentence);
    return status == STATUS_OK ? next : status;
}

char *status_take(void)
{
    char *taken = recorded;
    recorded = NULL;
    return taken;
}
