/* C locale: numbers are read and written with a decimal point, whatever locale the process is in. Public
 * functions of the library, and its threads, take this locale for themselves; those of the host keep theirs.
 */
#ifndef RADIXPIC_BASE_C_LOCALE_H
#define RADIXPIC_BASE_C_LOCALE_H

#include <locale.h>

/* Sets the calling thread's locale and returns the one before. It is one that takes no memory. */
static inline locale_t c_locale_begin(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void c_locale_end(const locale_t *before)
{
    uselocale(*before);
}

/* The C locale from here to the end of the block. */
#define IN_C_LOCALE locale_t of_host __attribute__((cleanup(c_locale_end))) = c_locale_begin()

#endif
