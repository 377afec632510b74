/* Status: the one recorded sentence. */
#include "base/status.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char *recorded = NULL;

static void record(const char *format, va_list arguments, bool has_lines)
{
    char *message = NULL;
    if (vasprintf(&message, format, arguments) < 0)
        return;
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
    record(format, arguments, false);
    va_end(arguments);
    return code;
}

enum status status_fail_lines(enum status code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(format, arguments, true);
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
