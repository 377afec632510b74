/* Deposit: charge, comparison with a sum over particles in doubles on the host, and the same bits every run.
 */
#include "field/deposit.h"
#include "field/deposit_atomic.h"
#include "support/sorted_particles.h"

#include "support/device_fixture.h"

static struct grid grid_of(uint32_t nx, uint32_t ny)
{
    return grid_make(&(struct grid_config){.cells = {nx, ny}, .length = {0.4 * nx, 0.7 * ny}});
}

static void add_weight(void *rho, uint32_t node, double weight)
{
    ((long double *)rho)[node] += (long double)weight;
}

/* Sums of weights on the nodes, in long double so that they are the better of the two; the caller frees them.
 */
static double *host_weights(const struct grid *grid, enum shape_kind shape,
                            const struct sorted_particles *sorted)
{
    const uint32_t cells = grid_cells(grid);
    long double *sums = calloc(cells, sizeof *sums);
    double *weights = calloc(cells, sizeof *weights);
    assert_true(sums && weights);
    for (uint32_t p = 0; p < sorted->particles.count; p++)
        test_for_nodes(grid, shape, sorted->cell[p], sorted->offset[p], add_weight, sums);
    for (uint32_t node = 0; node < cells; node++)
        weights[node] = (double)sums[node];
    free(sums);
    return weights;
}

/* The method sorted in all variants, then the method atomic. */
enum { WAYS = DEPOSIT_VARIANTS + 1, ATOMIC = DEPOSIT_VARIANTS };

/* One for each method. */
struct deposits {
    struct deposit *sorted, *atomic;
};

static struct deposits deposits_for(const struct grid *grid, enum precision precision, enum shape_kind shape,
                                    uint32_t count)
{
    const struct deposit_config sorted = {.shape = shape},
                                atomic = {.shape = shape, .method = DEPOSIT_METHOD_ATOMIC};
    struct deposits deposits;
    assert_ok(deposit_create(device, grid, precision, &sorted, count, &deposits.sorted));
    assert_ok(deposit_create(device, grid, precision, &atomic, count, &deposits.atomic));
    return deposits;
}

static struct deposit *choose(const struct deposits *deposits, int way)
{
    if (way != ATOMIC)
        deposit_choose(deposits->sorted, (enum deposit_variant)way);
    return way == ATOMIC ? deposits->atomic : deposits->sorted;
}

/* One species deposited alone; the caller frees the density. */
static double *deposited(const struct deposits *deposits, int way, const struct grid *grid,
                         const struct particles *particles)
{
    const enum precision precision = particles->precision;
    const uint32_t cells = grid_cells(grid);
    struct buffer *rho = NULL;
    double *result = calloc(cells, sizeof *result);
    assert_non_null(result);
    assert_ok(buffer_create(device, cells * precision_bytes(precision), "rho", &rho));
    assert_ok(buffer_fill(rho, UINT32_MAX)); /* not a number: `first` must set, not add */
    assert_ok(deposit_species(choose(deposits, way), particles, true, rho));
    assert_ok(buffer_read_reals(rho, precision, 0, cells, result));
    buffer_destroy(&rho);
    return result;
}

struct deposit_case {
    uint32_t nx, ny, count;
    double cluster; /* share of the particles in one cell */
};

/* From no particle in most cells to 1,000 in each; lists shorter and longer than a segment (2,048 to 8,192).
 */
static const struct deposit_case cases[] = {
    {2, 2, 1, 0},      {2, 2, 999, 0},    {3, 5, 1000, 0.5},    {2, 3, 777, 0},
    {3, 2, 64, 1},     {32, 32, 1500, 0}, {32, 32, 8192, 0},    {32, 32, 40961, 0.5},
    {16, 8, 16384, 1}, {33, 7, 100, 0},   {200, 2, 16001, 0.3}, {8, 5, 40000, 0},
};

enum { SMALL_CASE = 2 }; /* enough where every kernel runs a thousand times slower */

/* A block of at most 32 is added plainly before the compensated total: 32 roundings of the node's sum at
 * worst; the terms' own and the few sums after it are within 8 more. The caller adds 1 to `weights`, since a
 * weight near 0 is a difference of numbers near 1 and errs by their rounding. Atomic additions err by half a
 * unit of the integers for each weight. */
static double tolerance(const struct particles *particles, int way, double scale, double weights)
{
    const double unit = ldexp(1, -(int)deposit_atomic_fraction_bits(particles->count));
    return fabs(scale) * (40 * test_epsilon(particles->precision) * weights +
                          (way == ATOMIC) * unit / 2 * particles->count);
}

