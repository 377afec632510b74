/* Local memory: what kernels/local_memory.cl and the host that judges it must agree on. */
#ifndef SHARED_LOCAL_MEMORY_H
#define SHARED_LOCAL_MEMORY_H

#include "shared/real.h"

/* ---- atomic functions ----
 *
 * OF(NAME, name, device, host): what operation n does with the word at `at`, and what it makes of a `word`,
 * in any order but for xchg, which keeps what was there in returned[n]. cmpxchg counts one up in a loop. */
#define FOR_ATOMIC_FUNCTIONS(OF)                                                                             \
    OF(ADD, add, atomic_add(at, operand), word + operand)                                                    \
    OF(SUB, sub, atomic_sub(at, operand), word - operand)                                                    \
    OF(XCHG, xchg, returned[n] = atomic_xchg(at, n + 1), n + 1)                                              \
    OF(MIN, min, atomic_min(at, operand), operand < word ? operand : word)                                   \
    OF(MAX, max, atomic_max(at, operand), operand > word ? operand : word)                                   \
    OF(INC, inc, atomic_inc(at), word + 1)                                                                   \
    OF(DEC, dec, atomic_dec(at), word - 1)                                                                   \
    OF(CMPXCHG, cmpxchg, COUNT_BY_CMPXCHG(at), word + 1)                                                     \
    OF(AND, and, atomic_and(at, operand | pattern), (operand | pattern) & word)                              \
    OF(OR, or, atomic_or(at, operand & pattern), word | (operand & pattern))                                 \
    OF(XOR, xor, atomic_xor(at, operand), word ^ operand)

#define ATOMIC_NUMBER(NAME, name, device, host) ATOMIC_##NAME,
enum atomic_function { FOR_ATOMIC_FUNCTIONS(ATOMIC_NUMBER) ATOMIC_FUNCTIONS };

/* The number that operation n is made with: all bits of n have moved many of it. */
static inline uint atomic_operand(uint n)
{
    n = (n ^ (n >> 16)) * 0x7feb352du;
    n = (n ^ (n >> 15)) * 0x846ca68bu;
    return n ^ (n >> 16);
}

/* The bits that the operations of and leave alone in a word, and those that the operations of or may set:
 * else after many of them all words were alike. */
static inline uint atomic_pattern(uint address)
{
    return atomic_operand(~address);
}

/* ---- refinement ---- */

/* A child grid has REFINEMENT cells along x and y for one of its parent. */
#define REFINEMENT       8
#define REFINEMENT_CELLS (REFINEMENT * REFINEMENT)

#define REFINEMENT_PEAK 1048576u /* the highest density */

/* A ring around the middle of the box of `cells` x `cells` coarse cells, falling off to both sides, at (x, y)
 * in halves of a fine cell. Whole numbers, so that every device has the same; cells <= 2048. */
static inline uint refinement_density(uint cells, uint x, uint y)
{
    const uint middle = REFINEMENT * cells; /* of the box: 2 * REFINEMENT * cells halves wide */
    const uint dx = x > middle ? x - middle : middle - x, dy = y > middle ? y - middle : middle - y;
    const uint squared = dx * dx + dy * dy, radius = middle - middle / 4;
    const uint off = squared > radius * radius ? squared - radius * radius : radius * radius - squared;
    return REFINEMENT_PEAK / (1u + off / (middle * middle / 1024u + 1u));
}

/* The density in the middle of a cell of the coarse grid of `cells` x `cells`. */
static inline uint coarse_density(uint cell, uint cells)
{
    return refinement_density(cells, REFINEMENT * (cell / cells) * 2 + REFINEMENT,
                              REFINEMENT * (cell % cells) * 2 + REFINEMENT);
}

#endif
