/* Log: one line to both places. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

/* Whether all of it was handed to the system; else errno says why not. */
static bool write_line(FILE *stream, const char *format, va_list arguments)
{
    return vfprintf(stream, format, arguments) >= 0 && fputc('\n', stream) != EOF && fflush(stream) == 0;
}

void log_line(struct log *log, enum log_level level, const char *format, ...)
{
    va_list arguments;
    if (log->terminal && level <= log->level) {
        va_start(arguments, format);
        const bool is_written = write_line(log->terminal, format, arguments);
        va_end(arguments);
        if (!is_written)
            log->terminal = NULL;
        if (!is_written && log->file)
            fprintf(log->file,
                    "warning: the terminal, or what the standard output goes to, takes no more: %s\n",
                    strerror(errno));
    }
    if (log->file) {
        va_start(arguments, format);
        write_line(log->file, format, arguments);
        va_end(arguments);
    }
}
