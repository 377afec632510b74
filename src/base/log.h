/* Log: the lines of a run, to the standard or the error output and to log.txt. */
#ifndef RADIXPIC_BASE_LOG_H
#define RADIXPIC_BASE_LOG_H

#include <stdio.h>

/* Each level shows what the ones before it show, and more. */
enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE };

/* Where lines go. The terminal shows lines up to `level`; the file, where there is one, gets all. Neither is
 * owned. A terminal that takes no line any more becomes NULL, which the file has a line about. */
struct log {
    FILE *terminal;
    FILE *file;
    enum log_level level;
};

/* One printf-formatted line, its end added, and escaped what a terminal would obey, line ends too
 * (text_escaped()). LOG_QUIET lines are shown always: warnings, and what was asked for. */
void log_line(struct log *log, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define log_warning(log, ...) log_line(log, LOG_QUIET, "warning: " __VA_ARGS__)

#endif
