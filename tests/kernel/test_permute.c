/* Permute: every array in the order of the permutation, swapped with its spare one, the keys left alone. */
#include "sort/permute.h"
#include "support/sorted_particles.h"

#include "support/device_fixture.h"

#include <string.h>

enum order { RANDOM_ORDER, IDENTITY, REVERSED, ORDERS };

/* sigma(j); the caller frees it. The random one by Fisher and Yates. */
static uint32_t *permutation_of(enum order order, uint32_t count)
{
    uint32_t *sigma = test_array(count, sizeof *sigma);
    uint64_t seed = count;
    assert_non_null(sigma);
    for (uint32_t j = 0; j < count; j++)
        sigma[j] = order == REVERSED ? count - 1 - j : j;
    for (uint32_t j = count; order == RANDOM_ORDER && j-- > 1;) {
        const uint32_t other = (uint32_t)(test_random(&seed) * (j + 1)), held = sigma[j];
        sigma[j] = sigma[other];
        sigma[other] = held;
    }
    return sigma;
}

/* One species: its particles on the device, and what was written there, as bytes. */
struct bench {
    struct species_config species;
    struct particles particles;
    struct buffer *permutation;
    size_t pair; /* bytes of a real2 */
    uint8_t *offset, *velocity;
    uint64_t *id;
    uint32_t *key;
};

static void fill(uint8_t *bytes, size_t count, uint64_t seed)
{
    for (size_t n = 0; n < count; n++)
        bytes[n] = (uint8_t)(256 * test_random(&seed));
}

/* Any bits, numbers or not: permuting moves them and must change none. */
static void bench_create(enum precision precision, uint32_t count, bool ids, const uint32_t *sigma,
                         struct bench *b)
{
    const struct grid grid = grid_make(&(struct grid_config){.cells = {4, 4}, .length = {1, 1}});
    *b = (struct bench){
        .species = {.name = "test", .charge = -1, .mass = 1, .density = 1, .particles = count, .ids = ids},
        .pair = 2 * precision_bytes(precision),
        .id = test_array(count, sizeof *b->id),
        .key = test_array(count, sizeof *b->key)};
    b->offset = test_array(count, b->pair);
    b->velocity = test_array(count, b->pair);
    fill(b->offset, count * b->pair, 1);
    fill(b->velocity, count * b->pair, 2);
    fill((uint8_t *)b->id, count * sizeof *b->id, 3);
    fill((uint8_t *)b->key, count * sizeof *b->key, 4);
    struct particles *particles = &b->particles;
    assert_ok(particles_create(device, &grid, precision, &b->species, particles));
    assert_ok(buffer_write(particles->offset, 0, count * b->pair, b->offset));
    assert_ok(buffer_write(particles->velocity, 0, count * b->pair, b->velocity));
    assert_ok(buffer_write(particles->key, 0, count * sizeof *b->key, b->key));
    if (ids)
        assert_ok(buffer_write(particles->id, 0, count * sizeof *b->id, b->id));
    assert_ok(buffer_create(device, count * sizeof *sigma, "permutation", &b->permutation));
    assert_ok(buffer_write(b->permutation, 0, count * sizeof *sigma, sigma));
}

static void bench_destroy(struct bench *b)
{
    particles_destroy(&b->particles);
}

/* sorted[j] = original[sigma(j)], bit for bit. */
static void assert_permuted(const struct buffer *sorted, const void *original, size_t size, uint32_t count,
                            const uint32_t *sigma)
{
    uint8_t *found = test_array(count, size);
    assert_ok(buffer_read(sorted, 0, count * size, found));
    for (uint32_t j = 0; j < count; j++)
        assert_memory_equal(found + j * size, (const uint8_t *)original + sigma[j] * size, size);
}

static void check_permute(enum precision precision, uint32_t count, bool ids, enum order order)
{
    uint32_t *sigma = permutation_of(order, count), *straight = permutation_of(IDENTITY, count);
    struct bench b;
    struct permute *permute = NULL;
    bench_create(precision, count, ids, sigma, &b);
    assert_ok(permute_create(device, precision, &permute));
    assert_ok(permute_apply(permute, b.permutation, &b.particles));

    const struct particles *after = &b.particles;
    assert_permuted(after->offset, b.offset, b.pair, count, sigma);
    assert_permuted(after->velocity, b.velocity, b.pair, count, sigma);
    if (ids)
        assert_permuted(after->id, b.id, sizeof *b.id, count, sigma);
    else
        assert_null(after->id);
    assert_permuted(after->key, b.key, sizeof *b.key, count, straight);
    assert_permuted(after->offset_spare, b.offset, b.pair, count, straight); /* what was there is kept */
    assert_permuted(b.permutation, sigma, sizeof *sigma, count, straight);

    permute_destroy(&permute);
    assert_null(permute);
    bench_destroy(&b);
}

static void check_all(enum precision precision)
{
    if (precision == PRECISION_DOUBLE && !device_info(device)->has_fp64)
        skip();
    static const uint32_t counts[] = {1, 2, 63, 64, 65, 5003}; /* around a group, and a prime */
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++)
        for (enum order order = RANDOM_ORDER; order < ORDERS; order++)
            for (int ids = 0; ids < 2; ids++)
                check_permute(precision, test_count(counts[n]), ids, order);
}

TEST(permutes_single)
{
    check_all(PRECISION_SINGLE);
}

TEST(permutes_double)
{
    check_all(PRECISION_DOUBLE);
}

/* sigma after tau is the sort of a sort: sorted[j] = original[tau(sigma(j))]. */
TEST(permutes_again)
{
    enum { COUNT = 300 };
    uint32_t *sigma = permutation_of(RANDOM_ORDER, COUNT), twice[COUNT];
    struct bench b;
    struct permute *permute = NULL;
    bench_create(PRECISION_SINGLE, COUNT, true, sigma, &b);
    assert_ok(permute_create(device, PRECISION_SINGLE, &permute));
    for (int round = 0; round < 2; round++)
        assert_ok(permute_apply(permute, b.permutation, &b.particles));
    for (uint32_t j = 0; j < COUNT; j++)
        twice[j] = sigma[sigma[j]];
    assert_permuted(b.particles.offset, b.offset, b.pair, COUNT, twice);
    assert_permuted(b.particles.velocity, b.velocity, b.pair, COUNT, twice);
    assert_permuted(b.particles.id, b.id, sizeof *b.id, COUNT, twice);
    permute_destroy(&permute);
    bench_destroy(&b);
}

TEST_MAIN(open_device, close_device)
