/* Calls: what all functions of the libraries have in common, libradixpic_sort.so too. */
#ifndef RADIXPIC_LIBRARY_CALLS_H
#define RADIXPIC_LIBRARY_CALLS_H

#include "radixpic/status.h"

#include "base/status.h"
#include "base/thread.h"

/* STATUS_USAGE in a process that was forked from the one of the first simulation or sorter. */
STATUS_CHECKED enum status handle_require_process(void);

/* STATUS_USAGE where one of these pointers, arguments of a public function, is NULL. */
#define GIVEN(...)                                                                                           \
    handle_given(#__VA_ARGS__, sizeof((const void *[]){__VA_ARGS__}) / sizeof(void *),                       \
                 (const void *[]){__VA_ARGS__})
STATUS_CHECKED enum status handle_given(const char *names, size_t count, const void *const *pointers);

#endif
