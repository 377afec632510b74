/* Library, handle: one thread at a time, in one process. */
#include "library/internal.h"

#include <stdatomic.h>
#include <unistd.h>

/* Of the first simulation, 0 before. The threads of OpenCL drivers are not in a process that is forked later,
 * where a call would wait for them for ever. */
static atomic_int process;

enum status handle_require_process(void)
{
    int first = 0;
    if (atomic_compare_exchange_strong(&process, &first, (int)getpid()) || first == (int)getpid())
        return STATUS_OK;
    return status_fail(
        STATUS_USAGE,
        "this process was forked from process %d, which had begun to use OpenCL; a simulation needs "
        "a process that is started anew, as by the start method spawn of Python's multiprocessing",
        first);
}

bool handle_take(const struct radixpic *run)
{
    return handle_require_process() == STATUS_OK && pthread_mutex_lock((pthread_mutex_t *)&run->lock) == 0;
}

void handle_give(const struct radixpic *run, bool is_taken)
{
    if (is_taken)
        pthread_mutex_unlock((pthread_mutex_t *)&run->lock);
}
