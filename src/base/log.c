/* Log: one line to both places. */
#include "base/log.h"

#include <stdarg.h>

static void write_line(FILE *stream, const char *format, va_list arguments)
{
    vfprintf(stream, format, arguments);
    fputc('\n', stream);
    fflush(stream);
}

void log_line(struct log *log, enum log_level level, const char *format, ...)
{
    va_list arguments;
    if (log->terminal && level <= log->level) {
        va_start(arguments, format);
        write_line(log->terminal, format, arguments);
        va_end(arguments);
    }
    if (log->file) {
        va_start(arguments, format);
        write_line(log->file, format, arguments);
        va_end(arguments);
    }
}
