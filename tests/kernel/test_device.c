/* Device, its queues: what goes to the side queue sees the main queue's work before the fork, and what goes
 * to the main queue after the join sees the side queue's; transfers and timers of both. */
#include "support/device_fixture.h"

/* Copies long enough that one that does not wait reads what was there before. */
enum { WORDS = 8 << 20, BYTES = 4 * WORDS, ROUNDS = 12 };

enum { CHAIN = 4 };

/* Copies go from each to the next. */
struct chain {
    struct buffer *links[CHAIN];
    uint32_t *words; /* on the host */
};

static struct chain chain_create(void)
{
    struct chain chain = {.words = test_array(1, BYTES)};
    for (int n = 0; n < CHAIN; n++) {
        chain.links[n] = test_buffer(BYTES, NULL);
        assert_ok(buffer_fill(chain.links[n], 0));
    }
    assert_ok(device_finish(device));
    return chain;
}

static void copy(const struct chain *chain, int from, int to, enum stage stage)
{
    assert_ok(buffer_copy(chain->links[from], 0, chain->links[to], 0, BYTES, stage));
}

static void fork_and_use(enum device_queue queue)
{
    assert_ok(device_fork(device));
    assert_ok(device_use(device, queue));
}

/* Every word of a link, read by the queue in use. */
static void check_words(const struct chain *chain, int link, uint32_t expected)
{
    assert_ok(buffer_read(chain->links[link], 0, BYTES, chain->words));
    for (size_t n = 0; n < WORDS; n++)
        if (chain->words[n] != expected)
            fail_msg("word %zu is %u, expected %u", n, chain->words[n], expected);
}

/* The side queue hands on what main has just written, and main what the side queue has, without the host
 * waiting in between: every round gives each link the number of the round, whatever the queues overlap. */
TEST(rounds_follow_one_another)
{
    const struct chain chain = chain_create();
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        assert_ok(buffer_fill(chain.links[0], round)); /* after the last round's join */
        fork_and_use(QUEUE_SIDE);
        copy(&chain, 0, 1, STAGE_EXCHANGE);
        assert_ok(device_use(device, QUEUE_MAIN));
        copy(&chain, 0, 2, STAGE_OTHER); /* at the same time */
        assert_ok(device_join(device));
        copy(&chain, 1, 3, STAGE_OTHER);
    }
    check_words(&chain, 3, ROUNDS);
    check_words(&chain, 2, ROUNDS);
    check_words(&chain, 1, ROUNDS);
}

/* A blocking read waits for all that its queue waits for, and device_finish() for both queues. */
TEST(who_waits_sees_both_queues)
{
    const struct chain chain = chain_create();
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        assert_ok(buffer_fill(chain.links[0], round));
        copy(&chain, 0, 1, STAGE_OTHER);
        fork_and_use(QUEUE_SIDE);
        check_words(&chain, 1, round);
        copy(&chain, 1, 2, STAGE_EXCHANGE);
        copy(&chain, 2, 3, STAGE_EXCHANGE);
        assert_ok(device_use(device, QUEUE_MAIN));
        assert_ok(device_finish(device)); /* no join */
        check_words(&chain, 3, round);
    }
    assert_ok(device_join(device));
}

/* What is sent arrives in the order of the queue, at its place and nowhere else. */
TEST(sends_go_in_the_order_of_their_queue)
{
    enum { FIRST = 100, END = WORDS - 50 };
    const struct chain chain = chain_create();
    uint32_t *sent = chain.words, *met = test_array(1, BYTES);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        const enum device_queue queue = round % 2 == 0 ? QUEUE_SIDE : QUEUE_MAIN;
        for (uint32_t n = 0; n < WORDS; n++)
            sent[n] = round * UINT32_C(2654435761) + n;
        assert_ok(buffer_fill(chain.links[0], round));
        fork_and_use(queue);
        assert_ok(buffer_send(chain.links[0], FIRST * sizeof *sent, (END - FIRST) * sizeof *sent, sent));
        copy(&chain, 0, 1, STAGE_OTHER);
        assert_ok(device_use(device, QUEUE_MAIN));
        assert_ok(device_join(device));
        copy(&chain, 1, 2, STAGE_OTHER);
        assert_ok(buffer_read(chain.links[2], 0, BYTES, met));
        assert_memory_equal(met + FIRST, sent, (END - FIRST) * sizeof *sent);
        for (size_t n = 0; n < WORDS; n == FIRST - 1 ? n = END : n++)
            assert_int_equal(met[n], round);
    }
}

/* Each launch is counted in its stage, whichever queue it went to, and also one that nobody waited for. */
TEST(timers_count_both_queues)
{
    enum { EACH = 5 };
    const struct chain chain = chain_create();
    device_reset_timers(device);
    for (int n = 0; n < EACH; n++) {
        copy(&chain, 0, 1, STAGE_PERMUTE);
        fork_and_use(QUEUE_SIDE);
        copy(&chain, 1, 2, STAGE_EXCHANGE);
        copy(&chain, 2, 3, STAGE_EXCHANGE);
        assert_ok(device_use(device, QUEUE_MAIN));
        if (n < EACH - 1)
            assert_ok(device_join(device));
    }
    const struct timers *timers = device_timers(device);
    assert_int_equal(timers->stages[STAGE_PERMUTE].launches, EACH);
    assert_int_equal(timers->stages[STAGE_EXCHANGE].launches, 2 * EACH);
    assert_int_equal(timers->stages[STAGE_EXCHANGE].bytes, 2 * timers->stages[STAGE_PERMUTE].bytes);
    assert_true(timers->stages[STAGE_PERMUTE].seconds > 0 && timers->stages[STAGE_EXCHANGE].seconds > 0);
    assert_ok(device_join(device));
}

TEST_MAIN(open_device, close_device)