/* One way, one layout: near the host's sums, the right charge in all, the same bits again. */
static void check_way(const struct deposits *deposits, int way, const struct grid *grid,
                      const struct particles *particles, const double *expected)
{
    const uint32_t cells = grid_cells(grid), count = particles->count;
    const double charge = particles->species->charge * particles->weight; /* of one macro-particle */
    const double scale = charge / (grid->dx * grid->dy);
    double *rho = deposited(deposits, way, grid, particles);
    double *again = deposited(deposits, way, grid, particles);
    assert_memory_equal(rho, again, cells * sizeof *rho);
    long double total = 0;
    for (uint32_t node = 0; node < cells; node++) {
        assert_near(rho[node], scale * expected[node], tolerance(particles, way, scale, expected[node] + 1));
        total += (long double)rho[node];
    }
    assert_near((double)total * grid->dx * grid->dy, charge * count,
                16 * tolerance(particles, way, charge, (count + 1) / 16.0));
    free(rho);
    free(again);
}

static void check_case(const struct deposit_case *at, enum precision precision, enum shape_kind shape)
{
    const struct grid grid = grid_of(at->nx, at->ny);
    const uint32_t count = test_count(at->count);
    struct sorted_particles sorted;
    struct particles aos;
    sorted_particles_create(device, &grid, precision, count, at->cluster, 7 + count, &sorted);
    sorted_particles_list(device, &grid, LAYOUT_AOS, count, &sorted, &aos);
    const struct deposits deposits = deposits_for(&grid, precision, shape, count);
    double *expected = host_weights(&grid, shape, &sorted);
    for (int way = 0; way < WAYS; way++) {
        check_way(&deposits, way, &grid, &sorted.particles, expected);
        check_way(&deposits, way, &grid, &aos, expected);
    }
    free(expected);
    particles_destroy(&aos);
    sorted_particles_destroy(&sorted);
}

static void check_cases(enum precision precision)
{
    if (precision == PRECISION_DOUBLE && !device_info(device)->has_fp64)
        skip();
    const bool small = getenv("RADIXPIC_TEST_SMALL") != NULL;
    for (enum shape_kind shape = SHAPE_NGP; shape <= SHAPE_TSC; shape++)
        for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++)
            if (!small || (n == SMALL_CASE && (precision == PRECISION_SINGLE || shape == SHAPE_CIC)))
                check_case(&cases[n], precision, shape);
}

TEST(matches_the_host_single)
{
    check_cases(PRECISION_SINGLE);
}

TEST(matches_the_host_double)
{
    check_cases(PRECISION_DOUBLE);
}

/* So many segments that the pieces of a full cell are added before: a cell of half of all particles, among so
 * many that a GPU takes one item a node; and five cells of just over 16 pieces, most of them 17, the fewest
 * of a full cell. */
TEST(many_pieces_of_one_cell)
{
    if (getenv("RADIXPIC_TEST_SMALL"))
        skip();
    check_case(&(struct deposit_case){512, 256, 600000, 0.5}, PRECISION_SINGLE, SHAPE_CIC);
    check_case(&(struct deposit_case){2, 3, 667000, 0}, PRECISION_SINGLE, SHAPE_CIC);
}

/* A particle that is not a number shows in the nodes around it and in no others. */
TEST(not_a_number_shows)
{
    const struct grid grid = grid_of(16, 16);
    const bool small = getenv("RADIXPIC_TEST_SMALL") != NULL;
    const uint32_t count = test_count(20000), broken = count / 3;
    struct sorted_particles sorted;
    sorted_particles_create(device, &grid, PRECISION_SINGLE, count, 0.25, 11, &sorted);
    sorted.offset[broken][1] = (double)NAN;
    sorted_particles_upload(&sorted);
    struct particles aos;
    sorted_particles_list(device, &grid, LAYOUT_AOS, count, &sorted, &aos);
    const int row = (int)(sorted.cell[broken] / 16);
    for (enum shape_kind shape = SHAPE_NGP; shape <= (small ? SHAPE_NGP : SHAPE_TSC); shape++) {
        const struct deposits deposits = deposits_for(&grid, PRECISION_SINGLE, shape, count);
        for (int way = 0; way < WAYS; way++)
            for (int layout = 0; layout < 2; layout++) {
                double *rho = deposited(&deposits, way, &grid, layout ? &aos : &sorted.particles);
                int near = 0, far = 0;
                for (int node = 0; node < 256; node++) {
                    const bool is_near = (node / 16 - row + 17) % 16 < 4; /* a row below to two above */
                    *(is_near ? &near : &far) += isnan(rho[node]) != 0;
                }
                assert_true(near > 0);
                assert_int_equal(far, 0);
                free(rho);
            }
    }
    particles_destroy(&aos);
    sorted_particles_destroy(&sorted);
}

/* A deposit made for fewer particles says so and writes nothing beyond its sums. */
TEST(more_particles_than_made_for)
{
    const struct grid grid = grid_of(4, 4);
    struct sorted_particles sorted;
    struct deposit *deposit = NULL;
    struct buffer *rho = NULL;
    sorted_particles_create(device, &grid, PRECISION_SINGLE, 101, 0, 5, &sorted);
    assert_ok(deposit_create(device, &grid, PRECISION_SINGLE, &(struct deposit_config){.shape = SHAPE_CIC},
                             100, &deposit));
    assert_ok(buffer_create(device, 16 * sizeof(float), "rho", &rho));
    assert_int_equal(deposit_species(deposit, &sorted.particles, true, rho), STATUS_FAILED);
    assert_non_null(strstr(status_message(), "100 particles was given 101"));
    buffer_destroy(&rho);
    sorted_particles_destroy(&sorted);
}

