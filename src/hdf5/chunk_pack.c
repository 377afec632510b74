/* Chunk pack: planes of bytes, each deflated by the way that fits it, in one zlib stream. */
#include "hdf5/chunk_pack.h"

#include <string.h>
#include <zlib.h>

enum { CHECKSUM = 4, VALUES = 256 /* of a byte */ };

size_t chunk_pack_room(size_t count, size_t size)
{
    return compressBound((uLong)(count * size)) + 64 * size + CHECKSUM;
}

/* planes[b][n] <- byte b of element n: HDF5's filter shuffle. */
static inline void shuffle_by(const unsigned char *values, size_t count, size_t size, unsigned char *planes)
{
    for (size_t b = 0; b < size; b++)
        for (size_t n = 0; n < count; n++)
            planes[b * count + n] = values[n * size + b];
}

/* With sizes that the compiler knows the loops become vector instructions. */
static void shuffle(const unsigned char *values, size_t count, size_t size, unsigned char *planes)
{
    if (size == sizeof(uint32_t))
        shuffle_by(values, count, sizeof(uint32_t), planes);
    else if (size == sizeof(uint64_t))
        shuffle_by(values, count, sizeof(uint64_t), planes);
    else
        shuffle_by(values, count, size, planes);
}

/* ---- deflate ---- */

/* Most bits of an offset or velocity are noise, of which deflate makes nothing in much time; exponents take
 * few values, for which Huffman's code alone does as well; indices of cells are runs of one byte. */
enum way { WAY_STORE, WAY_HUFFMAN, WAY_RUNS, WAY_REPEATS };

/* Looks at a sample: every 16th run of 256 bytes. */
static enum way way_of(const unsigned char *plane, size_t count)
{
    enum { RUN = 256, STEP = 16 * RUN };
    /* Independent bytes of probabilities p are alike with probability sum p^2: 1/256 for noise. */
    const double noise = 1.5 / VALUES, repeats = 0.1;
    size_t times[VALUES] = {0}, seen = 0, alike = 0;
    double of_pair = 0;
    for (size_t begin = 0; begin < count; begin += STEP)
        for (size_t n = begin; n < count && n < begin + RUN; n++, seen++) {
            times[plane[n]]++;
            alike += n > begin && plane[n] == plane[n - 1];
        }
    for (int value = 0; value < VALUES; value++)
        of_pair += (double)(times[value] * times[value]);
    of_pair /= (double)seen * (double)seen;
    if ((double)alike > 0.9 * (double)seen)
        return WAY_RUNS;
    if ((double)alike > (of_pair + repeats * (1 - of_pair)) * (double)seen || of_pair > 0.99)
        return WAY_REPEATS;
    return of_pair < noise ? WAY_STORE : WAY_HUFFMAN;
}

static enum status deflate_all(unsigned char *planes, size_t count, size_t size, uint32_t compression,
                               unsigned char *packed, size_t *bytes)
{
    static const int strategies[] = {[WAY_STORE] = Z_DEFAULT_STRATEGY,
                                     [WAY_HUFFMAN] = Z_HUFFMAN_ONLY,
                                     [WAY_RUNS] = Z_RLE,
                                     [WAY_REPEATS] = Z_DEFAULT_STRATEGY};
    z_stream stream = {.next_out = packed, .avail_out = (uInt)(chunk_pack_room(count, size) - CHECKSUM)};
    if (deflateInit(&stream, 0) != Z_OK)
        return status_fail(STATUS_FAILED, "no memory to compress");
    int result = Z_OK;
    for (size_t b = 0; b < size && result == Z_OK; b++) {
        const enum way way = way_of(planes + b * count, count);
        result = deflateParams(&stream, way == WAY_STORE ? 0 : (int)compression, strategies[way]);
        stream.next_in = planes + b * count;
        stream.avail_in = (uInt)count;
        if (result == Z_OK)
            result = deflate(&stream, b + 1 < size ? Z_NO_FLUSH : Z_FINISH);
    }
    *bytes = stream.total_out;
    deflateEnd(&stream);
    return result == Z_STREAM_END ? STATUS_OK
                                  : status_fail(STATUS_FAILED, "zlib cannot compress (%d)", result);
}

/* ---- checksum ---- */

/* A sum modulo 65535 in which only 0 is 0. */
static uint32_t fold(uint32_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    return (sum & 0xffff) + (sum >> 16);
}

/* HDF5's filter fletcher32: the sums of all 16-bit words, and of these sums; the first byte of a word, or an
 * odd last one, is high. In blocks of n words w the sum of sums grows by n first + sum (n - k) w_k. */
static uint32_t fletcher32(const unsigned char *data, size_t bytes)
{
    enum { WORDS = 128 /* of a block, whose sums fit 32 bits */ };
    uint32_t first = 0, second = 0;
    for (size_t left = bytes / 2; left > 0;) {
        const uint32_t words = (uint32_t)(left < WORDS ? left : WORDS);
        uint32_t sum = 0, weighted = 0;
        for (uint32_t k = 0; k < words; k++) {
            const uint32_t word = (uint32_t)data[2 * k] << 8 | data[2 * k + 1];
            sum += word;
            weighted += (words - k) * word;
        }
        second = fold(second + fold(words * first) + fold(weighted));
        first = fold(first + sum);
        data += 2 * words;
        left -= words;
    }
    if (bytes % 2 != 0) {
        first = fold(first + ((uint32_t)*data << 8));
        second = fold(second + first);
    }
    return second << 16 | first;
}

enum status chunk_pack(const void *values, size_t count, size_t size, uint32_t compression, void *scratch,
                       void *packed, size_t *bytes)
{
    unsigned char *end = packed;
    if (compression == 0) {
        *bytes = count * size;
        memcpy(packed, values, *bytes);
    } else {
        shuffle(values, count, size, scratch);
        TRY(deflate_all(scratch, count, size, compression, packed, bytes));
    }
    const uint32_t checksum = fletcher32(packed, *bytes);
    for (int n = 0; n < CHECKSUM; n++)
        end[*bytes + (size_t)n] = (unsigned char)(checksum >> 8 * n);
    *bytes += CHECKSUM;
    return STATUS_OK;
}
