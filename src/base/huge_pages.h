/* Huge pages: large memory takes fewer page faults and address translations with them. */
#ifndef RADIXPIC_BASE_HUGE_PAGES_H
#define RADIXPIC_BASE_HUGE_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 1 << 21, LEAST_WITH_HUGE_PAGES = 2 * HUGE_PAGE }; /* in bytes */

/* Asks for huge pages in `bytes` at `memory`, which stays the caller's, before they are first written. Where
 * the system has none, the pages stay as they are. */
static inline void ask_for_huge_pages(void *memory, size_t bytes)
{
    const size_t before = -(uintptr_t)memory % HUGE_PAGE;
    if (bytes >= LEAST_WITH_HUGE_PAGES)
        madvise((char *)memory + before, (bytes - before) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
}

#endif
