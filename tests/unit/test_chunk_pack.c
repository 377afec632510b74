/* Chunk pack: zlib and the inverse shuffle give back every byte, and what the bytes are decides how they are
 * packed. That HDF5 accepts the checksum, the snapshots of tests/mpi/test_snapshot.c show. */
#include "support/test_support.h"

#include "hdf5/chunk_pack.h"

#include <string.h>
#include <zlib.h>

enum { MOST = 1 << 16, CHECKSUM = 4 };

enum kind { NOISE, CONSTANT, CELLS, EXPONENTS, KINDS };

static uint32_t random_bits(uint32_t n)
{
    uint32_t x = n * 2654435761U + 1;
    x = (x ^ x >> 15) * 2246822519U;
    return x ^ x >> 13;
}

static void fill(enum kind kind, size_t count, size_t size, unsigned char *values)
{
    for (size_t n = 0; n < count; n++)
        for (size_t b = 0; b < size; b++) {
            const uint32_t bits = random_bits((uint32_t)(n * size + b));
            values[n * size + b] = (unsigned char)(kind == NOISE      ? bits >> 8
                                                   : kind == CONSTANT ? 7
                                                   : kind == CELLS    ? n / 1000 >> 8 * b
                                                   : b + 1 < size     ? bits >> 8
                                                                      : 60 + (bits >> 8) % 4);
        }
}

/* Packs and unpacks; returns the packed bytes without the checksum. */
static size_t round_trip(enum kind kind, size_t count, size_t size, uint32_t compression)
{
    const size_t bytes = count * size;
    unsigned char *values = test_array(bytes, 1), *planes = test_array(bytes, 1),
                  *again = test_array(bytes, 1);
    unsigned char *packed = test_array(chunk_pack_room(count, size), 1);
    void *scratch = test_array(count * size, 1);
    size_t packed_bytes = 0;
    uLongf found = (uLongf)bytes;
    fill(kind, count, size, values);
    assert_ok(chunk_pack(values, count, size, compression, scratch, packed, &packed_bytes));
    assert_in_range(packed_bytes, CHECKSUM + 1, chunk_pack_room(count, size));
    packed_bytes -= CHECKSUM;
    if (compression == 0) {
        assert_int_equal(packed_bytes, bytes);
        assert_memory_equal(packed, values, bytes);
        return packed_bytes;
    }
    assert_int_equal(uncompress(planes, &found, packed, (uLong)packed_bytes), Z_OK);
    assert_int_equal(found, bytes);
    for (size_t n = 0; n < bytes; n++)
        again[n] = planes[n % size * count + n / size];
    assert_memory_equal(again, values, bytes);
    return packed_bytes;
}

TEST(every_byte_comes_back)
{
    static const size_t counts[] = {1, 2, 255, 256, 4099, MOST}, sizes[] = {1, 4, 8};
    for (enum kind kind = 0; kind < KINDS; kind++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
                for (uint32_t compression = 0; compression <= 9; compression += 3)
                    round_trip(kind, counts[c], sizes[s], compression);
}

TEST(what_compresses_is_compressed)
{
    const size_t bytes = MOST * sizeof(float);
    assert_in_range(round_trip(NOISE, MOST, 4, 4), bytes, bytes + bytes / 1000); /* stored */
    assert_in_range(round_trip(CONSTANT, MOST, 4, 4), 1, bytes / 500);
    assert_in_range(round_trip(CELLS, MOST, 4, 4), 1, bytes / 200);
    /* Four values in one byte of four: 2 bits of 8 are left of it, so 3/4 + 1/16. */
    assert_in_range(round_trip(EXPONENTS, MOST, 4, 4), bytes * 13 / 16, bytes * 13 / 16 + bytes / 100);
}

TEST_MAIN(NULL, NULL)
