/* Random: known answers on the host (tests/kernel/test_cell_shuffle.c has those of a device), and that each
 * bit of counter and key tells. */
#include "support/test_support.h"

#include "support/random_answers.h"

TEST(known_answers)
{
    for (int n = 0; n < RANDOM_ANSWERS; n++) {
        const random_words met = random_words_at(random_answers[n].counter, random_answers[n].key);
        assert_memory_equal(&met, &random_answers[n].answer, sizeof met);
    }
}

/* The first four numbers of SplitMix64 from the seed 0, as in S. Vigna's splitmix64.c. */
TEST(known_hashes)
{
    static const uint64_t answers[] = {0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F,
                                       0xF88BB8A8724C81EC};
    for (uint64_t n = 0; n < 4; n++)
        assert_int_equal(random_mix(n), answers[n]);
}

static unsigned bits_that_differ(random_words a, random_words b)
{
    unsigned bits = 0;
    for (int n = 0; n < 4; n++)
        bits += (unsigned)__builtin_popcount(a.word[n] ^ b.word[n]);
    return bits;
}

/* One bit more in counter or key changes half of the 128 bits, as chance would: 64, with a deviation of
 * sqrt(128) / 2 = 5.7. Six of those are met once in 5e8 times; there are 192 here. */
TEST(every_bit_tells)
{
    const random_words counter = {{17, 4, 1000, 2}}, words = random_words_at(counter, 5);
    for (int bit = 0; bit < 128; bit++) {
        random_words other = counter;
        other.word[bit / 32] ^= 1u << bit % 32;
        assert_near(bits_that_differ(random_words_at(other, 5), words), 64, 34);
    }
    for (int bit = 0; bit < 64; bit++)
        assert_near(bits_that_differ(random_words_at(counter, 5ul ^ 1ul << bit), words), 64, 34);
}

TEST_MAIN(NULL, NULL)
