/* Random answers: the known answers of the Random123 distribution (D. E. Shaw Research, file kat_vectors,
 * lines "philox4x32 10"), for the host and for a device. */
#ifndef RADIXPIC_TEST_RANDOM_ANSWERS_H
#define RADIXPIC_TEST_RANDOM_ANSWERS_H

#include "shared/random.h"

struct random_answer {
    random_words counter;
    ulong key; /* the file's first word is the low half */
    random_words answer;
};

enum { RANDOM_ANSWERS = 3 };

/* No bit set, all bits set, and the first hexadecimal digits of pi. */
static const struct random_answer random_answers[RANDOM_ANSWERS] = {
    {{{0, 0, 0, 0}}, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
    {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
     0xffffffffffffffff,
     {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
    {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
     0x299f31d0a4093822,
     {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}}};

#endif
