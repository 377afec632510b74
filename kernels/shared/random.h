/* Random: numbers that look random and are a pure function of a counter and a key, in code that both the
 * OpenCL and the host compiler read.
 *
 * Philox 4x32 of ten rounds (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3", SC 2011, section 3.3): there is no state to keep or to seed, so any work-item has any
 * number at once, and it is the same number on any device, in any order and on any number of ranks. The
 * counter says which number is meant, the key which sequence: two that differ in any bit have nothing to do
 * with one another. No two draws of a run may therefore share counter and key.
 */
#ifndef SHARED_RANDOM_H
#define SHARED_RANDOM_H

#include "shared/lanes.h"

/* A counter, or the four numbers that stand there, each uniform in 0..2^32-1. */
typedef struct {
    uint word[4];
} random_words;

/* The paper's multipliers; the key moves on by the golden ratio and by sqrt(3) - 1, as fractions of 2^32. */
#define RANDOM_FIRST_FACTOR  0xD2511F53u
#define RANDOM_SECOND_FACTOR 0xCD9E8D57u
#define RANDOM_FIRST_STRIDE  0x9E3779B9u
#define RANDOM_SECOND_STRIDE 0xBB67AE85u

/* words[4], a counter or vectors of counters, become its numbers. The key's low half is the first of the
 * paper's two key words. */
#define DRAW_RANDOM_WORDS(type, words, key, HIGH_HALF)                                                       \
    uint keys[2] = {(uint)(key), (uint)((key) >> 32)};                                                       \
    for (int round = 0; round < 10; round++) {                                                               \
        const type first = HIGH_HALF((words)[0], RANDOM_FIRST_FACTOR) ^ (words)[3] ^ keys[1];                \
        const type second = HIGH_HALF((words)[2], RANDOM_SECOND_FACTOR) ^ (words)[1] ^ keys[0];              \
        (words)[1] = (words)[2] * RANDOM_SECOND_FACTOR;                                                      \
        (words)[3] = (words)[0] * RANDOM_FIRST_FACTOR;                                                       \
        (words)[0] = second;                                                                                 \
        (words)[2] = first;                                                                                  \
        keys[0] += RANDOM_FIRST_STRIDE;                                                                      \
        keys[1] += RANDOM_SECOND_STRIDE;                                                                     \
    }
#define RANDOM_HIGH_HALF(word, factor) ((uint)(((ulong)(word) * (factor)) >> 32))

/* The four numbers of a counter. */
static inline random_words random_words_at(random_words counter, ulong key)
{
    DRAW_RANDOM_WORDS(uint, counter.word, key, RANDOM_HIGH_HALF)
    return counter;
}

#if LANES > 1
/* PoCL 3.1 makes mul_hi() of a dozen products of halves. */
#define RANDOM_HIGH_HALVES(words, factor) convert_uint16((convert_ulong16(words) * (ulong)(factor)) >> 32ul)

/* The random words of a counter in each lane. */
static inline void random_lanes_at(uints words[4], ulong key)
{
    DRAW_RANDOM_WORDS(uints, words, key, RANDOM_HIGH_HALVES)
}
#endif

/* Number n of another sequence, no two of which are alike: SplitMix64 from the seed 0 (G. L. Steele, D. Lea,
 * C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), as a hash of n. */
static inline ulong random_mix(ulong n)
{
    n = (n + 1) * 0x9E3779B97F4A7C15u;
    n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9u;
    n = (n ^ (n >> 27)) * 0x94D049BB133111EBu;
    return n ^ (n >> 31);
}

#endif
