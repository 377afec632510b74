/* Calls: their errors, and which of them can be. */
#include "library/calls.h"

#include <stdatomic.h>
#include <unistd.h>

_Static_assert((int)RADIXPIC_FAILED == STATUS_FAILED && (int)RADIXPIC_USAGE == STATUS_USAGE &&
                   (int)RADIXPIC_NO_DEVICE == STATUS_NO_DEVICE && (int)RADIXPIC_STOPPED == STATUS_STOPPED,
               "the statuses of radixpic.h are those of base/status.h");

const char *radixpic_version(void)
{
    return RADIXPIC_VERSION;
}

const char *radixpic_error(void)
{
    return status_message();
}

/* Of the first simulation or sorter, 0 before. The threads of OpenCL drivers are not in a process that is
 * forked later, where a call would wait for them for ever. */
static atomic_int process;

enum status handle_require_process(void)
{
    int first = 0;
    if (atomic_compare_exchange_strong(&process, &first, (int)getpid()) || first == (int)getpid())
        return STATUS_OK;
    return status_fail(
        STATUS_USAGE,
        "this process was forked from process %d, which had begun to use OpenCL; a simulation or a sorter "
        "needs a process that is started anew, as by the start method spawn of Python's multiprocessing",
        first);
}

enum status handle_given(const char *names, size_t count, const void *const *pointers)
{
    for (size_t n = 0; n < count; n++)
        if (!pointers[n])
            return status_fail(STATUS_USAGE, "expected no NULL among the arguments %s", names);
    return STATUS_OK;
}
