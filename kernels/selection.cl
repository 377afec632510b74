/* Selection: which particles of a list are chosen, and how they come together. A word of marks has a bit for
 * each of WORD particles; `begins` holds how many are chosen before each block of BLOCK words, and behind the
 * last block how many there are. */
#define LANES 1
#include "shared/element.h"
#include "shared/random.h"

#define WORD  32
#define BLOCK 64 /* as in src/output/sorted_list.c */

/* Bit k of marks[n]: whether particle 32 n + k, below `count`, is chosen. With each > 0 that is so for every
 * one in `each` of the particles of all ranks, where `before` stand before this list; else where the upper 53
 * bits of the hash of its id in the file are below `below`. */
kernel void selection_mark(global const ulong *restrict ids, ulong first_id, ulong below, ulong each,
                           ulong before, uint count, global uint *restrict marks)
{
    const uint n = (uint)get_global_id(0), begin = WORD * n;
    uint mark = 0;
    if (n > (count - 1) / WORD)
        return;
    if (each > 0) {
        for (ulong k = (each - (before + begin) % each) % each; k < min((uint)WORD, count - begin); k += each)
            mark |= 1u << k;
    } else if (count - begin >= WORD) {
        for (uint k = 0; k < WORD; k += 4) { /* as wide as a GPU reads at once, since items are far apart */
            const ulong4 four = vload4(k / 4, ids + begin);
            mark |= (uint)(random_mix(first_id + four.x) >> 11 < below) << k |
                    (uint)(random_mix(first_id + four.y) >> 11 < below) << (k + 1) |
                    (uint)(random_mix(first_id + four.z) >> 11 < below) << (k + 2) |
                    (uint)(random_mix(first_id + four.w) >> 11 < below) << (k + 3);
        }
    } else {
        for (uint k = 0; k < count - begin; k++)
            mark |= (uint)(random_mix(first_id + ids[begin + k]) >> 11 < below) << k;
    }
    marks[n] = mark;
}

static inline uint count_marks(global const uint *restrict marks, uint begin, uint end)
{
    uint sum = 0;
    for (uint n = begin; n < end; n++)
        sum += popcount(marks[n]);
    return sum;
}

/* counts[b] = how many particles are chosen in block b; an item each. */
kernel void selection_count(global const uint *restrict marks, uint words, global uint *restrict counts)
{
    const uint b = (uint)get_global_id(0), begin = b * BLOCK;
    if (begin < words)
        counts[b] = count_marks(marks, begin, min(begin + BLOCK, words));
}

/* Chosen particles before those of a word. */
static inline uint chosen_before(global const uint *restrict marks, global const uint *restrict begins,
                                 uint word)
{
    return begins[word / BLOCK] + count_marks(marks, word / BLOCK * BLOCK, word);
}

/* chosen[cell] = how many are chosen of the particles before `cell_offsets[cell]`, for cells 0 to `cells`. */
kernel void selection_cells(global const uint *restrict marks, global const uint *restrict begins,
                            global const uint *restrict cell_offsets, uint cells,
                            global uint *restrict chosen)
{
    const uint cell = (uint)get_global_id(0);
    if (cell > cells)
        return;
    const uint p = cell_offsets[cell], word = p / WORD, bit = p % WORD;
    chosen[cell] = chosen_before(marks, begins, word) +
                   (bit > 0 ? popcount(marks[word] & ((1u << bit) - 1)) : 0); /* a word that there is */
}

/* The chosen elements, one behind the other; an item for each word. */
#define DEFINE_COPY(bytes)                                                                                   \
    kernel void selection_copy_##bytes(                                                                      \
        global const uint *restrict marks, global const uint *restrict begins, uint words,                   \
        global const ELEMENT(bytes) *restrict all, global ELEMENT(bytes) *restrict taken)                    \
    {                                                                                                        \
        const uint n = (uint)get_global_id(0);                                                               \
        if (n >= words)                                                                                      \
            return;                                                                                          \
        uint place = chosen_before(marks, begins, n);                                                        \
        for (uint left = marks[n], k = 0; left != 0; left >>= 1, k++)                                        \
            if (left & 1)                                                                                    \
                taken[place++] = all[WORD * n + k];                                                          \
    }
FOR_ELEMENTS(DEFINE_COPY)
