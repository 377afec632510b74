/* Status: the one recorded sentence. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char *recorded = NULL;

enum status status_fail(enum status code, const char *format, ...)
{
    char *message = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&message, format, arguments);
    va_end(arguments);
    if (length >= 0) {
        free(recorded); /* after formatting: the old sentence may be one of the arguments */
        recorded = message;
    }
    return code;
}

const char *status_message(void)
{
    return recorded ? recorded : "";
}

enum status status_keep(enum status status, char *sentence, enum status next)
{
    if (status != STATUS_OK)
        (void)status_fail(status, "%s", sentence ? sentence : "out of memory");
    free(sentence);
    return status == STATUS_OK ? next : status;
}

char *status_take(void)
{
    char *taken = recorded;
    recorded = NULL;
    return taken;
}
