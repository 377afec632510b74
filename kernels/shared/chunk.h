/* Chunk: the entries of a list that an item walks. */
#ifndef SHARED_CHUNK_H
#define SHARED_CHUNK_H

/* Entries [begin, begin + length); length is 0 behind the end of the list. */
typedef struct {
    uint begin, length;
} chunk_range;

/* The entries of item number `item`, in a list of `count` entries that is cut into chunks of `chunk`. */
static inline chunk_range own_chunk(uint item, uint chunk, uint count)
{
    const uint begin = (uint)min((ulong)item * chunk, (ulong)count);
    const chunk_range range = {begin, min(chunk, count - begin)};
    return range;
}

#endif
