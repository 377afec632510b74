/* Deposit support: particles and checks that the tests of both methods of the deposit share. */
#ifndef RADIXPIC_TEST_DEPOSIT_SUPPORT_H
#define RADIXPIC_TEST_DEPOSIT_SUPPORT_H

#include "support/sorted_particles.h"

#include "support/device_fixture.h"
#include "support/field_support.h"

struct deposit_case {
    uint32_t nx, ny, count;
    double cluster; /* share of the particles in one cell */
};

/* From no particle in most cells to 5,000 in each; lists shorter and longer than a segment (1,024 to 8,192);
 * the narrowest grids, where nodes of a particle coincide. */
static const struct deposit_case deposit_cases[] = {
    {2, 2, 1, 0},      {2, 2, 999, 0},    {3, 5, 1000, 0.5},    {2, 3, 777, 0},   {2, 3, 64, 1},
    {3, 2, 64, 1},     {32, 32, 1500, 0}, {32, 32, 8192, 0},    {3, 2, 2048, 0},  {5, 64, 4097, 0},
    {16, 8, 16384, 1}, {33, 7, 100, 0},   {200, 2, 16001, 0.3}, {8, 5, 40000, 0}, {32, 32, 40961, 0.5},
};

/* Those to try: one, with a full cell, is enough where every kernel runs a thousand times slower. */
static inline size_t deposit_first_case(void)
{
    return test_is_small() ? 2 : 0;
}

static inline size_t deposit_end_case(void)
{
    return test_is_small() ? 3 : sizeof deposit_cases / sizeof deposit_cases[0];
}

/* Whether a grid is as wide as the shape reaches, as a config's must be; of the `order` of a shape, or the
 * next one of a current. */
static inline bool deposit_case_fits(const struct deposit_case *at, int order)
{
    const uint32_t fewest = (uint32_t)SHAPE_NODES_OF(order) / 2;
    return at->nx >= fewest && at->ny >= fewest;
}

/* Until the test ends, the same particles as structure of arrays and as array of structures. */
struct deposit_scene {
    struct grid grid;
    struct sorted_particles sorted;
    struct particles aos;
};

static inline struct deposit_scene *deposit_scene_create(const struct deposit_case *at,
                                                         enum precision precision, uint64_t seed)
{
    struct deposit_scene *scene = test_array(1, sizeof *scene);
    const uint32_t count = test_count(at->count);
    scene->grid = field_grid(at->nx, at->ny, 0.4 * at->nx, 0.7 * at->ny);
    sorted_particles_create(device, &scene->grid, precision, count, at->cluster, seed, &scene->sorted);
    sorted_particles_list(device, &scene->grid, LAYOUT_AOS, count, &scene->sorted, &scene->aos);
    return scene;
}

/* To the device, what the test changed on the host. */
static inline void deposit_scene_upload(struct deposit_scene *scene)
{
    sorted_particles_upload(&scene->sorted);
    sorted_particles_write(&scene->sorted, &scene->aos);
}

/* The charge density of one weight on a node. */
static inline double deposit_scale(const struct deposit_scene *scene)
{
    const struct particles *particles = &scene->sorted.particles;
    return particles->species->charge * particles->weight / (scene->grid.dx * scene->grid.dy);
}

/* A density of not-a-numbers: the first species must set, not add. */
static inline struct buffer *deposit_unset(const struct deposit_scene *scene)
{
    struct buffer *rho =
        test_buffer(grid_cells(&scene->grid) * precision_bytes(scene->sorted.precision), NULL);
    assert_ok(buffer_fill(rho, UINT32_MAX));
    return rho;
}

/* On 16 x 16 nodes a particle in cell row `row` that is not a number shows in the rows that the widest shape
 * reaches, and nowhere else. */
static inline void deposit_check_broken(const double *rho, int row)
{
    int near = 0, far = 0;
    for (int node = 0; node < 256; node++) {
        const int order = SHAPE_COUNT - 1, above_first = node / 16 - row - SHAPE_FIRST_OF(order);
        const bool is_near = (above_first + 16) % 16 < SHAPE_NODES_OF(order);
        *(is_near ? &near : &far) += isnan(rho[node]) != 0;
    }
    assert_true(near > 0);
    assert_int_equal(far, 0);
}

#endif
