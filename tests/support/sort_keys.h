/* Sort keys: lists of keys that a sort may find hard. */
#ifndef RADIXPIC_SORT_KEYS_H
#define RADIXPIC_SORT_KEYS_H

#include <stdint.h>

enum pattern {
    RANDOM_KEYS,
    ALL_EQUAL,
    ALTERNATING,
    SORTED_KEYS,
    REVERSED,
    ALL_LARGEST,
    NEIGHBOURS,
    PATTERNS
};

static inline uint32_t largest_key(uint32_t bits)
{
    return bits == 32 ? UINT32_MAX : (UINT32_C(1) << bits) - 1;
}

/* A counter-based generator (the finaliser of MurmurHash3): key j does not depend on the others. */
static inline uint32_t scramble(uint32_t j)
{
    j ^= j >> 16;
    j *= 0x85ebca6bu;
    j ^= j >> 13;
    j *= 0xc2b2ae35u;
    return j ^ (j >> 16);
}

static inline void fill_keys(uint32_t *keys, uint32_t count, uint32_t bits, enum pattern pattern)
{
    const uint32_t largest = largest_key(bits);
    for (uint32_t j = 0; j < count; j++) {
        const uint32_t rising = (uint32_t)((uint64_t)j * largest / (count > 1 ? count - 1 : 1));
        switch (pattern) {
        case RANDOM_KEYS:
            keys[j] = scramble(j + 1) & largest;
            break;
        case ALL_EQUAL:
            keys[j] = largest / 2;
            break;
        case ALTERNATING:
            keys[j] = j % 2 ? 0 : largest;
            break;
        case SORTED_KEYS:
            keys[j] = rising;
            break;
        case REVERSED:
            keys[j] = largest - rising;
            break;
        case NEIGHBOURS: /* rising, by up to three back or on: few distinct keys in any stretch */
            keys[j] = rising < 3 || rising > largest - 3 ? rising : rising - 3 + scramble(j) % 7;
            break;
        case ALL_LARGEST:
        case PATTERNS:
            keys[j] = largest;
            break;
        }
    }
}

#endif
