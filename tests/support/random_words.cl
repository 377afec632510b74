/* The numbers of a list of counters and keys, one item each. */
#include "shared/random.h"

kernel void random_words_of(global const random_words *counters, global const ulong *keys,
                            global random_words *words)
{
    const size_t n = get_global_id(0);
    words[n] = random_words_at(counters[n], keys[n]);
}
