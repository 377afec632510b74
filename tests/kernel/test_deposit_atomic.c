/* Deposit atomic: the host's integers bit for bit, whatever the order of the particles and the way of adding.
 * In double precision; test_deposit_atomic_single.c runs the same in single. */
#include "field/deposit_atomic.h"
#include "shared/shape.h"
#include "support/deposit_support.h"

static const enum precision precision = REAL_IS_DOUBLE ? PRECISION_DOUBLE : PRECISION_SINGLE;

/* The shapes of this precision, every second one: those in between are of the other. */
enum { FIRST_SHAPE = REAL_IS_DOUBLE ? SHAPE_CIC : SHAPE_NGP, SHAPE_STEP = 2 };
static const enum shape_kind smooth_shape = REAL_IS_DOUBLE ? SHAPE_CUBIC : SHAPE_TSC;

/* The host's density: integers summed as the device does, real by real, as doubles. */
static double *host_density(const struct deposit_scene *scene, enum shape_kind shape)
{
    const struct sorted_particles *sorted = &scene->sorted;
    const int nx = (int)scene->grid.nx, ny = (int)scene->grid.ny, nodes = SHAPE_NODES_OF((int)shape);
    const int bits = (int)deposit_atomic_fraction_bits(sorted->particles.count);
    const real factor = (real)deposit_scale(scene), scale = (real)ldexp(1, bits),
               unit = (real)ldexp(1, -bits);
    uint64_t *sums = test_array(grid_cells(&scene->grid), sizeof *sums);
    double *rho = field_numbers(grid_cells(&scene->grid));
    for (uint32_t p = 0; p < sorted->particles.count; p++) {
        real x[SHAPE_NODES_OF(SHAPE_COUNT - 1)], y[SHAPE_NODES_OF(SHAPE_COUNT - 1)];
        shape_weights_of((int)shape, (real)sorted->offset[p][0], x);
        shape_weights_of((int)shape, (real)sorted->offset[p][1], y);
        for (int n = 0; n < nodes * nodes; n++) {
            const int i = (int)sorted->cell[p] / ny + SHAPE_FIRST_OF((int)shape) + n / nodes + nx;
            const int j = (int)sorted->cell[p] % ny + SHAPE_FIRST_OF((int)shape) + n % nodes + ny;
            const real weight = x[n / nodes] * y[n % nodes];
            sums[i % nx * ny + j % ny] += (uint64_t)rint((double)(weight * scale));
        }
    }
    for (uint32_t node = 0; node < grid_cells(&scene->grid); node++) {
        const real weights = (real)sums[node] * unit;
        rho[node] = (double)(real)(factor * weights);
    }
    return rho;
}

/* ---- the device's ---- */

/* The cells of the particles, on the device. */
static struct buffer *upload_keys(const struct sorted_particles *sorted)
{
    return test_buffer(sorted->particles.count * sizeof *sorted->cell, sorted->cell);
}

static double *deposited(struct deposit_atomic *deposit, const struct deposit_scene *scene,
                         const struct particles *particles, const struct buffer *keys)
{
    const uint32_t cells = grid_cells(&scene->grid);
    struct buffer *rho = deposit_unset(scene);
    assert_ok(deposit_atomic_species(deposit, particles, keys, rho));
    return field_read(rho, precision, cells);
}

static void check_bits(struct deposit_atomic *deposit, const struct deposit_scene *scene,
                       const struct particles *particles, const struct buffer *keys, const double *expected)
{
    assert_memory_equal(deposited(deposit, scene, particles, keys), expected,
                        grid_cells(&scene->grid) * sizeof *expected);
}

/* In one of the two ways of adding, where the device has both: of the two lowest shapes and of the highest by
 * 32 bits. */
static struct deposit_atomic *create(const struct deposit_scene *scene, enum shape_kind shape)
{
    struct deposit_atomic *deposit = NULL;
    const bool has_both = device_info(device)->has_int64_atomics;
    const enum atomic_way way =
        has_both && (shape == SHAPE_TSC || shape == SHAPE_CUBIC) ? ATOMIC_64 : ATOMIC_32_AND_CARRY;
    assert_ok(deposit_atomic_create(device, &scene->grid, precision, shape, way, &deposit));
    assert_int_equal(deposit_atomic_way(deposit), way);
    return deposit;
}

/* ---- exact ---- */

/* In both layouts, and again. */
static void check_case(const struct deposit_case *at, enum shape_kind shape)
{
    struct deposit_scene *scene = deposit_scene_create(at, precision, 7 + at->count);
    const double *expected = host_density(scene, shape);
    const struct buffer *keys = upload_keys(&scene->sorted);
    struct deposit_atomic *deposit = create(scene, shape);
    for (int time = 0; time < 4; time++)
        check_bits(deposit, scene, time % 2 ? &scene->aos : &scene->sorted.particles, keys, expected);
}

TEST(the_integers_are_the_hosts)
{
    for (int shape = FIRST_SHAPE; shape < SHAPE_COUNT; shape += SHAPE_STEP)
        for (size_t n = deposit_first_case(); n < deposit_end_case(); n++)
            if (deposit_case_fits(&deposit_cases[n], shape))
                check_case(&deposit_cases[n], (enum shape_kind)shape);
}

