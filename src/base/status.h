/* Status: what a function that can fail returns, and the one sentence on why it failed.
 *
 * A failing function calls status_fail() once, at the place where the reason is known, and returns its code;
 * callers hand the code up unchanged (TRY). main() prints the sentence and uses the code as the exit code of
 * the program.
 */
#ifndef RADIXPIC_BASE_STATUS_H
#define RADIXPIC_BASE_STATUS_H

/* The numbers are the exit codes of the program. */
enum status {
    STATUS_OK = 0,        /* done */
    STATUS_FAILED = 1,    /* failed while running: disk, memory, kernel build, NaN */
    STATUS_USAGE = 2,     /* bad command line or config */
    STATUS_NO_DEVICE = 3, /* no usable OpenCL device */
    STATUS_STOPPED = 4    /* stopped by a signal, with a checkpoint written where that was possible */
};

#define STATUS_CHECKED __attribute__((warn_unused_result))

/* Records the printf-formatted sentence, replacing any earlier one, and returns `code`. The sentence names
 * what a user can act on (file:line:column and key, option, device, path and errno text) and ends without a
 * newline. It is escaped (base/text.h): a line end in it is one of a name. Of a line of more than 1,000 bytes
 * the middle is left out. */
enum status status_fail(enum status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Records a message of several lines, as a kernel's build log or the errors of a config: line ends stay, so
 * the caller escapes those of names. */
enum status status_fail_lines(enum status code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The recorded sentence, "" when nothing failed yet. Owned by this room; valid until the next failure. */
const char *status_message(void);

/* Hands the sentence of this thread over, to be freed; NULL when nothing failed. What a thread records and
 * does not hand over is lost with it, and so is its memory. */
char *status_take(void);

/* The first failure of two calls, with its sentence: `status`, whose sentence status_take() gave before the
 * second call, or `next`. Frees the sentence. */
enum status status_keep(enum status status, char *sentence, enum status next);

/* Returns early with the code of a failed call. Only where the calling function owns nothing yet. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        enum status try_status = (call);                                                                     \
        if (try_status != STATUS_OK)                                                                         \
            return try_status;                                                                               \
    } while (0)

/* Makes a call if `status` is OK, that is unless an earlier one failed; `status` keeps the code of the failed
 * one. */
#define TRY_IF_OK(call)                                                                                      \
    do {                                                                                                     \
        if (status == STATUS_OK)                                                                             \
            status = (call);                                                                                 \
    } while (0)

/* Keeps the code of a failed call in `status` and goes to `cleanup:`, where what is owned is freed. */
#define TRY_CLEANUP(call)                                                                                    \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status != STATUS_OK)                                                                             \
            goto cleanup;                                                                                    \
    } while (0)

#endif
