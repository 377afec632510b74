/* Log: one line to both places. */
#include "base/log.h"

#include "base/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Whether all of it was handed to the system; else errno says why not. */
static bool write_line(FILE *stream, const char *line)
{
    return fprintf(stream, "%s\n", line) >= 0 && fflush(stream) == 0;
}

/* The thread that writes files has lines too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void log_line(struct log *log, enum log_level level, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    char *line = length >= 0 ? text_escaped(text, false) : NULL;
    if (length >= 0)
        free(text);
    if (!line)
        return;
    pthread_mutex_lock(&lock);
    if (log->terminal && level <= log->level && !write_line(log->terminal, line)) {
        log->terminal = NULL;
        if (log->file)
            fprintf(log->file, "warning: the standard or error output takes no more lines: %s\n",
                    strerror(errno));
    }
    if (log->file)
        write_line(log->file, line);
    pthread_mutex_unlock(&lock);
    free(line);
}