/* Particles may come in any order: every 7919th, round and round. */
TEST(the_order_does_not_show)
{
    struct deposit_scene *scene =
        deposit_scene_create(&(struct deposit_case){7, 9, 20000, 0.2}, precision, 17);
    struct sorted_particles *sorted = &scene->sorted, ordered = *sorted;
    const double *expected = host_density(scene, smooth_shape);
    const uint32_t count = sorted->particles.count;
    sorted_particles_allocate(count, sorted);
    for (uint32_t p = 0; p < count; p++) {
        const uint32_t from = (uint32_t)((uint64_t)p * 7919 % count);
        sorted->cell[p] = ordered.cell[from];
        memcpy(sorted->offset[p], ordered.offset[from], sizeof *sorted->offset);
    }
    sorted_particles_upload(sorted);
    const struct buffer *keys = upload_keys(sorted);
    check_bits(create(scene, smooth_shape), scene, &sorted->particles, keys, expected);
}

/* As many whole particles on one node as fit below a power of two: the sum reaches up to its last bit. */
TEST(a_sum_may_fill_its_bits)
{
    const uint32_t count = 255;
    struct deposit_scene *scene = deposit_scene_create(&(struct deposit_case){4, 4, count, 1}, precision, 1);
    memset(scene->sorted.offset, 0, count * sizeof *scene->sorted.offset);
    deposit_scene_upload(scene);
    const double all = count * deposit_scale(scene);
    const struct buffer *keys = upload_keys(&scene->sorted);
    const double *rho =
        deposited(create(scene, (enum shape_kind)FIRST_SHAPE), scene, &scene->sorted.particles, keys);
    for (uint32_t node = 0; node < 16; node++)
        assert_near(rho[node], node == 14 ? all : 0,
                    node == 14 ? 2 * test_epsilon(precision) * fabs(all) : 0);
}

TEST(as_many_fraction_bits_as_fit)
{
    const uint32_t counts[] = {1, 2, 3, 4, 1000000, 1u << 31, CONFIG_MAX_PARTICLES, UINT32_MAX};
    const uint32_t bits[] = {62, 61, 61, 60, 43, 31, 31, 31};
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        const uint32_t fraction = deposit_atomic_fraction_bits(counts[n]);
        assert_int_equal(fraction, bits[n]);
        const uint64_t most = ((UINT64_C(1) << 63) - 1) >> fraction; /* weights of 1 that fit */
        assert_true(counts[n] <= most && 2 * (uint64_t)counts[n] > most);
    }
}

/* ---- what is not a number, and memory ---- */

/* Particles of one cell, first .. end, that are not numbers show in the nodes around it and in no others; and
 * not in the next deposit. */
static void check_not_a_number(struct deposit_scene *scene, uint32_t first, uint32_t end, double broken,
                               enum shape_kind shape)
{
    const struct particles *particles = &scene->sorted.particles;
    const struct buffer *keys = upload_keys(&scene->sorted);
    struct deposit_atomic *deposit = create(scene, shape);
    for (uint32_t p = first; p < end; p++) {
        const double not_whole[2] = {scene->sorted.offset[p][0], broken};
        assert_ok(buffer_write_reals(particles->attribute[ATTRIBUTE_OFFSET], precision, 2 * (size_t)p, 2,
                                     not_whole));
    }
    deposit_check_broken(deposited(deposit, scene, particles, keys), (int)(scene->sorted.cell[first] / 16));
    deposit_scene_upload(scene);
    check_bits(deposit, scene, particles, keys, host_density(scene, shape));
}

/* One, that marks the sums of others; and the cell of the cluster, whose sums are marked over and over. */
TEST(not_a_number_shows)
{
    needs_speed();
    struct deposit_scene *scene =
        deposit_scene_create(&(struct deposit_case){16, 16, 5000, 0.25}, precision, 11);
    const uint32_t *cell = scene->sorted.cell, one = scene->sorted.particles.count / 3, fullest = 16 * 16 - 2;
    uint32_t first = 0, end;
    while (cell[first] < fullest)
        first++;
    for (end = first; end < scene->sorted.particles.count && cell[end] == fullest;)
        end++;
    for (int n = FIRST_SHAPE; n < SHAPE_COUNT; n += SHAPE_STEP) {
        const enum shape_kind shape = (enum shape_kind)n;
        check_not_a_number(scene, one, one + 1, (double)NAN, shape);
        check_not_a_number(scene, one, one + 1, (double)INFINITY, shape);
        check_not_a_number(scene, first, end, (double)NAN, shape);
    }
}

/* A word of 64 bits a node, and no more. */
TEST(takes_a_word_a_node)
{
    const struct grid grid = field_grid(31, 6, 1, 1);
    struct deposit_atomic *deposit = NULL;
    const size_t before = device_bytes_held(device);
    assert_ok(deposit_atomic_create(device, &grid, precision, smooth_shape, ATOMIC_AUTO, &deposit));
    assert_int_equal(device_bytes_held(device) - before, 31 * 6 * sizeof(uint64_t));
}

static int open_device_of_precision(void **state)
{
    if (open_device(state) != 0)
        return -1;
    if (precision == PRECISION_SINGLE || device_info(device)->has_fp64)
        return 0;
    fprintf(stderr, "%s has no double precision\n", device_info(device)->name);
    close_device(state);
    exit(0);
}

TEST_MAIN(open_device_of_precision, close_device)
