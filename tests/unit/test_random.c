/* Random: known answers. That a device has the same numbers
 * tests/kernel/test_cell_shuffle.c shows. */
#include "support/test_support.h"

#include "shared/random.h"

/* Those of the Random123 distribution (D. E. Shaw Research, file kat_vectors, lines "philox4x32 10"): no bit
 * set, all bits set, and the first hexadecimal digits of pi. */
TEST(known_answers)
{
    static const struct {
        random_words counter;
        ulong key; /* the file's first word is the low half */
        random_words answer;
    } cases[] = {
        {{{0, 0, 0, 0}}, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
        {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
         0xffffffffffffffff,
         {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
        {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
         0x299f31d0a4093822,
         {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const random_words met = random_words_at(cases[n].counter, cases[n].key);
        assert_memory_equal(&met, &cases[n].answer, sizeof met);
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

TEST_MAIN(NULL, NULL)
