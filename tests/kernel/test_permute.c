/* Permute: every array of a list in the order of the permutation, in the spare array, and nothing else. */
#include "particles/permute.h"
#include "support/sorted_particles.h"

#include "support/device_fixture.h"

enum order { RANDOM_ORDER, IDENTITY, REVERSED, ORDERS };

static const uint32_t counts[] = {1, 2, 63, 64, 65, 5003}; /* around a group, and a prime */
enum { COUNTS = sizeof counts / sizeof counts[0] };

/* sigma(j). The random one by Fisher and Yates. */
static uint32_t *permutation_of(enum order order, uint32_t count)
{
    uint32_t *sigma = test_array(count, sizeof *sigma);
    uint64_t seed = count;
    for (uint32_t j = 0; j < count; j++)
        sigma[j] = order == REVERSED ? count - 1 - j : j;
    for (uint32_t j = count; order == RANDOM_ORDER && j-- > 1;) {
        const uint32_t other = (uint32_t)(test_random(&seed) * (j + 1)), held = sigma[j];
        sigma[j] = sigma[other];
        sigma[other] = held;
    }
    return sigma;
}

/* Any bits, numbers or not: permuting moves them and must change none. */
static uint8_t *upload_random(struct buffer *buffer, size_t bytes, uint64_t seed)
{
    uint8_t *random = test_array(bytes, 1);
    for (size_t n = 0; n < bytes; n++)
        random[n] = (uint8_t)(256 * test_random(&seed));
    assert_ok(buffer_write(buffer, 0, bytes, random));
    return random;
}

/* sorted[j] = original[sigma(j)], or original[j] without sigma, bit for bit. */
static void assert_permuted(const struct buffer *sorted, const uint8_t *original, size_t size, uint32_t count,
                            const uint32_t *sigma)
{
    uint8_t *found = test_array(count, size);
    assert_ok(buffer_read(sorted, 0, count * size, found));
    for (uint32_t j = 0; j < count; j++)
        assert_memory_equal(found + j * size, original + (sigma ? sigma[j] : j) * size, size);
}

/* A list on the device, and what was written to its arrays and their spare ones. */
struct bench {
    struct species_config species;
    struct particles list;
    struct particle_array arrays[ATTRIBUTES];
    uint32_t number;
    uint8_t *original[ATTRIBUTES], *spare[ATTRIBUTES];
    struct permute *permute;
    struct buffer *permutation;
};

static void bench_create(enum precision precision, enum particle_layout layout, bool ids, bool w,
                         uint32_t count, const uint32_t *sigma, struct bench *b)
{
    const struct grid grid = grid_make(&(struct grid_config){.cells = {4, 4}, .length = {1, 1}});
    const struct slab slab = slab_whole_box(&grid);
    *b = (struct bench){.species = sorted_species(count, ids, w)};
    assert_ok(particles_create(device, &slab, precision, layout, &b->species, count, &b->list));
    b->list.count = count;
    b->number = particles_arrays(&b->list, b->arrays);
    for (uint32_t n = 0; n < b->number; n++) {
        b->original[n] = upload_random(*b->arrays[n].now, count * b->arrays[n].bytes, n);
        b->spare[n] = upload_random(*b->arrays[n].spare, count * b->arrays[n].bytes, 10 + n);
    }
    assert_ok(permute_create(device, &b->permute));
    b->permutation = test_buffer(count * sizeof *sigma, sigma);
}

/* All attributes, and those from ids on, which stay in the spare array while all others are left alone. */
static void check_list(enum precision precision, enum particle_layout layout, bool ids, bool w,
                       uint32_t count, const uint32_t *sigma)
{
    struct bench b;
    bench_create(precision, layout, ids, w, count, sigma, &b);
    assert_int_equal(b.number, (layout == LAYOUT_SOA ? 2 : 1) + ids + w);
    assert_ok(permute_attributes(b.permute, b.permutation, count, ATTRIBUTE_ID, &b.list));
    for (uint32_t n = 0; n < b.number; n++) {
        const struct particle_array *array = &b.arrays[n];
        const bool is_id = array->attribute == ATTRIBUTE_ID;
        assert_permuted(*array->now, b.original[n], array->bytes, count, NULL);
        assert_permuted(*array->spare, is_id ? b.original[n] : b.spare[n], array->bytes, count,
                        is_id ? sigma : NULL);
    }
    assert_ok(permute_apply(b.permute, b.permutation, count, &b.list));
    for (uint32_t n = 0; n < b.number; n++) {
        assert_permuted(*b.arrays[n].now, b.original[n], b.arrays[n].bytes, count, sigma);
        assert_permuted(*b.arrays[n].spare, b.original[n], b.arrays[n].bytes, count, NULL); /* it is kept */
    }
    assert_permuted(b.permutation, (const uint8_t *)sigma, sizeof *sigma, count, NULL);
}

TEST(permutes_every_attribute)
{
    for (uint32_t n = 0; n < COUNTS; n++)
        for (enum order order = RANDOM_ORDER; order < ORDERS; order++) {
            const uint32_t count = test_count(counts[n]);
            uint32_t *sigma = permutation_of(order, count);
            for (int kind = 0; kind < 8; kind++) {
                const enum precision precision = kind & 1 ? PRECISION_DOUBLE : PRECISION_SINGLE;
                const enum particle_layout layout = kind & 2 ? LAYOUT_AOS : LAYOUT_SOA;
                if (has_precision(precision))
                    check_list(precision, layout, kind & 4, order == RANDOM_ORDER, count, sigma);
            }
        }
}

TEST_MAIN(open_device, close_device)
