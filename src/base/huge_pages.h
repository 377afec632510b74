/* Huge pages: large memory takes fewer page faults and address translations with them. */
#ifndef BASE_HUGE_PAGES_H
#define BASE_HUGE_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* Asks for huge pages in `bytes` at `memory`, which stays the caller's, before they are first written. Where
 * the system has none, the pages stay as they are. */
static inline void ask_for_huge_pages(void *memory, size_t bytes)
{
    const size_t page = (size_t)1 << 21, before = -(uintptr_t)memory % page;
    if (bytes >= 2 * page)
        madvise((char *)memory + before, (bytes - before) / page * page, MADV_HUGEPAGE);
}

#endif
