/* What calls of RadixPIC's libraries return, and why. */
#ifndef RADIXPIC_STATUS_H
#define RADIXPIC_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#define RADIXPIC_API __attribute__((visibility("default")))
#else
#define RADIXPIC_API
#endif

enum radixpic_status {
    RADIXPIC_OK = 0,
    RADIXPIC_FAILED = 1,    /* memory, disk, a kernel that does not build, a value that is not finite */
    RADIXPIC_USAGE = 2,     /* a config or an argument that cannot be */
    RADIXPIC_NO_DEVICE = 3, /* no usable OpenCL device */
    RADIXPIC_STOPPED = 4    /* by radixpic_stop(), with a checkpoint written */
};

/* "1.2.3" */
RADIXPIC_API const char *radixpic_version(void);

/* Why the last call of this thread that failed did so; "" where none has. Valid until the next one fails. It
 * may have several lines: all the errors of a config, or a compiler's log. */
RADIXPIC_API const char *radixpic_error(void);

#ifdef __cplusplus
}
#endif

#endif