/* 100,000 equal particles in one cell, single precision: rounding errors that all point one way. */
TEST(long_sums_do_not_drift)
{
    const struct grid grid = grid_of(4, 4);
    const uint32_t count = test_count(100000);
    struct sorted_particles sorted;
    sorted_particles_create(device, &grid, PRECISION_SINGLE, count, 1, 1, &sorted);
    for (uint32_t p = 0; p < count; p++) {
        sorted.offset[p][0] = (double)0.3f;
        sorted.offset[p][1] = (double)0.7f;
    }
    sorted_particles_upload(&sorted);
    for (enum shape_kind shape = SHAPE_NGP; shape <= SHAPE_TSC; shape++) {
        const struct deposits deposits = deposits_for(&grid, PRECISION_SINGLE, shape, count);
        double *expected = host_weights(&grid, shape, &sorted);
        const double scale = sorted.species.charge * sorted.particles.weight / (grid.dx * grid.dy);
        for (int way = 0; way < WAYS; way++) {
            double *rho = deposited(&deposits, way, &grid, &sorted.particles);
            /* The plain sums of 32 equal terms err by at most 32/2 roundings of half an epsilon, 1e-6. */
            for (uint32_t node = 0; node < grid_cells(&grid); node++)
                assert_near(rho[node], scale * expected[node], 1e-6 * fabs(scale) * expected[node]);
            free(rho);
        }
        free(expected);
    }
    sorted_particles_destroy(&sorted);
}

/* A particle on a node gives all to it (ngp, cic), or 3/4 (1/8 to each neighbour along an axis) with tsc. */
TEST(a_particle_on_a_node)
{
    const struct grid grid = grid_of(5, 4);
    struct sorted_particles sorted;
    sorted_particles_create(device, &grid, PRECISION_SINGLE, 1, 0, 3, &sorted);
    sorted.cell[0] = 0;               /* its shape reaches over both edges of the box */
    sorted_particles_upload(&sorted); /* at (0, 0) of the cell */
    for (enum shape_kind shape = SHAPE_NGP; shape <= SHAPE_TSC; shape++) {
        const struct deposits deposits = deposits_for(&grid, PRECISION_SINGLE, shape, 1);
        double *rho = deposited(&deposits, DEPOSIT_AUTO, &grid, &sorted.particles);
        const double whole = sorted.species.charge * sorted.particles.weight / (grid.dx * grid.dy);
        const bool wide = shape == SHAPE_TSC;
        const double share[2] = {wide ? 0.75 : 1, wide ? 0.125 : 0};
        const double tiny = 4 * 0x1p-23 * fabs(whole); /* roundings of the factor and the product */
        assert_near(rho[0], whole * share[0] * share[0], tiny);
        assert_near(rho[1], whole * share[0] * share[1], tiny);
        assert_near(rho[3], whole * share[0] * share[1], tiny);
        assert_near(rho[4 * 4 + 3], whole * share[1] * share[1], tiny);
        assert_near(rho[2], 0, 0);
        free(rho);
    }
    sorted_particles_destroy(&sorted);
}

/* The second species adds to what the first left. */
TEST(species_add_up)
{
    const struct grid grid = grid_of(8, 8);
    const uint32_t cells = grid_cells(&grid);
    struct sorted_particles electrons, ions;
    struct buffer *rho = NULL;
    double sum[64];
    sorted_particles_create(device, &grid, PRECISION_SINGLE, test_count(3000), 0, 5, &electrons);
    sorted_particles_create(device, &grid, PRECISION_SINGLE, test_count(200), 0, 6,
                            &ions); /* other fraction bits */
    ions.species.charge = 1.5;
    const struct deposits deposits =
        deposits_for(&grid, PRECISION_SINGLE, SHAPE_CIC, electrons.particles.count);
    assert_ok(buffer_create(device, cells * sizeof(float), "rho", &rho));
    for (int way = DEPOSIT_AUTO; way < WAYS; way++) {
        struct deposit *deposit = choose(&deposits, way);
        assert_ok(deposit_species(deposit, &electrons.particles, true, rho));
        assert_ok(deposit_species(deposit, &ions.particles, false, rho));
        assert_ok(buffer_read_reals(rho, PRECISION_SINGLE, 0, cells, sum));
        double *of_electrons = deposited(&deposits, way, &grid, &electrons.particles);
        double *of_ions = deposited(&deposits, way, &grid, &ions.particles);
        for (uint32_t node = 0; node < cells; node++) /* one product and one sum, fused or not */
            assert_near(sum[node], of_electrons[node] + of_ions[node],
                        0x1p-23 * (fabs(of_electrons[node]) + fabs(of_ions[node])));
        free(of_electrons);
        free(of_ions);
    }
    buffer_destroy(&rho);
    sorted_particles_destroy(&ions);
    sorted_particles_destroy(&electrons);
}

TEST_MAIN(open_device, close_device)
